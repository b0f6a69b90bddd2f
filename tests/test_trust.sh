#!/usr/bin/env bash
# test_trust.sh: what trust.sh does with campaigns that pass, fail, are not run, and go on when it is stopped; and that each
# program of its own campaigns has a source.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d "${TMPDIR:-/tmp}/test_trust.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# A tree of its own, because logs go to its build/trust.
mkdir "$folder/tests"
cp tests/trust.sh "$folder/tests"
export CAMPAIGNS_FILE=$folder/campaigns JOBS=3 TMPDIR=$folder
wrong() { echo "$*" && cat "$folder/said" && exit 1; }
line() { grep -q -- "$1" "$folder/said" || wrong "there is no line '$1' in"; }

cat >"$CAMPAIGNS_FILE" <<'END'
repeated | rounds   | cases        | sleep 0.3; echo "1000 cases of @SEED"
timed    | seconds  | (cases|more) | echo "3 cases, 4 more; @SECONDS s"
part     | whole 30 | cases        | echo "5 cases, each @EACH"
absent   | rounds   | cases        | echo '[  NOT RUN ] there is none'
fails    | rounds   | cases        | test @SEED != 2000
END

# Two seconds of three cores: 1 s for each of six.
"$folder/tests/trust.sh" 0.0005 'repeated|timed|part|absent' 1000 >"$folder/said" 2>&1 || wrong "exit code $?"
line '^repeated *passed  *[1-5]  *[1-5],000  *0 .* sleep 0.3; echo "1000 cases of 1000"$'
line '^timed *passed  *1  *7  *0 .* echo "3 cases, 4 more; 1 s"$'
line '^part *passed  *1  *5  *0 .* echo "5 cases, each 30"$'
line '^absent *not run '

code=0
"$folder/tests/trust.sh" 0.0005 'fails|timed' 1000 >"$folder/said" 2>&1 || code=$?
[ $code = 1 ] || wrong "exit code $code of a campaign that fails"
line '^timed *passed '
line '^fails *FAILED  *[0-9]*  *0  *1 .* test 2000 != 2000$'

# All that runs ends, and what was done is told.
echo 'endless | seconds | cases | echo "8 cases" >&2; sleep 100 & sleep 100' >>"$CAMPAIGNS_FILE"
"$folder/tests/trust.sh" 1 'endless' >"$folder/said" 2>&1 &
trust=$!
for _ in {1..100}; do grep -q 8 "$folder/build/trust/endless.log" 2>/dev/null && break || sleep 0.1; done
kill -TERM $trust
code=0
wait $trust || code=$?
[ $code = 130 ] || wrong "exit code $code when it is stopped"
line '^endless *stopped  *0  *8  *0 '
! pgrep -f "$folder" || wrong "these processes are left"
[ -z "$(find "$folder" -name 'trust.*' -type d)" ] || wrong "its folder is left"

code=0
"$folder/tests/trust.sh" 1 'no such' >"$folder/said" 2>&1 || code=$?
[ $code = 2 ] || wrong "exit code $code for no campaign"
line 'there are: repeated timed '

unset CAMPAIGNS_FILE
for preset in $(tests/trust.sh --presets); do
    for target in $(tests/trust.sh --targets "$preset"); do
        [ "$target" = tessera_program ] || [ -n "$(find tests -name "$target.c")" ] || wrong "no source of $target"
    done
done
