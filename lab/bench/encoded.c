/* encoded.c: see encoded.h. */
#include "lab/bench/encoded.h"

#include "storage/base/clock.h"
#include "storage/base/memory.h"

#include <stdlib.h>

struct encoding {
    struct encoded *encoded;
    const struct dataset *dataset;
    uint32_t bits, planes; /* codec_input */
    size_t bound; /* of a chunk; chunks begin at multiples of it, and pages between them are never touched */
    _Atomic uint64_t bytes;
    _Atomic bool refused;
};

static enum status encode_chunk(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct encoding *const encoding = context;
    struct encoded *const encoded = encoding->encoded;
    const uint64_t first = item * ENCODED_CHUNK_ROWS, left = encoded->rows - first;
    const uint32_t rows = left < ENCODED_CHUNK_ROWS ? (uint32_t)left : ENCODED_CHUNK_ROWS;
    uint8_t *const bytes = encoded->memory + item * encoding->bound;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (encoding->refused)
        return STATUS_OK;
    const struct codec_input input = {.values = encoding->dataset->values + first,
                                      .rows = rows,
                                      .value_bytes = sizeof(int32_t),
                                      .bits = encoding->bits,
                                      .planes = encoding->planes};
    const size_t size = encoded->codec->encode(&input, bytes);
    if (size == 0) {
        encoding->refused = true;
        return STATUS_OK;
    }
    encoding->bytes += size;
    return chunk_open(bytes, size, &encoded->chunks[item], error);
}

/* For a codec that holds positions in tables with levels only, values are such positions if none is negative: of as many
 * bits as the greatest has, and half of the bits are kept apart. */
static void as_positions(struct encoding *encoding)
{
    uint32_t used = 1;
    for (uint64_t row = 0; row < encoding->dataset->rows; row++)
        used |= (uint32_t)encoding->dataset->values[row];
    if (used > INT32_MAX)
        return;
    encoding->bits = 32 - (uint32_t)__builtin_clz(used);
    encoding->planes = (encoding->bits + 1) / 2;
}

enum status encoded_make(struct lab *lab, const struct codec *codec, const struct dataset *dataset,
                         struct encoded *encoded, struct error *error)
{
    const uint32_t chunk_rows =
        dataset->rows < ENCODED_CHUNK_ROWS ? (uint32_t)dataset->rows : ENCODED_CHUNK_ROWS;
    const uint64_t chunks = (dataset->rows + ENCODED_CHUNK_ROWS - 1) / ENCODED_CHUNK_ROWS;
    struct encoding encoding = {
        .encoded = encoded, .dataset = dataset, .bound = codec->bound(chunk_rows, sizeof(int32_t))};
    *encoded = (struct encoded){.codec = codec, .rows = dataset->rows};
    RETURN_IF_ERROR(
        memory_zeros(&encoded->chunks, chunks * sizeof *encoded->chunks, "a list of chunks", error));
    encoded->memory = aligned_alloc(CHUNK_ALIGNMENT, chunks * encoding.bound);
    if (!encoded->memory)
        return error_out_of_memory(error, chunks * encoding.bound, "encoded values");
    if (codec_needs_levels(codec))
        as_positions(&encoding);
    const double begin = clock_seconds();
    RETURN_IF_ERROR(parallel_for(lab->threads, chunks, encode_chunk, &encoding, error));
    encoded->seconds = clock_seconds() - begin;
    encoded->bytes = encoding.bytes;
    encoded->chunk_count = encoding.refused ? 0 : (uint32_t)chunks;
    return STATUS_OK;
}

void encoded_free(struct encoded *encoded)
{
    free(encoded->memory);
    free(encoded->chunks);
    *encoded = (struct encoded){0};
}

double encoded_bits(const struct encoded *encoded)
{
    return 8.0 * (double)encoded->bytes / (double)encoded->rows;
}
