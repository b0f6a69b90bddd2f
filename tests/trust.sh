#!/usr/bin/env bash
# trust.sh: runs the long forms of all campaigns (docs/trust.md) side by side, and ends with a table of what was tried.
# `make trust` builds what it needs and starts it:
#
#     tests/trust.sh [HOURS [CAMPAIGNS [SEED]]]     1 hour, all whose names match the ERE, seed from the clock
#     tests/trust.sh --presets [CAMPAIGNS]          what has to be built: presets, and targets of a preset
#     tests/trust.sh --targets PRESET [CAMPAIGNS]
#
# HOURS are divided among the campaigns, as many at a time as there are cores (JOBS). The exit code is 1 if any failed.
# Logs are in build/trust. Ctrl-C stops all, and the table says what was done. CAMPAIGNS_FILE names a file with other
# campaigns than those below.
set -euo pipefail
cd "$(dirname "$0")/.."

# A line is a campaign: its name | its unit | what its program counts: an ERE after the number | the command.
#
#   seconds   the command ends after @SECONDS, from @SEED
#   rounds    the command takes minutes at most, and is repeated with other @SEEDs
#   whole N   the command comes to an end, after N seconds of a core if @EACH is 1, and tries each @EACH-th case otherwise
#
# The programs below build/PRESET are built. A command has no |.
campaigns() {
    if [ -n "${CAMPAIGNS_FILE:-}" ]; then cat "$CAMPAIGNS_FILE" && return; fi
    cat <<'END'
faults_memory      | whole 2400 | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_memory'
faults_no_memory   | whole 2400 | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_memory_forever'
faults_threads     | whole 30   | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_threads'
faults_calls       | whole 1200 | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_calls'
faults_no_calls    | whole 1200 | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_calls_forever'
faults_descriptors | whole 300  | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_descriptors'
faults_access      | whole 600  | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_access'
faults_space       | whole 300  | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_space'
faults_signals     | whole 600  | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_signals'
faults_short       | whole 300  | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_short'
library_faults     | whole 6000 | of [a-z_]+          | TESSERA_FAULTS=each:@EACH build/release/test_library_faults
adbc_faults        | whole 7000 | of [a-z_]+          | TESSERA_FAULTS=each:@EACH build/release/test_adbc_faults
gpu_faults         | whole 300  | faults tried        | TESSERA_LIBCUDA=$(echo $PWD/build/release/*_emulator.so) TESSERA_FAULTS=each:@EACH build/release/test_cuda_faults
cluster_losses     | whole 1500 | losses              | TESSERA_CLUSTER_FAULTS=$((170 / @EACH + 1)) build/release/test_cluster_faults
kills              | whole 1200 | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_kill*'
kills_large        | rounds     | faults tried        | TESSERA_FAULTS_ROWS=300000 TESSERA_FAULTS=random:4:@SEED build/release/test_faults '*_kill*'
power_cuts         | whole 600  | faults tried        | TESSERA_FAULTS=each:@EACH build/release/test_faults '*_power'
power_cuts_large   | rounds     | faults tried        | TESSERA_FAULTS_ROWS=300000 TESSERA_FAULTS=random:4:@SEED build/release/test_faults '*_power'
every_byte_star    | whole 4000 | changes,            | TESSERA_EVERY_BYTE=@EACH build/sanitize/test_every_byte star
every_byte_kinds   | whole 4000 | changes,            | TESSERA_EVERY_BYTE=@EACH build/sanitize/test_every_byte kinds
damaged_costs      | whole 300  | changes             | TESSERA_EVERY_BYTE=@EACH build/sanitize/test_every_byte 'damaged_costs*'
tree               | rounds     | statements alike    | TESSERA_TREE_STATEMENTS=5000 TESSERA_TREE_SEED=@SEED build/release/test_tree_fuzz
sql                | seconds    | queries alike       | build/release/test_sql_fuzz @SECONDS @SEED
sql_emulated       | seconds    | queries alike       | TESSERA_LIBCUDA=$(echo $PWD/build/release/*_emulator.so) TESSERA_NVRTC=$(echo $PWD/build/release/*_emulator_compiler.so) TESSERA_KERNEL_CACHE= build/release/test_sql_fuzz @SECONDS @SEED cuda
levels             | seconds    | statements alike    | build/release/test_levels_fuzz @SECONDS @SEED
sql_little         | seconds    | queries alike       | TESSERA_TEST_MEMORY=60K build/release/test_sql_fuzz @SECONDS @SEED
levels_little      | seconds    | statements alike    | TESSERA_TEST_MEMORY=60K build/release/test_levels_fuzz @SECONDS @SEED
windows            | seconds    | statements alike    | build/release/test_windows_fuzz @SECONDS @SEED
from               | seconds    | statements alike    | build/release/test_from_fuzz @SECONDS @SEED
types              | rounds     | answered            | build/release/test_types_fuzz 20000 @SEED
partial            | rounds     | queries             | build/release/test_partial_fuzz 2000 @SEED
cluster            | rounds     | queries             | build/release/test_cluster_fuzz 500 @SEED
changes            | rounds     | made,|refused       | TESSERA_CHANGES=1000 TESSERA_CHANGES_SEED=@SEED build/release/test_changes_fuzz
changes_processes  | rounds     | made,|refused,|killed|with a failing | TESSERA_CHANGES_PROCESSES=1 TESSERA_CHANGES=1000 TESSERA_CHANGES_SEED=@SEED build/release/test_changes_fuzz
hostile            | seconds    | damaged|broken|refused | build/sanitize/test_hostile @SECONDS @SEED
columnar           | seconds    | damaged files       | build/sanitize/test_columnar_fuzz @SECONDS @SEED
orc_rle            | seconds    | streams             | build/sanitize/test_orc_rle_fuzz @SECONDS @SEED
database           | rounds     | rounds              | build/sanitize/test_database_fuzz 300 @SEED
threads_together   | seconds    | deeds               | TESSERA_THREADS_SECONDS=$((@SECONDS / 2)) TESSERA_THREADS_SEED=@SEED build/threads/test_threads_together
four_processes     | seconds    | made,               | TESSERA_PROCESSES_SECONDS=@SECONDS TESSERA_PROCESSES_SEED=@SEED build/release/test_four_processes
afl_sql            | seconds    | executions          | tests/fuzz/afl.sh sql @SECONDS
afl_catalogue      | seconds    | executions          | tests/fuzz/afl.sh catalogue @SECONDS
afl_column         | seconds    | executions          | tests/fuzz/afl.sh column @SECONDS
afl_orc            | seconds    | executions          | tests/fuzz/afl.sh orc @SECONDS
afl_parquet        | seconds    | executions          | tests/fuzz/afl.sh parquet @SECONDS
afl_csv            | seconds    | executions          | tests/fuzz/afl.sh csv @SECONDS
afl_json           | seconds    | executions          | tests/fuzz/afl.sh json @SECONDS
second_reader      | rounds     | tests               | tests/storage/database/test_second_reader.py build/release/tessera 20000 @SEED
END
}

die() { echo "trust.sh: $*" >&2 && exit 2; }

# ---- What there is to do ----

names=() units=() wholes=() counts=() commands=()
read_campaigns() { # CAMPAIGNS
    local name unit count command
    while IFS= read -r line; do
        [[ $line =~ ^([^|]*[^| ])\ *\|\ *([^|]*[^| ])\ *\|\ *(.*[^ ])\ *\|\ *([^|]+)$ ]] || die "no campaign: $line"
        name=${BASH_REMATCH[1]} unit=${BASH_REMATCH[2]} count=${BASH_REMATCH[3]} command=${BASH_REMATCH[4]}
        [[ $name =~ $1 ]] || continue
        names+=("$name") units+=("${unit%% *}") wholes+=("${unit##* }") counts+=("$count") commands+=("$command")
    done < <(campaigns)
    [ ${#names[@]} -gt 0 ] || die "no campaign's name matches '$1'; there are: $(campaigns | sed 's/ *|.*//' | paste -sd ' ')"
}

programs() { grep -oE 'build/[a-z0-9-]+/[a-z0-9_]+' <<<"${commands[*]}" | sort -u; }

case ${1:-} in
--presets)
    read_campaigns "${2:-}"
    programs | cut -d/ -f2 | sort -u
    exit
    ;;
--targets)
    read_campaigns "${3:-}"
    programs | sed -n "s|^build/$2/||p" | sed 's/^tessera$/tessera_program/'
    exit
    ;;
esac

hours=${1:-1} seed=${3:-0} jobs=${JOBS:-$(nproc)} folder=build/trust
read_campaigns "${2:-}"
[ "$seed" != 0 ] || seed=$(date +%s)
seconds=$(awk -v h="$hours" 'BEGIN { if (h + 0 <= 0) exit 1; printf "%d", h * 3600 + 0.5 }') || die "HOURS=$hours"
rm -rf "$folder"
mkdir -p "$folder"
# As ctest runs them: kernels of the tests' own, and the same plans everywhere.
export PYTHONPATH=$PWD/build/peers${PYTHONPATH:+:$PYTHONPATH}
export TESSERA_COSTS=h200 TESSERA_KERNEL_CACHE=${TESSERA_KERNEL_CACHE:-$PWD/build/release/kernel-cache}

# Divides the time of all cores: those that come to an end take no more than they need, and the others the same each.
shares=()
divide() {
    local left=$((seconds * jobs)) count=${#names[@]} equal changed=1 i
    while [ $changed = 1 ]; do
        changed=0 equal=$((count ? left / count : 0))
        [ "$equal" -le "$seconds" ] || equal=$seconds
        for i in "${!names[@]}"; do
            if [ -z "${shares[i]:-}" ] && [ "${units[i]}" = whole ] && [ "${wholes[i]}" -le "$equal" ]; then
                shares[i]=${wholes[i]} left=$((left - wholes[i])) count=$((count - 1)) changed=1
            fi
        done
    done
    for i in "${!names[@]}"; do shares[i]=${shares[i]:-$equal}; done
}
divide

# The command of a campaign, with that seed.
command_of() { # INDEX SEED
    local i=$1 share=${shares[$1]} each=1 command=${commands[$1]}
    [ "${units[i]}" != whole ] || each=$(((wholes[i] + share - 1) / (share ? share : 1)))
    command=${command//@SECONDS/$share} command=${command//@EACH/$each}
    echo "${command//@SEED/$2}"
}

# ---- Running ----

most_failures=5

# A round is a line of NAME.rounds: its exit code, seconds and seed. So what is stopped has its earlier rounds.
run() { # INDEX
    local i=$1 base=$folder/${names[$1]} began=$SECONDS round=0 failures=0 start code this
    trap 'exit 143' TERM # so that bash says nothing of it
    while [ $round = 0 ] || { [ "${units[i]}" = rounds ] && [ $code != 77 ] && [ $failures -lt $most_failures ] &&
        [ $((SECONDS - began)) -lt "${shares[i]}" ]; }; do
        start=$SECONDS code=0 this=$((seed + 1000 * round))
        echo "$ $(command_of "$i" $this)" >>"$base.log"
        bash -c "$(command_of "$i" $this)" >>"$base.log" 2>&1 </dev/null || code=$?
        echo "$code $((SECONDS - start)) $this" >>"$base.rounds"
        [ $code = 0 ] || [ $code = 77 ] || failures=$((failures + 1))
        round=$((round + 1))
    done
}

thousands() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }

# What a campaign's log counted.
cases() { # INDEX
    thousands "$(grep -av '^[$] ' "$folder/${names[$1]}.log" 2>/dev/null | grep -oE "[0-9]+ (${counts[$1]})" |
        awk '{ sum += $1 } END { print sum + 0 }')"
}

clock() { date +%H:%M:%S; }
process=() state=() started=() took=() stopping=""

# What became of it: "passed", "FAILED", "not run", "stopped".
judge() { # INDEX
    local i=$1 base=$folder/${names[$1]}
    if grep -qv -e '^0 ' -e '^77 ' "$base.rounds" 2>/dev/null; then
        state[i]=FAILED
    elif [ "${state[i]}" = running ]; then
        state[i]=passed
        ! grep -q '^77 ' "$base.rounds" || state[i]="not run"
        ! grep -aq '^\[  NOT RUN \]' "$base.log" || [ "$(cases "$i")" != 0 ] || state[i]="not run"
    fi
}

finish() { # INDEX
    local i=$1
    took[i]=$((SECONDS - started[i])) process[i]=""
    judge "$i"
    echo "$(clock)  ${names[i]}: ${state[i]}, $(cases "$i") cases, ${took[i]} s"
    [ "${state[i]}" != FAILED ] || tail -n 15 "$folder/${names[i]}.log" | sed 's/^/    /'
}

# Ends a campaign with all its processes, which are a group.
stop() { # INDEX STATE
    local group=-${process[$1]}
    kill -TERM -- "$group" 2>/dev/null || :
    for _ in {1..20}; do kill -0 -- "$group" 2>/dev/null && sleep 0.1 || break; done
    kill -KILL -- "$group" 2>/dev/null || :
    wait "${process[$1]}" 2>/dev/null || :
    state[$1]=$2
    finish "$1"
}

# The longest begin first. What takes twice its time and half an hour hangs, if it should end by itself.
run_all() {
    local i running told=$SECONDS
    local -a order
    mapfile -t order < <(for i in "${!names[@]}"; do echo "${shares[i]} $i"; done | sort -s -nr | cut -d' ' -f2)
    set -m
    while :; do
        running=0
        for i in "${order[@]}"; do
            [ -n "${process[i]:-}" ] || continue
            if ! kill -0 "${process[i]}" 2>/dev/null; then
                wait "${process[i]}" || :
                finish "$i"
            elif [ $((SECONDS - started[i])) -gt $((2 * shares[i] + 1800)) ]; then
                stop "$i" "$([ "${units[i]}" = whole ] && echo stopped || echo FAILED)"
            else
                running=$((running + 1))
            fi
        done
        for i in "${order[@]}"; do
            [ $running -lt "$jobs" ] && [ -z "$stopping" ] && [ -z "${state[i]:-}" ] || continue
            state[i]=running started[i]=$SECONDS
            run "$i" &
            process[i]=$! running=$((running + 1))
            echo "$(clock)  ${names[i]}: $((shares[i])) s, $(command_of "$i" "$seed")"
        done
        [ $running -gt 0 ] || break
        if [ $((SECONDS - told)) -ge 600 ]; then
            told=$SECONDS
            for i in "${order[@]}"; do
                [ -z "${process[i]:-}" ] || echo "$(clock)  ${names[i]}: $((SECONDS - started[i])) of ${shares[i]} s"
            done
        fi
        [ -z "$stopping" ] || for i in "${order[@]}"; do [ -z "${process[i]:-}" ] || stop "$i" stopped; done
        sleep 0.2
    done
}

# The command to run a campaign alone: with the seed of its failure, if there is one.
alone() { # INDEX
    local failed
    failed=$(awk '$1 != 0 && $1 != 77 { print $3; exit }' "$folder/${names[$1]}.rounds" 2>/dev/null || :)
    command_of "$1" "${failed:-$seed}"
}

table() {
    local i failures
    printf '\n%-18s  %-9s  %6s  %12s  %8s  %7s  %s\n' campaign state rounds cases failures seconds "run alone"
    for i in "${!names[@]}"; do
        failures=$(grep -cv -e '^0 ' -e '^77 ' "$folder/${names[i]}.rounds" 2>/dev/null || :)
        [ "${state[i]:-}" != FAILED ] || [ "${failures:-0}" != 0 ] || failures=1
        printf '%-18s  %-9s  %6s  %12s  %8s  %7s  %s\n' "${names[i]}" "${state[i]:-not begun}" \
            "$(cat "$folder/${names[i]}.rounds" 2>/dev/null | wc -l)" "$(cases "$i")" "${failures:-0}" \
            "${took[i]:-0}" "$(alone "$i")"
    done
}

trap 'stopping=130' INT TERM
export TMPDIR
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/trust.XXXXXX") # what is stopped leaves its folders
trap 'rm -rf "$TMPDIR"' EXIT
echo "${#names[@]} campaigns, $jobs at a time, $seconds s, seed $seed; logs in $folder"
run_all
table | tee "$folder/table"
! [[ " ${state[*]} " == *" FAILED "* ]] || exit 1
exit "${stopping:-0}"
