#!/usr/bin/env bash
# What watching costs two threads that only switch: without, with our probe, with bpftrace.
# Usage: bench/pingpong.sh [BUILD [PAIRS]]   (root)
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${2:-15} rounds=100000
program=${1:-build}/tests/programs/pingpong

echo "our probe:   $("$program" "$pairs" "$rounds")"
command -v bpftrace >/dev/null || { echo "bpftrace is not installed"; exit 0; }

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

ratios=$(for ((i = 0; i < pairs; i++)); do
	alone=$("$program" once "$rounds")
	# The script names its process first, so the program waits for it.
	"$program" waiting "$rounds" >"/tmp/pingpong.$$" &
	target=$!
	bpftrace probes/parked.bt "$target" >"/tmp/parked.$$" 2>/dev/null &
	script=$!
	until grep -q watching "/tmp/parked.$$" 2>/dev/null; do sleep 0.1; done
	kill -USR1 "$target"
	wait "$target"
	kill -INT "$script"
	wait "$script" || true
	awk -v with="$(cat "/tmp/pingpong.$$")" -v alone="$alone" 'BEGIN { print with / alone }'
done)
rm -f "/tmp/pingpong.$$" "/tmp/parked.$$"
echo "parked.bt:   ratio $(median <<<"$ratios") ($pairs pairs)"
