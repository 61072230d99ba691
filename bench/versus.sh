#!/usr/bin/env bash
# Compares two commands that do the same work, as ratios in one run: they take turns, each pair
# gives a ratio, and the interval of the median ratio comes from the order of the ratios (with n
# pairs, the k-th smallest and largest, so that it holds the median in at least 95 % of cases).
# Sourced by the scripts beside it.

# interval RATIO...: prints "median low high n"
interval() {
	printf '%s\n' "$@" | sort -g | awk '
		{ x[NR] = $1 }
		END {
			n = NR; p = 1; below = 0; k = 0; term = exp(-n * log(2))
			# k: how many ratios may lie outside on one side (the binomial distribution)
			for (i = 0; i < n / 2; i++) {
				below += term
				if (2 * below > 0.05) break
				k = i + 1
				term *= (n - i) / (i + 1)
			}
			if (k == 0) k = 1
			m = n % 2 ? x[(n + 1) / 2] : (x[n / 2] + x[n / 2 + 1]) / 2
			printf "%.3f %.3f %.3f %d\n", m, x[k], x[n + 1 - k], n
		}'
}

# pairs N A B: runs the functions A and B in turns; each prints one number. Prints the ratios A/B.
pairs() {
	local n=$1 a=$2 b=$3 i x y
	for ((i = 0; i < n; i++)); do
		if ((i % 2)); then y=$($b); x=$($a); else x=$($a); y=$($b); fi
		awk -v x="$x" -v y="$y" \
			'BEGIN { if (x > 0 && y > 0) printf "%.6f\n", x / y; else exit 1 }' ||
			{ echo "no figure: '$x' against '$y'" >&2; return 1; }
	done
}

# equal NAME RATIO...: whether the interval contains 1 and is no wider than 10 % to either side
equal() {
	local name=$1; shift
	read -r median low high n < <(interval "$@")
	awk -v name="$name" -v m="$median" -v l="$low" -v h="$high" -v n="$n" 'BEGIN {
		printf "%-44s %.3f  (%.3f ... %.3f, %d pairs): ", name, m, l, h, n
		if (h - l > 0.2) {
			print "not enough evidence: the interval is wider than +-10 %"
			exit 3
		}
		if (l > 1 || h < 1) { print "they differ"; exit 1 }
		print "equal within 10 %"
	}'
}

# bound NAME at-least|at-most LIMIT RATIO...: whether the median keeps the bound
bound() {
	local name=$1 how=$2 limit=$3; shift 3
	read -r median low high n < <(interval "$@")
	awk -v name="$name" -v how="$how" -v limit="$limit" \
		-v m="$median" -v l="$low" -v h="$high" -v n="$n" 'BEGIN {
		printf "%-44s %.3f  (%.3f ... %.3f, %d pairs): ", name, m, l, h, n
		printf "%s %s: ", how, limit
		if (how == "at-least" ? m >= limit : m <= limit) { print "kept"; exit 0 }
		if (how == "at-least" ? h >= limit : l <= limit) {
			print "not enough evidence"
			exit 3
		}
		print "BROKEN"; exit 1
	}'
}
