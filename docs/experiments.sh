#!/usr/bin/env bash
# Carries out every scenario at the parameters at which it was published, and what else is to be
# shown, and prints docs/experiments.md; the pictures go into docs/experiments/. Takes some 20
# minutes, on a quiet machine.
# experiments.sh BUILD [OPTION...]: options of every scenario (--time-scale 0.01).
set -euo pipefail
build=$1; shift
results=$build/experiments
iostudy=$build/iostudy

carry_out() { # NAME [OPTION...]
	echo "iostudy scenario $*" >&2
	local status=0
	"$iostudy" scenario "$@" "${common[@]}" -o "$results" >/dev/null || status=$?
	[[ $status -eq 0 || $status -eq 77 ]] || echo "iostudy scenario $*: status $status" >&2
}

common=("$@")
rm -rf "$results"
for name in $("$iostudy" list scenarios --json | jq -r '.scenarios[].name'); do
	carry_out "$name"
done
# The other forms of a call; time against calls; and a hundred thousand at once, where a thread for
# each is refused.
carry_out blocking-calls --form timer \
	--compare-only pool-8,pool-16,thread-per-call,published-async,ring,epoll
carry_out blocking-calls --delay 100ms --calls 1,2,5,10,20,50,100,200
carry_out blocking-calls --form shared,timer --calls 100000 --delay 1s --compare-only ring,epoll
carry_out blocking-calls --form shared,timer --calls 100000 --delay 5s --compare-only ring,epoll
carry_out blocking-calls --form timer --calls 100000 --delay 30s --compare-only thread-per-call
! "$iostudy" list scenarios --json | grep -q '"event-loop"' ||
	carry_out event-loop --timeout 10s

cat <<HEAD
# The classic experiments

\`make experiments\` writes this page: every scenario at the parameters at which it was published,
with the published numbers beside those measured here ($(uname -sr), $(nproc) CPUs). The words are
those of the [README](../README.md); how a figure is obtained stands in [method.md](method.md).

## Pictures

HEAD
node docs/experiments.mjs "$results/scenarios.jsonl" docs/experiments experiments
"$iostudy" report "$results" -o - 2>/dev/null | sed '1,2d'
