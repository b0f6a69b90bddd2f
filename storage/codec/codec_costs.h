/*
 * codec_costs.h: the cost table by which `auto` chooses: what a column costs a query, by codec.
 *
 * A table belongs to one device and is measured by `tessera calibrate` (engine/measure/calibrate.c). It has
 * nanoseconds a value for each codec, each of the three uses of a column in a query, and some widths; and the
 * speed at which the device reads memory. `auto` uses the first of these that exists (codec_costs_in_use):
 *
 *     1. the table that the environment variable TESSERA_COSTS names: a built-in table, `cpu` for the
 *        built-in table of this processor, or a file
 *     2. the table of this machine's device that `tessera calibrate --keep` has written
 *        (codec_costs_kept_path)
 *     3. the device's built-in table (storage/codec/costs/): h200 for a GPU; cpu-avx512, cpu-avx2 or
 *        cpu-baseline for a CPU, by its instruction set
 *
 * The machine's device is its first GPU, or its CPU if it has none.
 *
 * The file is text. Words are separated by spaces; a line that begins with # is a comment:
 *
 *     # Written by `tessera calibrate`.
 *     tessera-costs 1
 *     device NVIDIA H200                        for people
 *     read 4620.5                               bytes read from memory in a nanosecond
 *     widths 1 4 8 12 16 20 24 28               bits; always these
 *     NAME compare 0.0003     0.0003 ...        codec, use, nanoseconds a value at each width
 *
 * A codec with a line for one use has a line for each use; `auto` never chooses a codec without lines, unless those of
 * another codec stand for them (codec.costs_like).
 */
#ifndef TESSERA_STORAGE_CODEC_CODEC_COSTS_H
#define TESSERA_STORAGE_CODEC_CODEC_COSTS_H

#include "storage/codec/codec.h"

#include <stdio.h>

#define CODEC_COST_WIDTHS 8u
extern const uint32_t codec_cost_widths[CODEC_COST_WIDTHS]; /* 1 .. 28, ascending */

enum codec_use {
    CODEC_USE_COMPARE, /* compare all rows of a tile with a range, from cache */
    CODEC_USE_PROBE,   /* look up all rows of a tile in a near bitmap, from cache */
    CODEC_USE_FETCH,   /* fetch 64 rows of each tile, from memory; nanoseconds a fetched value */
    CODEC_USES
};
extern const char *const codec_use_names[CODEC_USES];

/* The number of values, of a tile's 1024, that CODEC_USE_FETCH fetches. The estimate weights a fetched value
 * by 64 / 1024. */
#define CODEC_COST_FETCHED 64u

#define CODEC_COSTS_DEVICE_BYTES 128
#define CODEC_COSTS_SOURCE_BYTES 512
struct codec_costs {
    char device[CODEC_COSTS_DEVICE_BYTES];
    char source[CODEC_COSTS_SOURCE_BYTES]; /* where it was read: a built-in table's name, or a file */
    double read_bytes_per_ns;
    double ns[CODEC_COUNT][CODEC_USES][CODEC_COST_WIDTHS]; /* all 0: the codec is not in the table */
};

/* A bitmap of up to 2^20 rows, 128 KB, is near: it fits a block's shared memory on a GPU, or a core's cache.
 * It is probed for every row of a tile. A larger bitmap comes late in a query's order of steps and is probed
 * only for the survivors of the steps before it. The tile is decoded as for a near bitmap, and the time that
 * those few rows then take is the same for all codecs. So the costs of probes are measured up to this width,
 * and a wider column has the costs of this width. */
#define CODEC_COST_NEAR_WIDTH 20u

/* Estimates what a query spends on a value of a column whose `rows` values take `bytes` in the codec:
 *
 *     max(bytes / rows / read, use) + fetch * 64 / 1024
 *
 * `use` is compare. For probed columns, which are positions in another table, it is probe, at the width
 * of the column or CODEC_COST_NEAR_WIDTH, whichever is less.
 *
 * `width` is the width of the widest tile. Costs between the table's widths are interpolated; outside they
 * are those of the nearest width. HUGE_VAL for a codec that is not in the table. */
double codec_costs_estimate(const struct codec_costs *costs, enum codec_id codec, uint64_t bytes,
                            uint32_t rows, uint32_t width, bool probed);

/* The same for a key of a table with levels, in a codec that keeps `planes` of its `bits` bits apart (codec.planes):
 *
 *     max(half / 8 / read, compare at half) + fetch at (planes + rest) * 64 / 1024
 *
 * `half` is half of the planes: conditions name some levels, most often not the lowest one. A plane is an eighth of a byte a
 * row, and comparing it takes as long as comparing a column of planes that is as narrow. A whole value takes a load for each
 * plane, and two for the bits that are no planes: `rest` is 2, or 0 if there are none. A table that has no lines of the
 * codec is read at those of codec.costs_like. */
double codec_costs_estimate_planes(const struct codec_costs *costs, enum codec_id codec, uint32_t bits,
                                   uint32_t planes);

/* The candidate that codec_choose takes (codec.h); its `bytes` are 0 if there is none. */
const struct codec_candidate *codec_candidates_best(const struct codec_choice *choice,
                                                    const struct codec_candidate candidates[CODEC_COUNT - 1]);

/* Finds the machine's GPU: *name gets its name, as "NVIDIA H200"; false if there is none that can be used.
 * engine/run/engine.h sets it before the first call below. It is called only if a table is needed. */
typedef bool codec_costs_find_gpu(char name[CODEC_COSTS_DEVICE_BYTES]);
void codec_costs_ask_gpu(codec_costs_find_gpu *find);

/* Gives the table that `auto` uses. It is read at the first call. STATUS_BAD_INPUT as codec_costs_load. */
NODISCARD enum status codec_costs_in_use(const struct codec_costs **costs, struct error *error);

/* Gives the path at which the table of a device is kept: in tessera/costs/ under XDG_CONFIG_HOME, or under
 * .config of the user's home. `gpu` is the name of a GPU, or NULL for the CPU. False if the environment names
 * no home. */
bool codec_costs_kept_path(const char *gpu, char path[CODEC_COSTS_SOURCE_BYTES]);

/* Loads a table: a built-in one, "cpu" or a file. STATUS_BAD_INPUT, with name, line and field, if the file is
 * missing or is not such a table. */
NODISCARD enum status codec_costs_load(const char *name, struct codec_costs *costs, struct error *error);
NODISCARD enum status codec_costs_parse(const char *name, const char *text, struct codec_costs *costs,
                                        struct error *error);

/* Writes a table with four significant digits. A table that was written and read is written the same
 * again. */
void codec_costs_write(const struct codec_costs *costs, FILE *file);

#endif
