#!/usr/bin/env bash
# The harness's own cost: CPU time per operation of the engine that does nothing (depth 1, so that
# nothing is shared), and the time of one whole run with one operation, probe included.
# Usage: bench/floor.sh BUILD [RUNS]
set -euo pipefail
iostudy=$(cd "${1:-build}" && pwd)/iostudy
runs=${2:-10}
dir=$(mktemp -d ./bench-XXXXXX); trap 'rm -rf "$dir"' EXIT

median() { sort -g | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }
null_ns() {
	"$iostudy" run --engine null --workload timer-delay --wait park --depth "$1" \
		--batch "$2" --runtime 500ms --warmup 100ms --probe none --json |
		jq '.summary.cpu_ns_per_operation'
}
one_ms() {
	local begin end
	begin=$(date +%s%N)
	"$iostudy" run --engine uring --workload disk-randread --wait park --operations 1 \
		--directory "$dir" --keep --json >/dev/null
	end=$(date +%s%N)
	echo $(((end - begin) / 1000000))
}
one_ms >/dev/null # makes the file
one=$(for ((i = 0; i < runs; i++)); do null_ns 1 1; done | median)
eight=$(for ((i = 0; i < runs; i++)); do null_ns 32 8; done | median)
whole=$(for ((i = 0; i < runs; i++)); do one_ms; done | median)
status=0
check() { # NAME VALUE LIMIT UNIT
	awk -v n="$1" -v v="$2" -v l="$3" -v u="$4" 'BEGIN {
		printf "%-44s %.0f %s: at most %d %s: ", n, v, u, l, u
		print v <= l ? "kept" : "BROKEN"
		exit v > l
	}'
}
check "harness per no-op, depth 1" "$one" 100 ns || status=1
check "harness per no-op, depth 32, batches of 8" "$eight" 100 ns || status=1
check "a run of one operation, probe included" "$whole" 200 ms || status=1
exit $status
