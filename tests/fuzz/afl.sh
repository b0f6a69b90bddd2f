#!/bin/bash
# tests/fuzz/afl.sh KIND SECONDS: AFL++ writes inputs of a kind (tests/fuzz/afl/test_corpora.c: sql, catalogue, column, orc,
# parquet, csv, json) for some seconds, beginning with tests/data/fuzz/KIND. Crashes are made small, inputs that take more than
# five seconds are hangs, and all inputs that were kept are read once more with a search for leaks. The exit code is 1 if there
# are any of these.
#
# tests/fuzz/afl.sh KIND keep: puts inputs that reach what the last run reached into tests/data/fuzz/KIND; of too many, some of each
# size.
#
# It needs AFL++ (on Debian and Ubuntu: apt-get install afl++), and works in build/afl.
set -euo pipefail
cd "$(dirname "$0")/../.."

KEPT_BYTES=27000 # of a kind, so that all kinds are less than 200 KB
SEED_KB=8        # larger files are slow
MOST_MB=1024     # no input is a reason to allocate more at once

fail() { echo "$1" >&2; exit 2; }

kind=${1:-} seconds=${2:-}
[[ $kind =~ ^[a-z]+$ && $seconds =~ ^([0-9]+|keep)$ ]] || fail "usage: tests/fuzz/afl.sh KIND SECONDS|keep"
compiler=$(command -v afl-clang-fast || command -v afl-gcc-fast) && command -v afl-fuzz >/dev/null || {
    echo "[  NOT RUN ] AFL++ is missing: apt-get install afl++" && exit 77
}

build=build/afl work=build/afl/$kind target=build/afl/test_corpora corpus=tests/data/fuzz/$kind
found=$work/found/default
mkdir -p $build
(
    flock 9 # other kinds may begin at the same time
    [ -e $build/CMakeCache.txt ] ||
        cmake --preset sanitize -B $build -DCMAKE_C_COMPILER="$compiler" -DTESSERA_CUDA=OFF -DTESSERA_MPI=OFF >/dev/null
    cmake --build $build --target test_corpora -j "$(nproc)" >/dev/null
) 9>$build/lock

if [ -w /dev/shm ]; then # inputs become files
    TMPDIR=$(mktemp -d /dev/shm/tessera-afl-XXXXXX)
else
    TMPDIR=$(mktemp -d)
fi
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
AFL_MAP_SIZE=$(AFL_DUMP_MAP_SIZE=1 $target || true)
sanitizers=abort_on_error=1:symbolize=0:max_allocation_size_mb=$MOST_MB
export ASAN_OPTIONS=$sanitizers:detect_leaks=0 UBSAN_OPTIONS=$sanitizers AFL_MAP_SIZE
export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_FAST_CAL=1 AFL_ALLOW_TMP=1
export AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
limits=(-m none -t 5000)

if [ "$seconds" = keep ]; then
    rm -rf "$work/minimal"
    afl-cmin "${limits[@]}" -i "$found/queue" -o "$work/minimal" -- $target "$kind" >"$work/log.cmin" 2>&1 ||
        fail "afl-cmin failed: $work/log.cmin"
    rm -rf "$corpus"
    mkdir -p "$corpus"
    number=0
    while read -r input; do
        cp "$input" "$corpus/$(printf %03d $number)"
        number=$((number + 1))
    done < <(find "$work/minimal" -type f -printf '%s %p\n' | sort -n | awk -v most=$KEPT_BYTES '
        { all += $1; name[NR] = substr($0, index($0, " ") + 1) }
        END { for (i = 1; i <= NR; i += all > most ? all / most : 1) print name[int(i)] }')
    cp "$work/small/"* "$corpus" 2>/dev/null || true
    exit
fi

rm -rf "$work"
mkdir -p "$work/seeds" "$work/small"
cp "$corpus/"* "$work/seeds" 2>/dev/null || true
$target --seeds "$kind" "$work/seeds"
[ ! -d "tests/data/$kind" ] || find "tests/data/$kind" -name "*.$kind" -size -"$SEED_KB"k -exec cp {} "$work/seeds" \;

# The words of the grammar: the parser's own, keywords, and the names of functions and aggregates.
dictionary=()
if [ "$kind" = sql ]; then
    { grep -rhoE '"[A-Z][A-Z_]+"' engine/sql --include='*.c' | tr -d '"'; $target --words; } | tr "[:lower:]" "[:upper:]" | sort -u |
        sed 's/.*/" & "/' >"$work/words"
    dictionary=(-x "$work/words")
fi

afl-fuzz -i "$work/seeds" -o "$work/found" "${limits[@]}" -V "$seconds" "${dictionary[@]}" -- $target "$kind" \
    >"$work/log" 2>&1 || { tail -20 "$work/log"; fail "afl-fuzz failed: $work/log"; }

# What the target says of files, and where.
says() {
    local leaks=$1
    shift
    ASAN_OPTIONS=detect_leaks=$leaks:hard_rss_limit_mb=4096:max_allocation_size_mb=$MOST_MB \
        UBSAN_OPTIONS=print_stacktrace=1 timeout 600 $target "$kind" "$@" 2>&1 |
        grep -E 'ERROR|error:|status|Assertion|^ *#[0-9]+ ' | head -12 || true
}

for input in "$found"/crashes/id* "$found"/hangs/id*; do
    [ -e "$input" ] || continue
    small=$work/small/$(basename "$(dirname "$input")")-$(basename "$input" | cut -c4-9)
    timeout 120 afl-tmin "${limits[@]}" -i "$input" -o "$small" -- $target "$kind" >/dev/null 2>&1 || cp "$input" "$small"
    echo "$small"
    says 0 "$small"
done
leaks=$(says 1 "$found"/queue/id*)
[ -z "$leaks" ] || printf 'Inputs of %s, read one after the other:\n%s\n' "$found/queue" "$leaks"

statistic() { sed -n "s/^$1 *: *//p" "$found/fuzzer_stats"; }
crashes=$(statistic saved_crashes) hangs=$(statistic saved_hangs)
echo "$kind: $(statistic execs_done) executions in $(statistic run_time) seconds, $(statistic corpus_count) paths," \
    "$crashes crashes, $hangs hangs$([ -z "$leaks" ] || echo ', and leaks')"
[ $((crashes + hangs)) -eq 0 ] && [ -z "$leaks" ]
