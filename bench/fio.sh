#!/usr/bin/env bash
# iostudy against Debian's fio on the same file with the same settings, in turns. Direct reads by
# uring-defer: fio's io_uring sets its ring up with SINGLE_ISSUER and DEFER_TASKRUN too, which
# alone is worth some per cent. From the cache the plain ring is fast enough for the bound.
# Usage: bench/fio.sh BUILD [PAIRS] [SECONDS]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/versus.sh"
iostudy=$(cd "${1:-build}" && pwd)/iostudy
pairs=${2:-10} seconds=${3:-2}
dir=$(mktemp -d ./bench-XXXXXX); trap 'rm -rf "$dir"' EXIT
file=$dir/iostudy.data

# Not filled by iostudy, so that it checks the blocks as little as fio does: looking at the two
# ends of each block, which the device has just written, cost it 2 % of the requests.
head -c 256M /dev/urandom >"$file"
sync "$file"

# FIGURE EXTRA...: one number of one run
ours() {
	local figure=$1; shift
	"$iostudy" run --workload disk-randread --wait park --depth 32 --bs 4k \
		--filename "$file" --runtime "$seconds" --warmup 300ms --probe none --json "$@" |
		jq ".summary.$figure"
}
theirs() {
	local figure=$1; shift
	fio --name=peer --filename="$file" --rw=randread --norandommap --bs=4k --time_based \
		--runtime="$seconds" --ramp_time=300ms --lat_percentiles=1 --clat_percentiles=0 \
		--percentile_list=50 --output-format=json "$@" | jq ".jobs[0].read.$figure"
}
ring=(--ioengine=io_uring --iodepth=32 --iodepth_batch_submit=8 --iodepth_batch_complete_min=1
	--iodepth_batch_complete_max=8 --fixedbufs=1 --registerfiles=1)

disk_ours() { ours iops --engine uring-defer --direct 1; }
disk_theirs() { theirs iops "${ring[@]}" --direct=1; }
latency_ours() { ours latency_p50_ns --engine uring-defer --direct 1; }
latency_theirs() { theirs 'lat_ns.percentile["50.000000"]' "${ring[@]}" --direct=1; }
cached_ours() { ours iops --engine uring --direct 0 --cache hot; }
cached_theirs() { theirs iops "${ring[@]}" --direct=0 --invalidate=0; }
psync_ours() { ours iops --engine blocking --depth 1 --direct 0 --cache hot; }
psync_theirs() { theirs iops --ioengine=psync --direct=0 --invalidate=0; }

status=0
echo "iostudy / fio, in turns, $seconds s each:"
equal "uring-defer direct, depth 32: IOPS" \
	$(pairs "$pairs" disk_ours disk_theirs) || status=$?
equal "uring-defer direct, depth 32: median latency" \
	$(pairs "$pairs" latency_ours latency_theirs) || status=$?
bound "uring cached, depth 32, batches of 8: IOPS" at-least 1.1 \
	$(pairs "$pairs" cached_ours cached_theirs) || status=$?
bound "blocking cached, one thread: IOPS" at-least 1.15 \
	$(pairs "$pairs" psync_ours psync_theirs) || status=$?
exit $status
