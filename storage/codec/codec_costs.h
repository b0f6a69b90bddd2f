/*
 * codec_costs.h: what it costs a query to use a column, by codec: the table that `auto` chooses by.
 *
 * A table is of one device, measured by `tessera calibrate` (engine/measure/calibrate.c): nanoseconds a value for each
 * codec, each of the three uses that a column has in a query, and some widths; and how fast the device reads
 * memory. `auto` goes by the first of these that there is (codec_costs_in_use):
 *
 *     1. what the environment variable TESSERA_COSTS names: a built-in table, `cpu` for that of this processor, or a file
 *     2. the table of this machine's device that `tessera calibrate --keep` has left (codec_costs_kept_path)
 *     3. the device's built-in table: h200 for a GPU, cpu-avx512, cpu-avx2 or cpu-baseline for a CPU by its
 *        instruction set (storage/codec/costs/)
 *
 * The machine's device is its first GPU, else its CPU.
 *
 * The file is text, a line each; words are separated by spaces, a line that begins with # says nothing:
 *
 *     # Written by `tessera calibrate`.
 *     tessera-costs 1
 *     device NVIDIA H200                        for people
 *     read 4620.5                               bytes that are read from memory in a nanosecond
 *     widths 1 4 8 12 16 20 24 28               bits; these
 *     NAME compare 0.0003     0.0003 ...        codec, use, nanoseconds a value at each width
 *
 * A codec with a line for one use has one for each; `auto` never takes a codec without lines.
 */
#ifndef TESSERA_STORAGE_CODEC_CODEC_COSTS_H
#define TESSERA_STORAGE_CODEC_CODEC_COSTS_H

#include "storage/codec/codec.h"

#include <stdio.h>

#define CODEC_COST_WIDTHS 8u
extern const uint32_t codec_cost_widths[CODEC_COST_WIDTHS]; /* 1 .. 28, ascending */

enum codec_use {
    CODEC_USE_COMPARE, /* all rows of a tile with a range, from cache */
    CODEC_USE_PROBE,   /* all rows of a tile looked up in a near bitmap, from cache */
    CODEC_USE_FETCH,   /* 64 rows of each tile, from memory; nanoseconds a value fetched */
    CODEC_USES
};
extern const char *const codec_use_names[CODEC_USES];

/* The values of a tile that CODEC_USE_FETCH fetches, of 1024; and the weight of a value fetched against one
 * compared or probed. */
#define CODEC_COST_FETCHED 64u

#define CODEC_COSTS_DEVICE_BYTES 128
#define CODEC_COSTS_SOURCE_BYTES 512
struct codec_costs {
    char device[CODEC_COSTS_DEVICE_BYTES];
    char source[CODEC_COSTS_SOURCE_BYTES]; /* where it was read: a built-in table's name, or a file */
    double read_bytes_per_ns;
    double ns[CODEC_COUNT][CODEC_USES][CODEC_COST_WIDTHS]; /* a value; all 0: the codec is not in the table */
};

/* A bitmap of up to 2^20 rows, 128 KB, is near: in a block's shared memory on a GPU, in a core's cache. It is asked for
 * every row of a tile. One that is further away comes late in a query's order of steps and is asked for the survivors of
 * the steps before it: the tile is decoded as for a near one, and what those few rows then take is the same whatever the
 * codec. So probes are measured, and differ between codecs, up to this width; at wider ones they cost as much. */
#define CODEC_COST_NEAR_WIDTH 20u

/* What a query spends on a value of a column that takes `bytes` for `rows` values encoded so:
 *
 *     max(bytes / rows / read, use) + fetch * 64 / 1024
 *
 * `use` is compare, or probe, at most of CODEC_COST_NEAR_WIDTH, for row positions in another table.
 *
 * `width` is that of the values (the widest tile's); between the table's widths costs are interpolated, and
 * outside them they are those of the nearest. HUGE_VAL for a codec that is not in the table. */
double codec_costs_estimate(const struct codec_costs *costs, enum codec_id codec, uint64_t bytes,
                            uint32_t rows, uint32_t width, bool probed);

/* How the machine's GPU is found: *name gets its name, as "NVIDIA H200"; false if there is none that can be used. Set by
 * who can tell (engine/run/engine.h), before the first call below; nobody is asked if it is not needed. */
typedef bool codec_costs_find_gpu(char name[CODEC_COSTS_DEVICE_BYTES]);
void codec_costs_ask_gpu(codec_costs_find_gpu *find);

/* The table that `auto` goes by; read once, by whoever asks first. STATUS_BAD_INPUT as codec_costs_load. */
NODISCARD enum status codec_costs_in_use(const struct codec_costs **costs, struct error *error);

/* Where the table of a device is kept: .config/tessera/costs/ in the user's home, or what XDG_CONFIG_HOME names; `gpu` is a
 * GPU's name, NULL: the CPU. False if the environment names no home. */
bool codec_costs_kept_path(const char *gpu, char path[CODEC_COSTS_SOURCE_BYTES]);

/* A built-in table, "cpu" or a file. A file that is missing or no such table: STATUS_BAD_INPUT with its name, line and
 * field. */
NODISCARD enum status codec_costs_load(const char *name, struct codec_costs *costs, struct error *error);
NODISCARD enum status codec_costs_parse(const char *name, const char *text, struct codec_costs *costs,
                                        struct error *error);

/* Four significant digits; what is written is read back equal once it has been rounded so. */
void codec_costs_write(const struct codec_costs *costs, FILE *file);

#endif
