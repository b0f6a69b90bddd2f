#!/usr/bin/env bash
# test_ncu_byte_streams.sh PROGRAM: the table of tests/ncu-byte-streams.sh, without a GPU: another profiler stands for ncu. It is
# asked for the kernels by the names that the program gives them and for both sets; its cells come to their places, by
# their metrics' names; what it does not measure is missing, and is said.
set -euo pipefail
program=$1
script=$(cd "$(dirname "$0")" && pwd)/ncu-byte-streams.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KERNELS="rle1_baseline rle1_published rle1_ours rle2_baseline rle2_published rle2_ours deflate_baseline \
deflate_published deflate_ours"

# A line of ncu for each kernel, in which the set decides how many warps wait at barriers: 1 of 4 of MC0's, 3 of 6 of TPC's.
cat >"$work/ncu" <<'END'
#!/usr/bin/env bash
echo "$*" >>"$CALLS"
while [ "$1" != --log-file ]; do shift; done
log=$2
while [ "$1" != --sets ]; do shift; done
set=$2
if [ "$set" = MC0 ]; then barrier=1; else barrier=3; fi
{
    echo "==PROF== Connected to process 7 (tessera)"
    printf '"ID","Kernel Name","%s","%s","%s","%s","%s"\n' sm__throughput.avg.pct_of_peak_sustained_elapsed \
        smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio \
        smsp__average_warps_issue_stalled_wait_per_issue_active.ratio \
        smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio \
        sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active
    echo '"","","%","inst","inst","inst","%"'
    for kernel in $KERNELS; do
        echo "\"0\",\"decode_$kernel(const byte_block *, unsigned int)\",\"12.34\",\"$barrier\",\"2.0\",\"1\",\"n/a\""
        echo "\"1\",\"decode_$kernel\",\"99\",\"99\",\"99\",\"99\",\"99\"" # a second launch does not count
    done
} >"$log"
END
chmod +x "$work/ncu"
export NCU=$work/ncu CALLS=$work/calls

fail() { echo "test_ncu_byte_streams.sh: $*" >&2 && exit 1; }

"$script" --csv "$work/csv" "$program" >"$work/table" || fail "it fails: $(cat "$work/table")"
for line in '|RLE v1|MC0|thread block|12.3|-|-|-|-|25.0|-|50.0|-|-|-|25.0|-|-|-|' \
    '|RLE v1|TPC|thread block|12.3|-|-|-|-|50.0|-|33.3|-|-|-|16.7|-|-|-|' \
    '|Deflate|TPC|ours|12.3|-|-|-|-|50.0|-|33.3|-|-|-|16.7|-|-|-|' \
    '|RLE v1||thread block, paper||||||<=80|<=20|||||||||' \
    '|Deflate||thread block, paper|<=65|<25|||||||||||<=55|<=35|<=20|'; do
    sed 's/ *| */|/g' "$work/table" | grep -qxF -- "$line" || fail "there is no line '$line' in
$(cat "$work/table")"
done
[ "$(grep -c '^|' "$work/table")" -eq 23 ] || fail "it prints $(wc -l <"$work/table") lines, not a head of two, and seven a format"
for set in MC0 TPC; do grep -q -- "--sets $set " "$CALLS" || fail "it does not ask for $set"; done
# The program takes what it is asked for, and its kernels have these names (tests/lab/test_byte_streams.c).
sed -n "s/.* \(lab byte-streams .*\)/\1/p" "$CALLS" | sed 's/--device cuda/--device cpu/; s/--scale [0-9.]*/--scale 0.0002/' |
    while read -r line; do
        # shellcheck disable=SC2086 # an argument a word
        "$program" $line >/dev/null 2>&1 || fail "the program does not take '$line'"
    done
filter=$(sed -n 's/.*::regex:\(.*\):1 .*/\1/p' "$CALLS" | head -1)
for kernel in $KERNELS; do echo "decode_$kernel" | grep -qE "$filter" || fail "decode_$kernel is filtered out"; done

if KERNELS="rle1_ours" "$script" "$program" >"$work/table" 2>"$work/errors"; then fail "missing kernels are no error"; fi
grep -q 'not measured: MC0.rle1.baseline' "$work/errors" || fail "it does not say what is missing: $(cat "$work/errors")"
if KERNELS='' "$script" "$program" >/dev/null 2>"$work/errors"; then fail "nothing measured is no error"; fi
grep -q 'measured nothing of MC0' "$work/errors" || fail "it does not say that nothing was measured"
if NCU=$work/nowhere "$script" "$program" 2>"$work/errors"; then fail "a missing profiler is no error"; fi
grep -q 'nowhere is not installed' "$work/errors" || fail "it does not say that there is no profiler"
