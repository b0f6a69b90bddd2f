/* calibrate.c: the columns that are measured; see calibrate.h. */
#include "engine/measure/calibrate.h"

#include <inttypes.h>
#include <stdlib.h>

/* Those that `auto` may take (storage/codec/chooser.c). */
static const enum codec_id codecs[CALIBRATE_CODECS] = {CODEC_PLAIN,    CODEC_NSF,      CODEC_GPU_FOR,
                                                       CODEC_LANE_FOR, CODEC_RANK_RLE, CODEC_LANE_SLICE};

static uint32_t next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 32);
}

/* Uniform values, or runs of 1 to 7 rows (mean 4) of them, as an order has lines: what rank-rle is for. */
static void fill(int32_t *values, uint32_t width, bool runs)
{
    uint64_t random = 20261121 + width;
    uint32_t value = 0, left = 0;
    for (uint32_t row = 0; row < CALIBRATE_ROWS; row++) {
        if (left == 0 || !runs) {
            value = next(&random) >> (32 - width);
            left = 1 + next(&random) % 7;
        }
        left--;
        values[row] = (int32_t)value;
    }
}

/* What each use must find, from the values as they were. */
static void expect(struct calibration *calibration, const int32_t *values)
{
    uint64_t *passing = calibration->passing;
    memset(passing, 0, sizeof calibration->passing);
    for (uint32_t row = 0; row < CALIBRATE_ROWS; row++) {
        const uint32_t value = (uint32_t)values[row];
        passing[CODEC_USE_COMPARE] += values[row] <= calibration->high;
        passing[CODEC_USE_PROBE] += calibration->bitmap[value / 32] >> value % 32 & 1;
    }
    for (uint32_t tile = 0; tile < CALIBRATE_TILES; tile++)
        for (uint32_t i = 0; i < CODEC_COST_FETCHED; i++)
            passing[CODEC_USE_FETCH] += (uint32_t)values[tile * TILE_ROWS + calibration->fetched[i]];
}

struct room {
    int32_t *values;
    uint32_t *bitmap;
    uint8_t *bytes;
};

static enum status measure_one(uint32_t index, const struct room *room, calibrate_measure *measure,
                               void *context, struct codec_costs *costs, struct error *error)
{
    const uint32_t w = index % CODEC_COST_WIDTHS, width = codec_cost_widths[w];
    struct calibration calibration = {.codec = codec_by_id(codecs[index / CODEC_COST_WIDTHS]),
                                      .width = width,
                                      .high = (int32_t)(1u << width) / 2 - 1,
                                      .bitmap = room->bitmap,
                                      .bitmap_words = width > 5 ? 1u << (width - 5) : 1};
    const enum codec_id id = calibration.codec->id;
    double ns[CODEC_USES];
    for (uint32_t i = 0; i < CODEC_COST_FETCHED; i++) /* one row of each 16, anywhere in them */
        calibration.fetched[i] = (uint16_t)(i * (TILE_ROWS / CODEC_COST_FETCHED) + (i * 2654435761u >> 28));
    fill(room->values, width, id == CODEC_RANK_RLE);
    expect(&calibration, room->values);
    const size_t size = calibration.codec->encode(room->values, CALIBRATE_ROWS, 4, room->bytes);
    RETURN_IF_ERROR(chunk_open(room->bytes, size, &calibration.chunk, error));
    RETURN_IF_ERROR(measure(context, index, &calibration, ns, error));
    for (uint32_t use = 0; use < CODEC_USES; use++)
        costs->ns[id][use][w] = ns[use];
    return STATUS_OK;
}

enum status calibrate_codecs(calibrate_measure *measure, void *context, struct progress *progress,
                             struct codec_costs *costs, struct error *error)
{
    const uint32_t bitmap_words = 1u << (codec_cost_widths[CODEC_COST_WIDTHS - 1] - 5);
    size_t bound = 0;
    for (uint32_t i = 0; i < CALIBRATE_CODECS; i++) {
        const size_t bytes = codec_by_id(codecs[i])->bound(CALIBRATE_ROWS, 4);
        bound = bytes > bound ? bytes : bound;
    }
    struct room room = {.values = aligned_alloc(128, CALIBRATE_ROWS * sizeof *room.values),
                        .bitmap = malloc(bitmap_words * sizeof *room.bitmap),
                        .bytes = aligned_alloc(128, bound)};
    enum status status = STATUS_OK;
    if (!room.values || !room.bitmap || !room.bytes)
        status = error_out_of_memory(error, bitmap_words * sizeof *room.bitmap, "calibrating");
    uint64_t random = 1;
    for (uint32_t word = 0; status == STATUS_OK && word < bitmap_words; word++)
        room.bitmap[word] = next(&random);
    for (uint32_t index = 0; status == STATUS_OK && index < CALIBRATIONS; index++) {
        progress_report(progress, "calibrating", "codecs and widths", index, CALIBRATIONS);
        status = cancel_check(error);
        if (status == STATUS_OK)
            status = measure_one(index, &room, measure, context, costs, error);
    }
    free(room.values);
    free(room.bitmap);
    free(room.bytes);
    return status;
}

enum status calibrate_check(const struct calibration *calibration, enum codec_use use, uint64_t chunks,
                            uint64_t found, struct error *error)
{
    const uint64_t expected = calibration->passing[use] * chunks;
    if (found == expected)
        return STATUS_OK;
    return error_set(error, STATUS_CHECK_FAILED, "%s at width %u: %s gives %" PRIu64 ", not %" PRIu64,
                     calibration->codec->name, calibration->width, codec_use_names[use], found, expected);
}
