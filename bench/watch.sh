#!/usr/bin/env bash
# What watching costs, and whether a watch counts the switches that perf's records hold.
# Usage: bench/watch.sh [BUILD [SECONDS]]   (root)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build} seconds=${2:-10}
iostudy=$build/iostudy programs=$build/tests/programs
work=$(mktemp -d)
target=
trap '[ -z "$target" ] || kill "$target" 2>/dev/null || true; rm -rf "$work"' EXIT

# Starts a program of tests/programs; it obeys what is written to descriptor 7.
begin() {
	mkfifo "$work/input" && exec 7<>"$work/input"
	"$programs/$1" "${@:2}" <"$work/input" >"$work/output" 7<&- &
	target=$!
	until grep -q ready "$work/output"; do sleep 0.05; done
	sleep 0.3
}

end() {
	kill "$target"
	wait "$target" 2>/dev/null || true
	target=
	exec 7<&-
	rm -f "$work/input" "$work/output"
}

figures() {
	jq -r '"  \(.cost.events) events in \(.window_ns / 1e9 * 100 | round / 100) s, " +
		"\(.cost.ns_per_event // 0 | round) ns each; " +
		"\(.cost.cpu_percent * 1000 | round / 1000) % of a CPU in the probe, " +
		"\(.cost.own_cpu_percent * 1000 | round / 1000) % in iostudy; " +
		"\(.cost.memory_bytes / 1048576 * 10 | round / 10) MiB in the kernel, " +
		"\(.cost.own_memory_bytes / 1048576 | round) MiB of its own; " +
		"\(.lost.events) lost"' "$1"
}

switches='[.probes[0].kinds[] | .voluntary_switches + .involuntary_switches] | add'

kernel_switches() {
	awk '/ctxt_switches/ { sum += $2 } END { print sum }' /proc/"$target"/task/*/status
}

echo "1,000 threads that sleep ($seconds s):"
begin parkers hold futex=1000
"$iostudy" watch --batch --json="$work/idle" -p "$target" -d "$seconds"
figures "$work/idle"
end

echo "8 threads that switch as fast as they can, each 100,000 times to and fro:"
begin volley 4 100000
before=$(kernel_switches)
env --default-signal=INT "$iostudy" watch --batch --json="$work/storm" -p "$target" &
watch=$!
perf=
if command -v perf >/dev/null; then
	env --default-signal=INT perf record -q -e dummy:u --switch-events -m 16M \
		-o "$work/perf" -p "$target" 2>"$work/perf.log" &
	perf=$!
fi
sleep 3 # until both count
started=$(date +%s%N)
echo >&7
until grep -q done "$work/output"; do sleep 0.05; done
took=$(($(date +%s%N) - started))
sleep 0.3
after=$(kernel_switches)
kill -INT "$watch"
wait "$watch"
figures "$work/storm"
switched=$((after - before))
echo "  switches by the kernel's books: $switched, $((switched * 1000 / (took / 1000000))) a second"
echo "  by the watch: $(jq "$switches" "$work/storm")"
if [ -n "$perf" ]; then
	kill -INT "$perf"
	wait "$perf" || true
	perf script -i "$work/perf" --show-switch-events --show-lost-events \
		2>/dev/null >"$work/records"
	gaps=$(grep -c PERF_RECORD_LOST "$work/records" || true)
	echo "  by perf's records: $(grep -c 'SWITCH.*OUT' "$work/records"), and $gaps gaps"
else
	echo "  perf is not installed: apt-get install linux-perf"
fi
end
