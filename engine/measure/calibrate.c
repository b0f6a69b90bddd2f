/* calibrate.c: makes the columns that are measured; see calibrate.h. */
#include "engine/measure/calibrate.h"

#include <inttypes.h>
#include <stdlib.h>

uint32_t calibrate_codec_count(void)
{
    uint32_t count = 0;
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        count += (codec_by_id(id)->choosers & CHOSEN_BY(CHOOSER_AUTO)) != 0;
    return count;
}

/* The index-th codec that `auto` may choose. */
static const struct codec *codec_at(uint32_t index)
{
    uint32_t id = 0;
    do
        index -= (codec_by_id(++id)->choosers & CHOSEN_BY(CHOOSER_AUTO)) != 0;
    while (index != UINT32_MAX);
    return codec_by_id(id);
}

size_t calibrate_chunk_bytes(void)
{
    size_t most = 0;
    for (uint32_t i = 0; i < calibrate_codec_count(); i++) {
        const size_t bound = codec_at(i)->bound(CALIBRATE_ROWS, sizeof(int32_t));
        most = bound > most ? bound : most;
    }
    return most;
}

static uint32_t next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 32);
}

/* Fills in runs of 1 to 7 rows (mean 4) of uniform values, as an order has lines. All codecs get the same
 * values, because a bitmap is faster if neighbours probe the same bit. */
static void fill(int32_t *values, uint32_t width)
{
    uint64_t random = 20261121 + width;
    uint32_t value = 0, left = 0;
    for (uint32_t row = 0; row < CALIBRATE_ROWS; row++) {
        if (left == 0) {
            value = next(&random) >> (32 - width);
            left = 1 + next(&random) % 7;
        }
        left--;
        values[row] = (int32_t)value;
    }
}

/* Computes from the original values what each use must find. */
static void expect(struct calibration *calibration, const int32_t *values)
{
    uint64_t *passing = calibration->passing;
    memset(passing, 0, sizeof calibration->passing);
    for (uint32_t row = 0; row < CALIBRATE_ROWS; row++) {
        const uint32_t value = (uint32_t)values[row];
        passing[CODEC_USE_COMPARE] += values[row] <= calibration->high;
        if (calibration->bitmap)
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
    struct calibration calibration = {.codec = codec_at(index / CODEC_COST_WIDTHS),
                                      .width = width,
                                      .high = (int32_t)(1u << width) / 2 - 1,
                                      .bitmap = width <= CODEC_COST_NEAR_WIDTH ? room->bitmap : NULL,
                                      .bitmap_words = width > CODEC_COST_NEAR_WIDTH ? 0
                                                      : width > 5                   ? 1u << (width - 5)
                                                                                    : 1};
    const enum codec_id id = calibration.codec->id;
    double ns[CODEC_USES];
    for (uint32_t i = 0; i < CODEC_COST_FETCHED; i++) /* a random row of each 16 */
        calibration.fetched[i] = (uint16_t)(i * (TILE_ROWS / CODEC_COST_FETCHED) + (i * 2654435761u >> 28));
    fill(room->values, width);
    expect(&calibration, room->values);
    const struct codec_input input = {.values = room->values,
                                      .rows = CALIBRATE_ROWS,
                                      .value_bytes = sizeof *room->values,
                                      .bits = width, /* of a codec that keeps leading bits apart, all are */
                                      .planes = width};
    const size_t size = calibration.codec->encode(&input, room->bytes);
    RETURN_IF_ERROR(chunk_open(room->bytes, size, &calibration.chunk, error));
    RETURN_IF_ERROR(measure(context, index, &calibration, ns, error));
    if (!calibration.bitmap)
        ns[CODEC_USE_PROBE] = costs->ns[id][CODEC_USE_PROBE][w - 1]; /* that of the widest near one */
    for (uint32_t use = 0; use < CODEC_USES; use++)
        costs->ns[id][use][w] = ns[use];
    return STATUS_OK;
}

enum status calibrate_codecs(calibrate_measure *measure, void *context, struct progress *progress,
                             struct codec_costs *costs, struct error *error)
{
    const uint32_t bitmap_words = 1u << (CODEC_COST_NEAR_WIDTH - 5);
    const uint32_t calibrations = calibrate_codec_count() * CODEC_COST_WIDTHS;
    struct room room = {.values = aligned_alloc(128, CALIBRATE_ROWS * sizeof *room.values),
                        .bitmap = malloc(bitmap_words * sizeof *room.bitmap),
                        .bytes = aligned_alloc(128, calibrate_chunk_bytes())};
    enum status status = STATUS_OK;
    if (!room.values || !room.bitmap || !room.bytes)
        status = error_out_of_memory(error, bitmap_words * sizeof *room.bitmap, "calibrating");
    uint64_t random = 1;
    for (uint32_t word = 0; status == STATUS_OK && word < bitmap_words; word++)
        room.bitmap[word] = next(&random);
    for (uint32_t index = 0; status == STATUS_OK && index < calibrations; index++) {
        progress_report(progress, "calibrating", "codecs and widths", index, calibrations);
        status = cancel_check(error);
        status = AND_THEN(status, measure_one(index, &room, measure, context, costs, error));
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
