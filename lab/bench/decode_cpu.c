/* decode_cpu.c: see decode.h; the processor. */
#include "lab/bench/decode.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"

#include <stdlib.h>
#include <string.h>

#define ITEM_TILES 64u /* of a thread's item: 256 KiB of values; whole blocks of byte streams */

struct decoding {
    const struct encoded *encoded;
    uint32_t tiles, chunk_tiles; /* chunk_tiles: of every chunk but the last */
    int32_t *out;                /* `tiles` tiles; NULL: tiles are summed */
    _Atomic uint32_t sum;        /* modulo 2^32 */
};

static uint32_t sum_rows(const int32_t *values, uint32_t rows)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < rows; i++)
        sum += (uint32_t)values[i];
    return sum;
}

static enum status decode_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct decoding *const decoding = context;
    const struct encoded *const encoded = decoding->encoded;
    const uint32_t first = (uint32_t)item * ITEM_TILES, left = decoding->tiles - first;
    const uint32_t end = first + (left < ITEM_TILES ? left : ITEM_TILES);
    struct chunk_reader reader = {0};
    enum status status = cancel_check(error);
    uint32_t sum = 0;
    (void)thread;
    for (uint32_t tile = first; status == STATUS_OK && tile < end;) {
        const struct chunk_view *const chunk = &encoded->chunks[tile / decoding->chunk_tiles];
        const uint32_t of_chunk = tile % decoding->chunk_tiles, rows = chunk->rows - of_chunk * TILE_ROWS;
        const uint32_t unit = chunk_unit_tiles(chunk), tiles = unit < end - tile ? unit : end - tile;
        const void *values;
        if (decoding->out) {
            status = chunk_decode(chunk, of_chunk, tiles, decoding->out + (size_t)tile * TILE_ROWS, error);
            tile += tiles;
            continue;
        }
        status = chunk_reader_tile(&reader, chunk, of_chunk, &values, error);
        if (status == STATUS_OK)
            sum += sum_rows(values, rows < TILE_ROWS ? rows : TILE_ROWS);
        tile++;
    }
    chunk_reader_close(&reader);
    decoding->sum += sum;
    return status;
}

static enum status decode_once(struct lab *lab, struct decoding *decoding, double *ms, struct error *error)
{
    const double begin = clock_ms();
    decoding->sum = 0;
    RETURN_IF_ERROR(parallel_for(lab->threads, (decoding->tiles + ITEM_TILES - 1) / ITEM_TILES, decode_item,
                                 decoding, error));
    *ms = clock_ms() - begin;
    return STATUS_OK;
}

/* Once unmeasured and checked, then timed. */
static enum status measure(struct lab *lab, const struct dataset *dataset, struct decoding *decoding,
                           double *times, struct speed *speed, struct error *error)
{
    double ms;
    RETURN_IF_ERROR(decode_once(lab, decoding, &ms, error));
    if (decoding->out ? memcmp(decoding->out, dataset->values, dataset->rows * sizeof *dataset->values) != 0
                      : decoding->sum != dataset->sum)
        return error_set(error, STATUS_CHECK_FAILED, "%s decodes to other values%s",
                         decoding->encoded->codec->name, decoding->out ? "" : " when it sums");
    for (uint32_t i = 0; i < lab->repeat; i++)
        RETURN_IF_ERROR(decode_once(lab, decoding, &times[i], error));
    *speed = speed_of(times, lab->repeat);
    return STATUS_OK;
}

enum status decode_measure_cpu(struct lab *lab, const struct dataset *dataset, const struct encoded *encoded,
                               struct decode_result *result, struct error *error)
{
    struct decoding decoding = {.encoded = encoded,
                                .tiles = (uint32_t)((dataset->rows + TILE_ROWS - 1) / TILE_ROWS),
                                .chunk_tiles = ENCODED_CHUNK_ROWS / TILE_ROWS};
    const size_t bytes = (size_t)decoding.tiles * TILE_ROWS * sizeof(int32_t);
    double *times = NULL;
    enum status status = memory_take(&times, lab->repeat * sizeof *times, "a list of times", error);
    if (status == STATUS_OK)
        status = measure(lab, dataset, &decoding, times, &result->sum, error);
    if (status == STATUS_OK && !(decoding.out = aligned_alloc(64, bytes)))
        status = error_out_of_memory(error, bytes, "decoded values");
    if (status == STATUS_OK)
        status = measure(lab, dataset, &decoding, times, &result->memory, error);
    free(decoding.out);
    free(times);
    return status;
}
