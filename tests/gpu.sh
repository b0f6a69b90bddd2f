#!/usr/bin/env bash
# gpu.sh: Tessera's tests on a machine with a GPU. Builds Release into build/gpu and runs every test program that
# speaks to the GPU, insisting that there is one; ends with a table and with 1 if anything failed.
#
#     tests/gpu.sh [--sanitize] [--filter REGEX] [--logs FOLDER] [STEP...]
#
#     STEP        tests (the default), codecs (all queries with all codecs), or any other step_NAME below
#     --sanitize  every program once more under compute-sanitizer, memcheck and racecheck
#     --filter    only programs whose name matches
#     --logs      where each program's output goes (build/gpu/logs)
#
# Needs gcc, CMake and the CUDA toolkit's NVRTC. Where the other libraries cannot be installed, unpack them into
# .deps with cmake/fetch-deps.sh elsewhere and bring the folder along.
set -euo pipefail
cd "$(dirname "$0")/.."

sanitize=false filter=. logs=build/gpu/logs steps=()
while [ $# -gt 0 ]; do
    case $1 in
    --sanitize) sanitize=true ;;
    --filter) filter=$2 && shift ;;
    --logs) logs=$2 && shift ;;
    -*) echo "gpu.sh: there is no option $1; see the head of the file" >&2 && exit 2 ;;
    *) steps+=("$1") ;;
    esac
    shift
done
if [ ${#steps[@]} -eq 0 ]; then steps=(tests); fi

build() {
    local options=(-DCMAKE_BUILD_TYPE=Release -DTESSERA_CUDA=ON)
    if [ -d .deps/usr ]; then options+=(-DCMAKE_PREFIX_PATH="$PWD/.deps/usr"); fi
    if ! [ -e build/gpu/CMakeCache.txt ] && command -v ninja >/dev/null; then options+=(-G Ninja); fi
    cmake -S . -B build/gpu "${options[@]}" >/dev/null
    cmake --build build/gpu -j "$(nproc)" >"$logs/build.log" 2>&1 || { tail -40 "$logs/build.log" && exit 1; }
}

failures=0
table=()

# check NAME COMMAND...: runs it, keeps its output in $logs/NAME.log, notes result and time for the table.
check() {
    local name=$1 start result=passed seconds
    shift
    start=$(date +%s%N)
    if ! "$@" >"$logs/$name.log" 2>&1; then
        result=FAILED
        failures=$((failures + 1))
        echo "---- $name:" && tail -30 "$logs/$name.log"
    fi
    seconds=$(($(date +%s%N) - start))
    table+=("$(printf '%-44s %-7s %7d.%02d s' "$name" "$result" $((seconds / 1000000000)) $((seconds / 10000000 % 100)))")
}

# What of the programs in build/gpu speaks to the GPU.
programs() {
    find build/gpu -maxdepth 1 -type f -perm -u+x \( -name 'test_cuda*' -o -name 'test_nvrtc' \
        -o -name 'test_kernel_cache' \) -printf '%f\n' | grep -E -- "$filter" | sort
}

step_tests() {
    local program tool
    for program in $(programs); do check "$program" "build/gpu/$program"; done
    if ! $sanitize; then return; fi
    for program in $(programs); do
        for tool in memcheck racecheck; do
            # Errors that calls return are what some tests are about; only what kernels do counts here.
            check "$program.$tool" env TESSERA_UNDER_SANITIZER=1 compute-sanitizer --tool "$tool" \
                --report-api-errors no --error-exitcode 9 --target-processes application-only "build/gpu/$program"
        done
    done
}

# Every query with every codec on the GPU, at small and odd scale factors, judged by SQLite.
step_codecs() {
    local sf codec
    for sf in 0.0001 0.01 0.1; do
        check "load.sf$sf" build/gpu/tessera ssb load --force --sf "$sf" --db "build/gpu/sf$sf"
        for codec in plain nsf gpu-for gpu-dfor gpu-rfor lane-for lane-delta rank-rle gpu-star smallest auto; do
            check "queries.sf$sf.$codec" build/gpu/tessera ssb run --db "build/gpu/sf$sf" --device cuda --codec "$codec" \
                --verify sqlite --repeat 1
        done
    done
}

mkdir -p "$logs"
export TESSERA_REQUIRE_GPU=1 TESSERA_REQUIRE_NVRTC=1 TESSERA_KERNEL_CACHE="$PWD/build/gpu/kernel-cache"
build
build/gpu/tessera devices
for step in "${steps[@]}"; do "step_$step"; done
printf '%s\n' "" "${table[@]}"
if [ "$failures" -gt 0 ]; then echo "$failures of ${#table[@]} failed" && exit 1; fi
echo "all ${#table[@]} passed"
