#!/usr/bin/env bash
# Runs a study and writes analysis/FINDINGS.md from it, with its runs beside it.
# findings.sh BUILD [STUDY]: a name of `iostudy list studies`, or a file. Goes on where it ended.
# The README's picture is drawn from it too, where a browser is there (FINDINGS_PICTURE: whereto).
set -euo pipefail
build=$1 study=${2:-there-is-no-thread}
name=$(basename "$study" .study)
results=$build/findings/$name
page=${FINDINGS:-analysis/FINDINGS.md}
runs=${page%.md}.jsonl.gz

# Facts about zram are tested on one made for it: as root, where the kernel has it.
zram=
zram_remove() { [[ -z $zram ]] || echo "$zram" >/sys/class/zram-control/hot_remove; }
trap zram_remove EXIT
zram_runs() {
	[[ ! -s $results-zram/runs.jsonl ]] || return 0
	[[ $(id -u) = 0 && -r /sys/class/zram-control/hot_add ]] || return 0
	zram=$(cat /sys/class/zram-control/hot_add)
	echo 256M >"/sys/block/zram$zram/disksize"
	"$build/iostudy" run --engine blocking,uring --depth 1 --filename "/dev/zram$zram" \
		--overwrite --size 128m --runtime 1s --warmup 250ms --repeat 5 \
		-o "$results-zram" >/dev/null
}

status=0
"$build/iostudy" study "$study" -o "$results" --directory "$build" || status=$?
# A cell that failed stands in the page with its reason; anything else ends here.
[[ $status -le 1 ]] || exit "$status"
zram_runs || echo "zram could not be used; its facts are left out" >&2
places=("$results")
[[ ! -s $results-zram/runs.jsonl ]] || places+=("$results-zram")
{
	echo "# Findings"
	echo
	echo "Made by \`make findings STUDY=$name\`; nothing in it is written by hand. The runs are"
	echo "in [$(basename "$runs")]($(basename "$runs")), a run on each line:"
	echo "\`zcat $runs | build/iostudy show -\` prints them."
	echo
	"$build/iostudy" report "${places[@]}" --format md -o - | sed 's/^#/##/'
} >"$page.tmp"
mv "$page.tmp" "$page"
# Summary and findings are drawn anew by whoever reads them.
jq -c 'del(.summary, .findings)' "${places[@]/%//runs.jsonl}" | gzip -9n >"$runs.tmp"
mv "$runs.tmp" "$runs"
echo "wrote $page and $runs ($(du -k "$runs" | cut -f1) KiB)"
html=$results/report.html
if command -v node chromium-headless-shell >/dev/null && [[ -s ${PAGE:-build/report.html} ]]; then
	"$build/iostudy" report "$results" -o "$html" >/dev/null
	node docs/picture.mjs "$html" "${FINDINGS_PICTURE:-docs/parked.svg}" chromium-headless-shell
fi
