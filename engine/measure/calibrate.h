/*
 * calibrate.h: measures a cost table (storage/codec/codec_costs.h) on this machine, by which `auto` chooses.
 *
 * A column of 2^20 generated values is encoded with each codec that `auto` may choose, at each width of the
 * table. Then the operators of the tile dialect run over it: tile_filter, tile_semi_join, and tile_fetch with
 * tile_value for 64 rows of each tile. Their counts and sums are checked. Filters run over tiles in the
 * cache, because the cost of memory follows from the bytes. Fetching runs over more data than the caches
 * hold. The result is the least of some rounds.
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
    int32_t high;            /* tile_filter keeps 0 .. high: half of the values */

    /* 2^width bits, bit r%32 of word r/32; half are set. NULL above CODEC_COST_NEAR_WIDTH. */
    const uint32_t *bitmap;
    uint32_t bitmap_words;
    uint16_t fetched[CODEC_COST_FETCHED]; /* rows of every tile, ascending */

    /* What each use must find in a chunk: the rows that compare and probe keep, and the sum of the fetched
     * values. */
    uint64_t passing[CODEC_USES];
};

/* The number of codecs that `auto` may choose, and the most bytes of a chunk of any of them. */
uint32_t calibrate_codec_count(void);
size_t calibrate_chunk_bytes(void);

#define CALIBRATIONS_MAX ((CODEC_COUNT - 1) * CODEC_COST_WIDTHS)

/* Measures and checks one codec and width: nanoseconds a value for each use, but not for the probe if there
 * is no bitmap. `index` numbers codecs and widths from 0. */
typedef enum status calibrate_measure(void *context, uint32_t index, const struct calibration *calibration,
                                      double ns[CODEC_USES], struct error *error);

/* Makes the column of each codec and width in turn, calls `measure`, and fills costs->ns. */
NODISCARD enum status calibrate_codecs(calibrate_measure *measure, void *context, struct progress *progress,
                                       struct codec_costs *costs, struct error *error);

/* Measures a whole table, in 2 to 10 seconds. The processor's costs are those of one thread, with its share
 * of the read rate of all `threads`. On a GPU, compiling 60 kernels on `threads` threads takes most of the
 * time. STATUS_CHECK_FAILED if a kernel counts wrongly. `once`: every kernel runs over few chunks, which checks
 * what it counts; the costs tell little. */
NODISCARD enum status calibrate_cpu(unsigned threads, struct progress *progress, struct codec_costs *costs,
                                    struct error *error);
NODISCARD enum status calibrate_cuda(struct cuda *cuda, unsigned threads, bool once,
                                     struct progress *progress, struct codec_costs *costs,
                                     struct error *error);

/* Makes the text of the kernels compare, probe and fetch for that column; the caller frees it. */
NODISCARD enum status calibrate_kernel_source(const struct calibration *calibration, char **source,
                                              struct error *error);

/* STATUS_CHECK_FAILED with its sentence unless `found` is `chunks` times the result of one chunk. */
NODISCARD enum status calibrate_check(const struct calibration *calibration, enum codec_use use,
                                      uint64_t chunks, uint64_t found, struct error *error);

/* engine/measure/calibrate_tiles.c, once for each instruction set: uses the tiles and returns the count or
 * the sum. */
typedef uint64_t calibrate_tiles(enum codec_use use, struct tile_column *column,
                                 const struct tile_dimension *dimension, const tile_mask *fetched,
                                 uint32_t tiles, struct tile_list *list);
calibrate_tiles calibrate_tiles_baseline, calibrate_tiles_avx2, calibrate_tiles_avx512;

#endif
