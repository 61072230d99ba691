#!/usr/bin/env bash
# Whether `iostudy diff` finds 5 % more work in each operation of the engine `null` (a second
# program, linked with the work in it), in pairs of runs that take turns; and reports nothing
# between two halves of one study in 19 of 20 splits. Minutes.
# Usage: bench/diff.sh BUILD [PAIRS]
set -euo pipefail
build=$(cd "${1:-build}" && pwd) pairs=${2:-24}
heavier=$build/tests/heavier/iostudy
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT

null_run() { # PROGRAM [OPTION...]
	"$1" run --engine null --workload timer-delay --wait park --runtime 300ms --warmup 100ms \
		--probe none --json "${@:2}"
}
null_ns() { for _ in 1 2 3 4 5; do null_run "$1"; done |
	jq -s 'map(.summary.cpu_ns_per_operation) | sort | .[2]'; }
heavier_make() {
	make --no-print-directory -s BUILD="${build#"$PWD"/}" HEAVIER_CYCLES="$1" heavier
}

plain=$(null_ns "$build/iostudy")
heavier_make 100
cycle=$(awk -v a="$plain" -v b="$(null_ns "$heavier")" 'BEGIN { print (b - a) / 100 }')
cycles=$(awk -v a="$plain" -v c="$cycle" 'BEGIN { printf "%d", a * 0.05 / c + 0.5 }')
heavier_make "$cycles"
awk -v a="$plain" -v n="$cycles" -v c="$cycle" 'BEGIN {
	printf "%.1f ns for an operation; %d cycles of %.3f ns added: %.1f %%\n",
		a, n, c, n * c / a * 100 }'
for ((i = 0; i < pairs; i++)); do
	if ((i % 2)); then order="a b"; else order="b a"; fi
	for side in $order; do
		program=$build/iostudy; [[ $side = a ]] || program=$heavier
		null_run "$program" -o "$dir/$side" >/dev/null
	done
done
status=0
"$build/iostudy" diff "$dir/a" "$dir/b" --paired --metric cpu_ns_per_operation
"$build/iostudy" diff "$dir/a" "$dir/b" --paired --metric cpu_ns_per_operation --json |
	jq -e '.comparisons[0].answer == "more"' >/dev/null || { echo "NOT FOUND"; status=1; }

cat >"$dir/halves.study" <<'STUDY'
[global]
repeat = 16
runtime = 200ms
warmup = 50ms
size = 16m
[timers]
workload = timer-delay
engine = uring, epoll
delay = 5ms
[disk]
workload = disk-randread
engine = blocking, libaio, uring
STUDY
"$build/iostudy" study "$dir/halves.study" -o "$dir/halves" --directory "$dir" 2>/dev/null
reported=0
for ((split = 1; split <= 20; split++)); do
	half=$(seq 16 | shuf -n 8 --random-source=<(yes "$split") | paste -sd ,)
	jq -c "select([.plan.repeat] | inside([$half]))" "$dir/halves/runs.jsonl" >"$dir/1.jsonl"
	jq -c "select([.plan.repeat] | inside([$half]) | not)" \
		"$dir/halves/runs.jsonl" >"$dir/2.jsonl"
	"$build/iostudy" diff "$dir/1.jsonl" "$dir/2.jsonl" --json |
		jq -e '.different == 0' >/dev/null || reported=$((reported + 1))
done
echo "$reported of 20 splits reported a difference"
[[ $reported -le 1 ]] || status=1
exit $status
