#!/usr/bin/env bash
# ncu-byte-streams.sh: why the decoders of byte streams wait: `tessera lab byte-streams` under Nsight Compute. It prints the
# table, in Markdown, that stands for figures 2, 3, 5 and 6 of CODAG (Park et al., 2023): stalls by reason, issue slots, and the throughput of
# computing and of memory, of the thread block that RAPIDS gives to a block, of the warp as published, and of ours.
#
#     tests/ncu-byte-streams.sh [--scale F] [--csv FOLDER] [TESSERA]
#
#     --scale     of the sets (0.02); the number of blocks does not depend on it
#     --csv       keeps what ncu and the program printed, SET.csv and SET.out, in this folder
#     TESSERA     the program (build/gpu/tessera)
#
# The sets are MC0 and TPC, as in the paper. The first launch of each kernel is measured, on half as many blocks as the GPU has
# warps; two to four minutes. It needs a GPU whose counters may be read (as root, or with the driver's
# NVreg_RestrictProfilingToAdminUsers=0); NCU names the profiler, if it is not on the path.
set -euo pipefail
cd "$(dirname "$0")/.."

ncu=${NCU:-ncu} scale=0.02 folder='' tessera=build/gpu/tessera
while [ $# -gt 0 ]; do
    case $1 in
    --scale) scale=$2 && shift ;;
    --csv) folder=$2 && shift ;;
    -*) echo "ncu-byte-streams.sh: there is no option $1; see the head of the file" >&2 && exit 2 ;;
    *) tessera=$1 ;;
    esac
    shift
done
if ! command -v "$ncu" >/dev/null; then
    echo "ncu-byte-streams.sh: $ncu is not installed; it comes with the CUDA toolkit, and NCU names another" >&2 && exit 3
fi
if ! [ -x "$tessera" ]; then
    echo "ncu-byte-streams.sh: there is no program $tessera; tests/gpu.sh builds build/gpu/tessera" >&2 && exit 2
fi
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"

# Every reason for which a warp does not issue, of Volta and later; one that a GPU does not know is missing in its table.
reasons=(barrier branch_resolving dispatch_stall drain gmma imc_miss lg_throttle long_scoreboard math_pipe_throttle membar
    mio_throttle misc no_instruction short_scoreboard sleeping tex_throttle wait)
metrics=sm__throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed
metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active
metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active
for pipe in alu fma lsu; do metrics+=,sm__inst_executed_pipe_$pipe.avg.pct_of_peak_sustained_active; done
for reason in "${reasons[@]}"; do metrics+=,smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio; done

# profile SET: the clocks are left alone, because figures are shares of cycles.
profile() {
    rm -f "$folder/$1.csv"
    "$ncu" --csv --page raw --print-units base --clock-control none --metrics "$metrics" --log-file "$folder/$1.csv" \
        --kernel-id '::regex:^decode_(rle1|rle2|deflate)_(baseline|published|ours)$:1' \
        "$tessera" lab byte-streams --sets "$1" --device cuda --scale "$scale" --repeat 1 --format csv \
        >"$folder/$1.out" 2>&1 && grep -q '"decode_' "$folder/$1.csv" && return
    echo "ncu-byte-streams.sh: $ncu measured nothing of $1; its last lines and those of the program:" >&2
    for log in "$folder/$1.csv" "$folder/$1.out"; do if [ -e "$log" ]; then tail -n 5 "$log" >&2; fi; done
    exit 3
}
for set in MC0 TPC; do profile "$set"; done

# ncu's lines have every cell in quotation marks: a head with "Kernel Name" and the metrics, a line of units, a line a kernel.
# Its messages stand among them. Warps that issue, or that another warp is preferred to, do not count as stalled.
awk '
    function of(metric) { # the cell of this line, or -1
        if (!(metric in column)) return -1
        value = cell[column[metric]]
        gsub(/,/, "", value)
        return value ~ /^[0-9.]+([eE][-+]?[0-9]+)?$/ ? value + 0 : -1
    }
    function stalled(reason) { return of("smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio") }
    function stall(reason) { return stalled(reason) < 0 ? 0 : value }
    function percent(metric) { return shown(of(metric)) }
    function shown(number) { return number < 0 ? "-" : sprintf("%.1f", number) }
    function paper(key) { return (key in claims) ? claims[key] : "" }
    function line(format, set, decoder,   f) { # and the cells of `row`
        printf "| %-7s | %-3s | %-19s |", format, set, decoder
        for (f = 1; f <= fields; f++) printf " %*s |", width[f], row[f]
        print ""
    }
    BEGIN {
        split("rle1 rle2 deflate", formats, " ")
        name["rle1"] = "RLE v1"; name["rle2"] = "RLE v2"; name["deflate"] = "Deflate"
        split("baseline published ours", decoders, " ")
        name["baseline"] = "thread block"; name["published"] = "warp, as published"; name["ours"] = "ours"
        fields = split("compute memory DRAM issue warps barrier branch wait math long short other ALU FMA LSU", head, " ")
        for (f = 1; f <= fields; f++) width[f] = length(head[f]) < 5 ? 5 : length(head[f])
        # What the text says of RAPIDS on an A100, "up to" and "less than", of MC0 and TPC together; its figures have no numbers.
        claims["rle1", "barrier"] = "<=80"; claims["rle1", "branch"] = "<=20"
        claims["deflate", "compute"] = "<=65"; claims["deflate", "memory"] = "<25"
        claims["deflate", "ALU"] = "<=55"; claims["deflate", "FMA"] = "<=35"; claims["deflate", "LSU"] = "<=20"
    }
    FNR == 1 { set = FILENAME; sub(/.*\//, "", set); sub(/\.csv$/, "", set); sets[++set_count] = set; split("", column) }
    /^".*"\r?$/ {
        text = $0
        sub(/\r$/, "", text)
        count = split(substr(text, 2, length(text) - 2), cell, /","/)
        if (/"Kernel Name"/) { for (c = 1; c <= count; c++) column[cell[c]] = c; next }
        if (!("Kernel Name" in column)) next
        kernel = cell[column["Kernel Name"]]
        sub(/\(.*/, "", kernel)
        if (split(kernel, part, "_") != 3 || part[1] != "decode" || (set, part[2], part[3]) in seen) next
        all = 0
        for (r in reason_list) delete reason_list[r]
        split(reasons, reason_list, " ")
        for (r in reason_list) all += stall(reason_list[r])
        at = set SUBSEP part[2] SUBSEP part[3]
        seen[at] = 1
        cells[at] = percent("sm__throughput.avg.pct_of_peak_sustained_elapsed") \
            " " percent("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") \
            " " percent("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") \
            " " percent("smsp__issue_active.avg.pct_of_peak_sustained_active") \
            " " percent("sm__warps_active.avg.pct_of_peak_sustained_active")
        named = 0
        split("barrier branch_resolving wait math_pipe_throttle long_scoreboard short_scoreboard", of_table, " ")
        for (r = 1; r <= 6; r++) {
            cells[at] = cells[at] " " (all > 0 ? shown(100 * stalled(of_table[r]) / all) : "-")
            named += stall(of_table[r])
        }
        cells[at] = cells[at] " " (all > 0 ? sprintf("%.1f", 100 * (all - named) / all) : "-")
        for (p = fields - 2; p <= fields; p++)
            cells[at] = cells[at] " " \
                percent("sm__inst_executed_pipe_" tolower(head[p]) ".avg.pct_of_peak_sustained_active")
    }
    END {
        print "% of peak throughput (compute, memory, DRAM), of issue slots and of warps; of stalled warps by reason; of each pipe"
        print ""
        for (f = 1; f <= fields; f++) row[f] = head[f]
        line("format", "set", "decoder")
        for (f = -2; f <= fields; f++) printf "%s", (f < fields ? "|---" : "|---|\n")
        for (i = 1; i <= 3; i++) {
            for (f = 1; f <= fields; f++) row[f] = paper(formats[i] SUBSEP head[f])
            line(name[formats[i]], "", "thread block, paper")
            for (s = 1; s <= set_count; s++)
                for (d = 1; d <= 3; d++) {
                    at = sets[s] SUBSEP formats[i] SUBSEP decoders[d]
                    if (!(at in cells)) missing = missing " " sets[s] "." formats[i] "." decoders[d]
                    split((at in cells) ? cells[at] : "", row, " ")
                    for (f = 1; f <= fields; f++) if (!(f in row)) row[f] = "-"
                    line(name[formats[i]], sets[s], name[decoders[d]])
                }
        }
        if (missing) { print "ncu-byte-streams.sh: not measured:" missing > "/dev/stderr"; exit 1 }
    }' reasons="${reasons[*]}" "$folder/MC0.csv" "$folder/TPC.csv"
