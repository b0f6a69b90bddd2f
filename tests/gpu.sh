#!/usr/bin/env bash
# gpu.sh: runs Tessera's tests on a machine with a GPU. It builds Release into build/gpu, runs the steps, prints a
# table of all jobs, and exits with 1 if any job failed.
#
#     tests/gpu.sh [--filter REGEX] [--logs FOLDER] [STEP...]
#
#     STEP        tests     every test program that uses the GPU; fails if there is none (the default step)
#                 codecs    all queries with all codecs and choosers, staged too, at three scale factors and with NULL
#                           keys, checked by SQLite
#                 sql       the tests of SQL on the GPU, random queries against SQLite (six seeds, FUZZ_SECONDS=60
#                           each), and tests/support/devices.sql, whose answers must equal the CPU's
#                 lab       every experiment of `tessera lab` at a hundredth of the papers' rows; each compares what
#                           it decodes and answers
#                 sanitize  the programs of `tests`, all queries with all codecs at SF 0.01 and 0.1, and the lab's own
#                           kernels, under compute-sanitizer: memcheck and racecheck
#     --filter    runs only jobs whose name in the table matches
#     --logs      folder for the output: build.log and one log for each step (build/gpu/logs)
#
# It needs gcc, CMake and the CUDA toolkit's NVRTC. If the other libraries cannot be installed, unpack them into
# .deps with cmake/fetch-deps.sh on another machine and copy the folder.
set -euo pipefail
cd "$(dirname "$0")/.."

filter=. logs=build/gpu/logs steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --filter) filter=$2 && shift ;;
    --logs) logs=$2 && shift ;;
    tests | codecs | sql | lab | sanitize) steps+=("$1") ;;
    *) echo "gpu.sh: there is no option or step $1; see the head of the file" >&2 && exit 2 ;;
    esac
    shift
done
if [ ${#steps[@]} -eq 0 ]; then steps=(tests); fi

tessera=build/gpu/tessera
choosers=(gpu-star smallest auto)

build() {
    local options=(-DCMAKE_BUILD_TYPE=Release -DTESSERA_CUDA=ON)
    if [ -d .deps/usr ]; then options+=(-DCMAKE_PREFIX_PATH="$PWD/.deps/usr"); fi
    if ! [ -e build/gpu/CMakeCache.txt ] && command -v ninja >/dev/null; then options+=(-G Ninja); fi
    cmake -S . -B build/gpu "${options[@]}" >/dev/null
    cmake --build build/gpu -j "$(nproc)" >"$logs/build.log" 2>&1 || { tail -40 "$logs/build.log" && exit 1; }
}

# ---- Jobs: they run in parallel, each with its own log; `collect` waits for them ----

side_by_side=$((($(nproc) + 1) / 2)) # each job has more than one thread
jobs=() failures=0 table=()

# start NAME COMMAND...
start() {
    local name=$1
    shift
    while [ "$(jobs -rp | wc -l)" -ge "$side_by_side" ]; do wait -n || true; done
    jobs+=("$name")
    {
        begun=$(date +%s%N) result=passed
        "$@" >"$work/$name.log" 2>&1 || result="FAILED ($?)"
        spent=$((($(date +%s%N) - begun) / 10000000))
        printf '%-44s %-12s %5d.%02d s\n' "$name" "$result" $((spent / 100)) $((spent % 100)) >"$work/$name.result"
    } &
}

matched=0
job() { if [[ $1 =~ $filter ]]; then matched=$((matched + 1)) && start "$@"; fi; }

# collect STEP: waits for all jobs. Appends their logs to the step's log and their results to the table, in the order
# in which they started.
collect() {
    local name result
    wait
    for name in ${jobs[@]+"${jobs[@]}"}; do
        result=$(<"$work/$name.result")
        table+=("$result")
        { echo "==== $result" && cat "$work/$name.log"; } >>"$logs/$1.log"
        if [[ $result == *FAILED* ]]; then
            failures=$((failures + 1))
            echo "---- $name:" && tail -30 "$work/$name.log"
        fi
    done
    jobs=()
}

# The programs in build/gpu that use the GPU.
programs() {
    find build/gpu -maxdepth 1 -type f -perm -u+x \( -name 'test_cuda*' -o -name 'test_nvrtc' \
        -o -name 'test_kernel_cache' \) -printf '%f\n' | sort
}

# Makes a database with every encoding and SQLite's answers, so that the jobs after it only read it.
prepare() {
    rm -rf "build/gpu/sf$1"
    local data=(--sf "$1") # sfnulls: most order dates are NULL, because the date table is short
    if [ "$1" = nulls ]; then data=(--sf 0.1 --date-table classic --dangling null); fi
    $tessera ssb load "${data[@]}" --db "build/gpu/sf$1" &&
        $tessera ssb compare --db "build/gpu/sf$1" --device cpu --verify sqlite --repeat 1 --warmup 0 \
            --codecs "$(IFS=, && echo "${codecs[*]},${choosers[*]}")"
}

prepare_all() { # STEP SF...
    local step=$1 sf
    shift
    for sf in "$@"; do start "prepare.sf$sf" prepare "$sf"; done
    collect "$step"
}

queries() { # SF CODEC TOOL...
    local sf=$1 codec=$2
    shift 2
    "$@" $tessera ssb run --db "build/gpu/sf$sf" --device cuda --codec "$codec" --verify sqlite --repeat 1 --warmup 0
}

staged() { # SF CODEC
    $tessera ssb run --db "build/gpu/sf$1" --device cuda --codec "$2" --staged --verify sqlite --repeat 1 --warmup 0
}

experiment() { # NAME SCALE TOOL...
    local name=$1 scale=$2
    shift 2
    "$@" $tessera lab "$name" --device cuda --scale "$scale" --repeat 1
}

# sanitized TOOL COMMAND...: reports errors in kernels only, because some tests provoke errors of driver calls.
sanitized() {
    local tool=$1
    shift
    TESSERA_UNDER_SANITIZER=1 compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 \
        --target-processes application-only "$@"
}

# ---- Steps ----

step_tests() {
    local program
    for program in $(programs); do job "$program" "build/gpu/$program"; done
    collect tests
}

step_codecs() {
    local sf codec
    prepare_all codecs 0.0001 0.01 0.1 nulls
    for sf in 0.0001 0.01 0.1 nulls; do
        for codec in "${codecs[@]}" "${choosers[@]}"; do job "queries.sf$sf.$codec" queries "$sf" "$codec"; done
        for codec in "${codecs[@]}"; do job "staged.sf$sf.$codec" staged "$sf" "$codec"; done
    done
    collect codecs
}

on_gpu() { TESSERA_TEST_DEVICE=cuda "$@"; }

# Checks that both devices give the same bytes.
same_answers() {
    local device
    $tessera ssb load --force --sf 1 --db build/gpu/sfsql || return 1
    for device in cpu cuda; do
        $tessera sql --db build/gpu/sfsql --device "$device" --format csv --timer <tests/support/devices.sql \
            >"$work/answers.$device" || return 1
    done
    wc -l "$work/answers.cuda" && cmp "$work/answers.cpu" "$work/answers.cuda"
}

step_sql() {
    local seed
    job sql.devices same_answers
    for program in test_sql test_sql_doubles test_sql_regressions test_sql_wide test_sql_ssb test_sql_shell test_library; do
        job "sql.$program" on_gpu "build/gpu/$program"
    done
    for seed in 1 2 3 4 5 6; do
        job "sql.fuzz.$seed" on_gpu build/gpu/test_sql_fuzz "${FUZZ_SECONDS:-60}" "$seed"
    done
    collect sql
}

step_lab() {
    local name
    for name in $($tessera lab --list | grep -o '^[^ ]\+'); do job "lab.$name" experiment "$name" 0.01; done
    collect lab
}

# The queries and experiments run once without a tool first, so that both tools find the kernels in the cache.
step_sanitize() {
    local sf codec tool program name
    local experiments=(random-access optimisations pattern) # with byte-streams, they use all of lab/kernels
    prepare_all sanitize 0.01 0.1
    for sf in 0.1 0.01; do
        for codec in "${codecs[@]}"; do start "kernels.sf$sf.$codec" queries "$sf" "$codec"; done
    done
    for name in "${experiments[@]}" byte-streams; do start "kernels.lab.$name" experiment "$name" 0.0002; done
    collect sanitize
    for tool in racecheck memcheck; do
        for program in $(programs); do
            # Warps write the same ones to shared memory, or OR bits of them, which racecheck takes for races.
            if [ "$tool.$program" = racecheck.test_cuda_index ]; then continue; fi
            job "$tool.$program" sanitized "$tool" "build/gpu/$program"
        done
        for sf in 0.1 0.01; do
            for codec in "${codecs[@]}"; do
                job "$tool.sf$sf.$codec" queries "$sf" "$codec" sanitized "$tool"
            done
        done
        for name in "${experiments[@]}"; do
            job "$tool.lab.$name" experiment "$name" 0.0002 sanitized "$tool"
        done
    done
    # The ablations' warps wait for words of shared memory that others write, which racecheck takes for races.
    job memcheck.lab.byte-streams experiment byte-streams 0.0002 sanitized memcheck
    collect sanitize
}

mkdir -p "$logs"
work=$(mktemp -d)
trap 'kill $(jobs -rp) 2>/dev/null || true; rm -rf "$work"' EXIT
export TESSERA_REQUIRE_GPU=1 TESSERA_REQUIRE_NVRTC=1 TESSERA_KERNEL_CACHE="$PWD/build/gpu/kernel-cache"
build
$tessera devices
mapfile -t codecs < <($tessera codecs --format csv | tail -n +2 | cut -d, -f1)
for step in "${steps[@]}"; do
    : >"$logs/$step.log"
    "step_$step"
done
if [ "$matched" -eq 0 ]; then echo "gpu.sh: no job's name matches $filter" >&2 && exit 2; fi
printf '%s\n' "" "${table[@]}"
if [ "$failures" -gt 0 ]; then echo "$failures of ${#table[@]} failed" && exit 1; fi
echo "all ${#table[@]} passed"
