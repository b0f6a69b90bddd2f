#!/usr/bin/env bash
# gpu.sh: runs Tessera's tests on a machine with a GPU. It builds Release into build/gpu, runs the steps, prints a
# table of all jobs, and exits with 1 if any job failed.
#
#     tests/gpu.sh [--filter REGEX] [--slice I/N] [--seconds N] [--logs FOLDER] [STEP...]
#
#     STEP        tests     every test program that uses the GPU; fails if there is none (the default step)
#                 codecs    all queries with all codecs and choosers, staged too, at three scale factors and with NULL
#                           keys, checked by SQLite
#                 sql       the tests of SQL on the GPU, random queries against SQLite (six seeds, FUZZ_SECONDS=60
#                           each) and window functions, and tests/support/devices.sql, whose answers must equal the CPU's;
#                           what several GPUs do, on all that there are
#                 lab       every experiment of `tessera lab` at a hundredth of the papers' rows; each compares what
#                           it decodes and answers
#                 sanitize  the programs of `tests`, all queries with all codecs at SF 0.01 and 0.1 (byte streams, which
#                           take a hundred times as long: 0.0001 and 0.01), the lab's own kernels, and the questions of
#                           tests/benches/questions.sql at SF 0.05, one job for each kind, under compute-sanitizer:
#                           memcheck and racecheck
#     --filter    runs only jobs whose name in the table matches
#     --slice     runs every N-th unit of each step, from the I-th on: the same ones each time, all in N slices. A unit is
#                 a program (of test_cuda_decode under compute-sanitizer: a codec), a codec at a scale factor, or an
#                 experiment, with all its jobs; databases and kernels are made for the units of the slice alone
#     --seconds   starts no job after so many seconds, the build's included; what was not run counts as failed
#     --logs      folder for the output: build.log, one log for each step, and results, a line for each job as it ends
#                 (build/gpu/logs)
#
# It needs gcc, CMake and the CUDA toolkit's NVRTC. If the other libraries cannot be installed, unpack them into
# .deps with cmake/fetch-deps.sh on another machine and copy the folder.
set -euo pipefail
cd "$(dirname "$0")/.."

filter=. slice=1/1 seconds=0 logs=build/gpu/logs steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --filter) filter=$2 && shift ;;
    --slice) slice=$2 && shift ;;
    --seconds) seconds=$2 && shift ;;
    --logs) logs=$2 && shift ;;
    tests | codecs | sql | lab | sanitize) steps+=("$1") ;;
    *) echo "gpu.sh: there is no option or step $1; see the head of the file" >&2 && exit 2 ;;
    esac
    shift
done
if [ ${#steps[@]} -eq 0 ]; then steps=(tests); fi
if ! [[ $slice =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] || [ "${slice%/*}" -gt "${slice#*/}" ]; then
    echo "gpu.sh: --slice $slice: give I/N with I from 1 to N, as 2/4" >&2 && exit 2
fi
if ! [[ $seconds =~ ^[0-9]+$ ]]; then echo "gpu.sh: --seconds $seconds is no whole number" >&2 && exit 2; fi

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
        if [ "$seconds" -gt 0 ] && [ $SECONDS -gt "$seconds" ]; then
            result="FAILED (no time)" && echo "not run: --seconds $seconds were over" >"$work/$name.log"
        else
            "$@" >"$work/$name.log" 2>&1 || result="FAILED ($?)"
        fi
        spent=$((($(date +%s%N) - begun) / 10000000))
        printf '%-44s %-16s %5d.%02d s\n' "$name" "$result" $((spent / 100)) $((spent % 100)) |
            tee -a "$logs/results" >"$work/$name.result"
    } &
}

# units NAME...: those of the slice, in their order.
units() {
    local i
    for ((i = ${slice%/*}; i <= $#; i += ${slice#*/})); do echo "${!i}"; done
}

matches() { # NAME...: true if --filter matches one of them
    local name
    for name in "$@"; do if [[ $name =~ $filter ]]; then return 0; fi; done
    return 1
}

matched=0
job() { if matches "$1"; then matched=$((matched + 1)) && start "$@"; fi; }

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

# What --codec says. lane-levels holds keys of tables with levels alone: it is asked for where loading chose it, and all
# other columns stay in their own codecs.
codec_list() { # SF CODEC
    local keys=
    if [ "$2" != lane-levels ]; then echo "$2" && return; fi
    keys=$($tessera inspect --db "build/gpu/sf$1" lineorder | awk '/ lane-levels \(auto\)/ { print $1 "=lane-levels" }')
    if [ -z "$keys" ]; then echo "no key of sf$1 has levels" >&2 && return 1; fi
    echo "${keys//$'\n'/,}"
}

# Makes a database with SQLite's answers and all encodings that jobs will read: they must not write, because a database has
# one writer at a time.
prepare() { # SF CODEC...
    local sf=$1 codec encoded=()
    local data=(--sf "$sf") # sfnulls: most order dates are NULL, because the date table is short
    shift
    if [ "$sf" = nulls ]; then data=(--sf 0.1 --date-table classic --dangling null); fi
    for codec in "$@"; do
        if [ "$codec" != lane-levels ]; then encoded+=("$codec"); fi # loading chose it, and encoded the keys
    done
    if [ ${#encoded[@]} -eq 0 ]; then encoded=(plain); fi # for SQLite's answers
    rm -rf "build/gpu/sf$sf"
    $tessera ssb load "${data[@]}" --db "build/gpu/sf$sf" &&
        $tessera ssb compare --db "build/gpu/sf$sf" --device cpu --verify sqlite --repeat 1 --warmup 0 \
            --codecs "$(IFS=, && echo "${encoded[*]}")"
}

prepare_all() { # STEP SF:CODEC...
    local step=$1 sf unit of_sf
    shift
    for sf in 0.0001 0.01 0.1 nulls; do
        of_sf=()
        for unit in "$@"; do if [ "${unit%:*}" = "$sf" ]; then of_sf+=("${unit#*:}"); fi; done
        if [ ${#of_sf[@]} -gt 0 ]; then start "prepare.sf$sf" prepare "$sf" "${of_sf[@]}"; fi
    done
    collect "$step"
}

queries() { # SF CODEC TOOL...
    local sf=$1 list
    list=$(codec_list "$1" "$2") || return 1
    shift 2
    "$@" $tessera ssb run --db "build/gpu/sf$sf" --device cuda --codec "$list" --verify sqlite --repeat 1 --warmup 0
}

staged() { # SF CODEC
    local list
    list=$(codec_list "$1" "$2") || return 1
    $tessera ssb run --db "build/gpu/sf$1" --device cuda --codec "$list" --staged --verify sqlite --repeat 1 --warmup 0
}

experiment() { # NAME SCALE TOOL...
    local name=$1 scale=$2
    shift 2
    "$@" $tessera lab "$name" --device cuda --scale "$scale" --repeat 1
}

# as_for TOOL COMMAND...: compiles kernels as that tool wants them: with their lines, and for racecheck without what lanes
# and warps do beside each other on purpose (operators/decode/unpack_cuda.h).
as_for() {
    local options=-lineinfo
    if [ "$1" = racecheck ]; then options+=" -DTILE_RACECHECK"; fi
    shift
    TESSERA_NVRTC_OPTIONS=$options "$@"
}

# sanitized TOOL COMMAND...: reports errors in kernels only, because some tests provoke errors of driver calls.
sanitized() {
    local tool=$1
    shift
    TESSERA_UNDER_SANITIZER=1 as_for "$tool" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 \
        --target-processes application-only "$@"
}

# ---- Steps ----

# Takes the GPU's memory away, so it runs when no other program does.
lonely=test_cuda_memory

step_tests() {
    local program last=
    # shellcheck disable=SC2046 # a word a program
    for program in $(units $(programs)); do
        if [ "$program" = "$lonely" ]; then last=$program; else job "$program" "build/gpu/$program"; fi
    done
    collect tests
    if [ -n "$last" ]; then job "$last" "build/gpu/$last" && collect tests; fi
}

step_codecs() {
    local sf codec unit all=() chosen=()
    for sf in 0.0001 0.01 0.1 nulls; do
        for codec in "${codecs[@]}" "${choosers[@]}"; do all+=("$sf:$codec"); done
    done
    for unit in $(units "${all[@]}"); do
        if matches "queries.sf${unit/:/.}" "staged.sf${unit/:/.}"; then chosen+=("$unit"); fi
    done
    prepare_all codecs ${chosen[@]+"${chosen[@]}"}
    for unit in ${chosen[@]+"${chosen[@]}"}; do
        sf=${unit%:*} codec=${unit#*:}
        job "queries.sf$sf.$codec" queries "$sf" "$codec"
        if [[ " ${choosers[*]} " != *" $codec "* ]]; then job "staged.sf$sf.$codec" staged "$sf" "$codec"; fi
    done
    collect codecs
}

on_gpu() { TESSERA_TEST_DEVICE=cuda "$@"; }
on_all_gpus() { TESSERA_TEST_DEVICE=cuda:all "$@"; }
general_on_gpu() { TESSERA_TEST_KERNEL=general on_gpu "$@"; }

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
    local unit
    for unit in $(units devices test_sql test_sql_doubles test_sql_regressions test_sql_wide test_sql_ssb \
        test_sql_shell test_prompt test_library test_sql_files test_engine_devices several partial general windows \
        fuzz.1 fuzz.2 fuzz.3 fuzz.4 fuzz.5 fuzz.6); do
        case $unit in
        several) job sql.several on_all_gpus build/gpu/test_sql_files ;;
        partial) job sql.partial on_gpu build/gpu/test_partial_fuzz 500 1 ;;
        devices) job sql.devices same_answers ;;
        general) job sql.general general_on_gpu build/gpu/test_sql_files ;;
        test_*) job "sql.$unit" on_gpu "build/gpu/$unit" ;;
        windows) job sql.windows on_gpu build/gpu/test_windows_fuzz "${FUZZ_SECONDS:-60}" 0 ;;
        fuzz.*) job "sql.$unit" on_gpu build/gpu/test_sql_fuzz "${FUZZ_SECONDS:-60}" "${unit#*.}" ;;
        esac
    done
    collect sql
}

step_lab() {
    local name
    # shellcheck disable=SC2046 # a word an experiment
    for name in $(units $($tessera lab --list | grep -o '^[^ ]\+')); do job "lab.$name" experiment "$name" 0.01; done
    collect lab
}

# The programs; the one that takes longest is a unit for each codec: NAME:CODEC.
program_units() {
    local program codec
    for program in $(programs); do
        if [ "$program" != test_cuda_decode ]; then echo "$program" && continue; fi
        for codec in "${codecs[@]}"; do echo "$program:$codec"; done
    done
}

sanitize_program() { # TOOL PROGRAM[:CODEC]
    case $1.$2 in
    *.test_cuda_faults) ;; # its statements are asked by other processes
    *:*) job "$1.${2/:/.}" sanitized "$1" "build/gpu/${2%:*}" "${2#*:}" ;;
    *) job "$1.$2" sanitized "$1" "build/gpu/$2" ;;
    esac
}

sanitize_experiment() { # TOOL NAME
    # Warps of the ablations of byte streams wait for flags in shared memory that others set, and racecheck knows barriers
    # alone.
    if [ "$1.$2" != racecheck.byte-streams ]; then job "$1.lab.$2" experiment "$2" 0.0002 sanitized "$1"; fi
}

sanitize_queries() { # TOOL SF CODEC
    job "$1.sf$2.$3" queries "$2" "$3" sanitized "$1"
}

# The kinds of questions: words, joined by _.
kinds() { sed -n 's/^-- \([a-z ]*\): .*/\1/p' tests/benches/questions.sql | uniq | tr ' ' _; }

# All questions of a kind; each by a kernel of its own, for the kernels of general statements are those of the programs.
questions() { # KIND TOOL...
    local kind=${1//_/ }
    shift
    "$@" $tessera sql --db build/gpu/sfquestions --device cuda --kernel specialised >/dev/null \
        <<<"$(sed -n "/^-- $kind: /,/;\$/p" tests/benches/questions.sql)"
}

sanitize_questions() { # TOOL KIND
    job "$1.questions.$2" questions "$2" sanitized "$1"
}

# Queries and experiments run once without a tool first, so that the tools find the kernels in the cache.
step_sanitize() {
    local sf codec tool unit name all=() chosen=() of_queries=() asks=
    for unit in $(program_units); do all+=("program:$unit"); done
    for unit in $(kinds); do all+=("questions:$unit"); done
    for unit in random-access optimisations pattern byte-streams decode-threads; do # they use all of lab/kernels
        all+=("lab:$unit")
    done
    for codec in "${codecs[@]}"; do
        if [[ " ${byte_streams[*]} " == *" $codec "* ]]; then all+=("0.01:$codec" "0.0001:$codec"); else
            all+=("0.1:$codec" "0.01:$codec")
        fi
    done
    for unit in $(units "${all[@]}"); do
        case $unit in
        program:*) name=${unit#*:} && matches "racecheck.${name/:/.}" "memcheck.${name/:/.}" ;;
        lab:*) matches "racecheck.lab.${unit#*:}" "memcheck.lab.${unit#*:}" ;;
        questions:*) matches "racecheck.questions.${unit#*:}" "memcheck.questions.${unit#*:}" && asks=1 ;;
        *) matches "racecheck.sf${unit/:/.}" "memcheck.sf${unit/:/.}" && of_queries+=("$unit") ;;
        esac && chosen+=("$unit")
    done
    if [ "$asks" ]; then start prepare.sfquestions $tessera ssb load --force --sf 0.05 --db build/gpu/sfquestions; fi
    prepare_all sanitize ${of_queries[@]+"${of_queries[@]}"}
    for tool in racecheck memcheck; do
        for unit in ${chosen[@]+"${chosen[@]}"}; do
            case $unit in
            questions:*) start "kernels.$tool.questions.${unit#*:}" as_for $tool questions "${unit#*:}" ;;
            lab:*) start "kernels.$tool.lab.${unit#*:}" as_for $tool experiment "${unit#*:}" 0.0002 ;;
            0.*) start "kernels.$tool.sf${unit/:/.}" as_for $tool queries "${unit%:*}" "${unit#*:}" ;;
            esac
        done
    done
    collect sanitize
    for tool in racecheck memcheck; do
        for unit in ${chosen[@]+"${chosen[@]}"}; do
            case $unit in
            "program:$lonely") ;;
            program:*) sanitize_program "$tool" "${unit#*:}" ;;
            lab:*) sanitize_experiment "$tool" "${unit#*:}" ;;
            questions:*) sanitize_questions "$tool" "${unit#*:}" ;;
            *) sanitize_queries "$tool" "${unit%:*}" "${unit#*:}" ;;
            esac
        done
    done
    collect sanitize
    if [[ " ${chosen[*]} " == *" program:$lonely "* ]]; then
        for tool in racecheck memcheck; do sanitize_program "$tool" "$lonely" && collect sanitize; done
    fi
}

mkdir -p "$logs"
work=$(mktemp -d)
trap 'kill $(jobs -rp) 2>/dev/null || true; rm -rf "$work"' EXIT
export TESSERA_REQUIRE_GPU=1 TESSERA_REQUIRE_NVRTC=1 TESSERA_KERNEL_CACHE="$PWD/build/gpu/kernel-cache"
build
$tessera devices
mapfile -t codecs < <($tessera codecs --format csv | tail -n +2 | cut -d, -f1)
mapfile -t byte_streams < <($tessera codecs --format csv | awk -F, '$2 == "byte streams" { print $1 }')
of_slice=
if [ "$slice" != 1/1 ]; then of_slice=" of slice ${slice%/*} of ${slice#*/}"; fi
: >"$logs/results"
for step in "${steps[@]}"; do
    : >"$logs/$step.log"
    "step_$step"
done
if [ "$matched" -eq 0 ]; then echo "gpu.sh: no job's name matches $filter$of_slice" >&2 && exit 2; fi
printf '%s\n' "" "${steps[*]}$of_slice, $SECONDS s:" "${table[@]}"
if [ "$failures" -gt 0 ]; then echo "$failures of ${#table[@]}$of_slice failed" && exit 1; fi
echo "all ${#table[@]}$of_slice passed"
