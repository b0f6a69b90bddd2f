/*
 * calibrate.h: measures a table of costs (storage/codec/codec_costs.h) on this machine: what `auto` chooses by.
 *
 * A column of 2^20 made values is encoded with each codec that `auto` may take, at each width of the table;
 * then the tile dialect's own words run over it: tile_filter, tile_semi_join, and tile_fetch with tile_value
 * for 64 rows of each tile. What they count and sum is checked. Filters run over tiles that lie in the cache,
 * because what memory costs is known from the bytes; fetching runs over more than caches hold. The least of
 * some rounds counts.
 */
#ifndef TESSERA_ENGINE_MEASURE_CALIBRATE_H
#define TESSERA_ENGINE_MEASURE_CALIBRATE_H

#include "engine/cuda/cuda.h"
#include "operators/dialect/tile_cpu.h"
#include "storage/codec/codec_costs.h"
#include "storage/base/parallel.h"

#define CALIBRATE_ROWS  (1u << 20)
#define CALIBRATE_TILES (CALIBRATE_ROWS / TILE_ROWS)

/* One codec at one width. */
struct calibration {
    const struct codec *codec;
    uint32_t width;
    struct chunk_view chunk; /* of CALIBRATE_ROWS values of 0 .. 2^width-1 */
    int32_t high;            /* tile_filter keeps 0 .. high: half of them */
    const uint32_t
        *bitmap; /* of 2^width bits, bit r%32 of word r/32; half are set. NULL above CODEC_COST_NEAR_WIDTH */
    uint32_t bitmap_words;
    uint16_t fetched[CODEC_COST_FETCHED]; /* rows of every tile, ascending */
    uint64_t
        passing[CODEC_USES]; /* rows of a chunk that compare and probe keep; the sum of what is fetched */
};

/* Codecs that `auto` may take, and the most bytes that a chunk of any of them has. */
uint32_t calibrate_codec_count(void);
size_t calibrate_chunk_bytes(void);

#define CALIBRATIONS_MAX ((CODEC_COUNT - 1) * CODEC_COST_WIDTHS)

/* Nanoseconds a value for each use, checked, but for the probe where there is no bitmap; index: a number for each codec and width, from 0. */
typedef enum status calibrate_measure(void *context, uint32_t index, const struct calibration *calibration,
                                      double ns[CODEC_USES], struct error *error);

/* Makes the column of each codec and width in turn and has it measured; fills costs->ns. */
NODISCARD enum status calibrate_codecs(calibrate_measure *measure, void *context, struct progress *progress,
                                       struct codec_costs *costs, struct error *error);

/* A whole table. The processor's costs are of one thread, with its share of what all `threads` together read;
 * 2 to 10 seconds, on a GPU most of it for compiling 60 kernels on `threads` threads. STATUS_CHECK_FAILED if a
 * kernel counts wrongly. */
NODISCARD enum status calibrate_cpu(unsigned threads, struct progress *progress, struct codec_costs *costs,
                                    struct error *error);
NODISCARD enum status calibrate_cuda(struct cuda *cuda, unsigned threads, struct progress *progress,
                                     struct codec_costs *costs, struct error *error);

/* The text of the kernels compare, probe and fetch for that column, the caller's to free. */
NODISCARD enum status calibrate_kernel_source(const struct calibration *calibration, char **source,
                                              struct error *error);

/* STATUS_CHECK_FAILED with its sentence unless `found` is what one chunk gives, `chunks` times. */
NODISCARD enum status calibrate_check(const struct calibration *calibration, enum codec_use use,
                                      uint64_t chunks, uint64_t found, struct error *error);

/* engine/measure/calibrate_tiles.c, once for each instruction set: the use of the tiles, and what it counts or sums. */
typedef uint64_t calibrate_tiles(enum codec_use use, struct tile_column *column,
                                 const struct tile_dimension *dimension, const tile_mask *fetched,
                                 uint32_t tiles, struct tile_list *list);
calibrate_tiles calibrate_tiles_baseline, calibrate_tiles_avx2, calibrate_tiles_avx512;

#endif
