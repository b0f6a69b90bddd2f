/* calibrate_cpu.c: measures costs on this machine's processor; see calibrate.h. Times are wall times of one
 * thread, the least of ROUNDS, so that other work on the machine disturbs them least. */
#include "engine/measure/calibrate.h"
#include "engine/measure/ceiling.h"
#include "storage/base/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define HOT_TILES 64u /* 256 KB of plain values: they stay in the second-level cache */
#define HOT_TURNS 8u
#define COPIES    16u /* chunks that are fetched from: 64 MB of plain values */
#define ROUNDS    9

struct bench {
    calibrate_tiles *tiles;
    struct tile_list *list;
    int32_t *buffer;
    uint8_t *copies;
};

/* Measures one use. The hot tiles are only a part of the chunk, so the result is checked once over the whole
 * chunk. */
static enum status measure_use(const struct bench *bench, const struct calibration *calibration,
                               enum codec_use use, const struct chunk_view *views, double *ns,
                               struct error *error)
{
    struct tile_column column = {.needed = UINT32_MAX,
                                 .chunk = &calibration->chunk,
                                 .buffer = bench->buffer,
                                 .low = 0,
                                 .high = calibration->high};
    const struct tile_dimension dimension = {.bitmap = calibration->bitmap};
    const bool fetches = use == CODEC_USE_FETCH;
    tile_mask fetched = {{0}};
    for (uint32_t i = 0; i < CODEC_COST_FETCHED; i++)
        fetched.bits[calibration->fetched[i] / 64] |= 1ull << calibration->fetched[i] % 64;
    RETURN_IF_ERROR(calibrate_check(
        calibration, use, 1, bench->tiles(use, &column, &dimension, &fetched, CALIBRATE_TILES, bench->list),
        error));
    double best = 1e30;
    uint64_t counted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = clock_ns();
        for (uint32_t turn = 0; turn < (fetches ? COPIES : HOT_TURNS); turn++) {
            if (fetches)
                column.chunk = &views[turn];
            counted += bench->tiles(use, &column, &dimension, &fetched, fetches ? CALIBRATE_TILES : HOT_TILES,
                                    bench->list);
        }
        const double time = clock_ns() - begin;
        best = time < best ? time : best;
    }
    if (fetches)
        RETURN_IF_ERROR(calibrate_check(calibration, use, (uint64_t)ROUNDS * COPIES, counted, error));
    *ns = best / (fetches ? (double)COPIES * CALIBRATE_TILES * CODEC_COST_FETCHED
                          : (double)HOT_TURNS * HOT_TILES * TILE_ROWS);
    return STATUS_OK;
}

static enum status measure(void *context, uint32_t index, const struct calibration *calibration,
                           double ns[CODEC_USES], struct error *error)
{
    const struct bench *bench = context;
    struct chunk_view views[COPIES];
    (void)index;
    for (uint32_t copy = 0; copy < COPIES; copy++) {
        uint8_t *bytes = bench->copies + copy * calibration->chunk.size;
        memcpy(bytes, calibration->chunk.bytes, calibration->chunk.size);
        RETURN_IF_ERROR(chunk_open(bytes, calibration->chunk.size, &views[copy], error));
    }
    for (uint32_t use = 0; use < CODEC_USES; use++)
        if (use != CODEC_USE_PROBE || calibration->bitmap)
            RETURN_IF_ERROR(measure_use(bench, calibration, (enum codec_use)use, views, &ns[use], error));
    return STATUS_OK;
}

enum status calibrate_cpu(unsigned threads, struct progress *progress, struct codec_costs *costs,
                          struct error *error)
{
    const size_t copies_bytes = COPIES * calibrate_chunk_bytes();
    struct bench bench = {.tiles = ISA_CHOICE(calibrate_tiles),
                          .list = aligned_alloc(64, (sizeof *bench.list + 63) / 64 * 64),
                          .buffer = aligned_alloc(64, TILE_ROWS * sizeof *bench.buffer),
                          .copies = aligned_alloc(128, copies_bytes)};
    enum status status = STATUS_OK;
    if (!bench.list || !bench.buffer || !bench.copies)
        status = error_out_of_memory(error, copies_bytes, "calibrating");
    else
        memset(bench.list, 0, sizeof *bench.list);
    double read = 0;
    status = AND_THEN(status, ceiling_cpu(threads, &read, error));
    costs->read_bytes_per_ns = read / threads / 1e9;
    status = AND_THEN(status, calibrate_codecs(measure, &bench, progress, costs, error));
    free(bench.list);
    free(bench.buffer);
    free(bench.copies);
    return status;
}
