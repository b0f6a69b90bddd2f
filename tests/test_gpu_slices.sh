#!/usr/bin/env bash
# test_gpu_slices.sh PROGRAM: the jobs that tests/gpu.sh starts, without a GPU: it runs whole, but with a program that does
# nothing but name codecs and experiments. All slices together are what runs without --slice, each job once, and the same
# ones each time; no database is asked to be encoded in a codec that it cannot hold, and jobs ask for no other encodings
# than those that were made before they start.
set -euo pipefail
program=$(realpath "$1")
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export REAL=$program CALLS=$work/calls
mkdir -p "$work/tree/tests/support" "$work/tree/tests/benches" "$work/tree/build/gpu" "$work/bin"
cp "$source/tests/gpu.sh" "$work/tree/tests"
cp "$source/tests/benches/questions.sql" "$work/tree/tests/benches"
cp "$source/tests/support/devices.sql" "$work/tree/tests/support"

cat >"$work/tree/build/gpu/tessera" <<'END'
#!/bin/sh
case "$1 $2" in
"codecs --format") "$REAL" "$@" | grep '^codec,\|^plain,\|^gpu-for,\|^pfor-diff,\|^deflate,\|^lane-levels,' && exit ;; # some of them
"lab --list") exec "$REAL" "$@" ;;
"inspect --db") echo "  lo_custkey  int32  lane-levels (auto)  5.07" && echo "  lo_tax  int32  lane-slice (auto)  4.1" ;;
esac
echo "$*" >>"$CALLS"
END
for name in test_cuda_one test_cuda_two test_cuda_decode test_cuda_index test_nvrtc test_sql test_sql_doubles test_sql_regressions \
    test_sql_wide test_sql_ssb test_sql_shell test_prompt test_sql_files test_library test_sql_fuzz test_windows_fuzz \
    test_engine_devices test_partial_fuzz; do
    printf '#!/bin/sh\n' >"$work/tree/build/gpu/$name"
done
printf '#!/bin/sh\n' >"$work/bin/cmake"
# compute-sanitizer runs what follows its options.
# shellcheck disable=SC2016 # the script's own variables
printf '#!/bin/sh\nwhile [ $# -gt 0 ] && [ "$1" != build/gpu/tessera ]; do shift; done\n[ $# -eq 0 ] || exec "$@"\n' \
    >"$work/bin/compute-sanitizer"
chmod +x "$work"/bin/* "$work"/tree/build/gpu/test_* "$work/tree/build/gpu/tessera"
export PATH=$work/bin:$PATH

fail() { echo "test_gpu_slices.sh: $*" >&2 && exit 1; }

# jobs FILE OPTION...: the sorted names of the jobs of a run, which must pass, without those that prepare.
jobs_of() {
    local file=$1
    shift
    : >"$CALLS"
    "$work/tree/tests/gpu.sh" --logs "$work/logs" "$@" >"$work/output" 2>&1 ||
        fail "$*: $(grep -A 5 '^---- ' "$work/output"; tail -5 "$work/output")"
    grep -v '^prepare\.\|^kernels\.' "$work/logs/results" | awk '{ print $1 }' | sort >"$file"
}

jobs_of "$work/all" codecs sql lab sanitize
[ "$(wc -l <"$work/all")" -gt 80 ] || fail "only $(wc -l <"$work/all") jobs"
[ "$(sort -u "$work/all" | wc -l)" -eq "$(wc -l <"$work/all")" ] || fail "a job runs twice"

# What is prepared: never lane-levels for a whole table, and every other codec that jobs read from the same database.
if grep '^ssb compare' "$CALLS" | grep -q 'lane-levels'; then fail "lane-levels is encoded for columns that are no keys"; fi
grep -q -- '--codec lo_custkey=lane-levels --' "$CALLS" || fail "no job reads keys in lane-levels"
while read -r database codec; do
    grep "^ssb compare --db $database " "$CALLS" | sed 's/.*--codecs //' | tr ',' '\n' | grep -qx -- "$codec" ||
        fail "$database is asked in $codec, which was not prepared"
done < <(sed -n 's/^ssb run --db \([^ ]*\) .*--codec \([^ =]*\) --.*/\1 \2/p' "$CALLS" | sort -u)

: >"$work/sliced"
for slice in 1/2 2/2; do
    jobs_of "$work/slice" --slice $slice codecs sql lab sanitize
    grep -q "of slice ${slice%/*} of 2 passed" "$work/output" || fail "$slice: the table does not say which slice it is"
    cat "$work/slice" >>"$work/sliced"
done
sort "$work/sliced" | diff "$work/all" - >&2 || fail "two slices are not the whole"
jobs_of "$work/again" --slice 2/2 codecs sql lab sanitize
diff "$work/slice" "$work/again" >&2 || fail "a slice is not the same a second time"

jobs_of "$work/filtered" --slice 2/2 --filter 'sf0\.1\.' codecs
grep 'sf0\.1\.' "$work/sliced" | grep '^queries\|^staged' >"$work/expected"
comm -23 "$work/filtered" <(sort "$work/expected") | grep . && fail "--filter runs jobs of other slices"
for wrong in "--slice 0/2" "--slice 3/2" "--slice x" "--seconds soon"; do
    # shellcheck disable=SC2086 # an option and its value
    if "$work/tree/tests/gpu.sh" $wrong codecs >/dev/null 2>&1; then fail "$wrong is taken"; fi
done
