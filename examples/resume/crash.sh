#!/bin/sh
# Kills a run in the middle and resumes it. WAVEFOLD names the command, by default wavefold.
cd "$(dirname "$0")" || exit 1
wavefold=${WAVEFOLD:-wavefold}
run=crash-$$
mkdir -p out
: > out/calls.txt

"$wavefold" run -q --run-id "$run" invoices.yaml &
pid=$!
while [ "$(wc -l < out/calls.txt)" -lt 10 ]; do sleep 0.05; done
kill -9 "$pid"
wait "$pid" 2>/dev/null
echo "killed after $(wc -l < out/calls.txt) calls"
"$wavefold" runs --limit 1

"$wavefold" resume -q "$run" || exit
echo
echo "calls: $(wc -l < out/calls.txt), invoices: $(sort -u out/calls.txt | wc -l)"
echo "called twice, with the same key:"
sort out/calls.txt | uniq -d
