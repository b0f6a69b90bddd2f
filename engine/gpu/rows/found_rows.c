/* found_rows.c: the rows that a scan has marked, as numbers (run_internal.h). Threads count the rows of some tiles each, and then
 * list them. Called once for each scan whose rows the host decodes, for up to some hundred million rows. */
#include "engine/gpu/run_internal.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_TILES 64u

struct listing {
    const struct table *table;
    const uint32_t *words; /* 32 a tile: bit j of word l is row 32j + l */
    uint64_t tiles;
    uint64_t *places; /* of each piece its rows, then the place of the first of them */
    uint64_t *rows;
};

static uint64_t piece_end(const struct listing *listing, uint64_t piece)
{
    const uint64_t end = (piece + 1) * PIECE_TILES;
    return end < listing->tiles ? end : listing->tiles;
}

static enum status count_piece(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    const struct listing *const listing = context;
    uint64_t count = 0;
    (void)thread;
    (void)error;
    for (uint64_t word = piece * PIECE_TILES * TILE_LANES; word < piece_end(listing, piece) * TILE_LANES;
         word++)
        count += (uint64_t)__builtin_popcount(listing->words[word]);
    listing->places[piece] = count;
    return STATUS_OK;
}

/* Lists the rows of a tile, and returns the end of the list. */
static uint64_t *list_tile(const uint32_t *words, uint64_t first, uint64_t *rows)
{
    uint32_t turned[TILE_LANES];
    memcpy(turned, words, sizeof turned);
    tile_words_transpose(turned);
    for (uint32_t word = 0; word < TILE_LANES; word++)
        for (uint32_t bits = turned[word]; bits; bits &= bits - 1)
            *rows++ = first + 32 * word + (uint32_t)__builtin_ctz(bits);
    return rows;
}

static uint64_t segment_tiles(const struct table *table, uint32_t segment)
{
    return (table->segment_rows[segment] + UINT64_C(1) * TILE_ROWS - 1) / TILE_ROWS;
}

static enum status list_piece(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    const struct listing *const listing = context;
    const struct table *const table = listing->table;
    uint64_t *rows = listing->rows + listing->places[piece], row = 0, before = 0; /* of the segment */
    uint32_t segment = 0;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t tile = piece * PIECE_TILES; tile < piece_end(listing, piece); tile++) {
        while (tile >= before + segment_tiles(table, segment)) {
            before += segment_tiles(table, segment);
            row += table->segment_rows[segment++];
        }
        rows = list_tile(listing->words + tile * TILE_LANES, row + (tile - before) * TILE_ROWS, rows);
    }
    return STATUS_OK;
}

enum status cuda_found_rows(const struct device_run *run, const uint32_t *words, struct partial *found,
                            struct error *error)
{
    struct listing listing = {.table = run->plan->fact, .words = words, .tiles = run->plan->scan.tiles};
    const uint64_t pieces = (listing.tiles + PIECE_TILES - 1) / PIECE_TILES;
    const unsigned threads = run->device->threads;
    RETURN_IF_ERROR(memory_zeros(&listing.places, (pieces + 1) * sizeof *listing.places, "rows", error));
    enum status status = parallel_for(threads, pieces, count_piece, &listing, error);
    for (uint64_t piece = 0; piece < pieces; piece++) {
        const uint64_t count = listing.places[piece];
        listing.places[piece] = found->count;
        found->count += count;
    }
    status = AND_THEN(status, spillable_rows(&found->rows, (found->count + 1) * sizeof *found->rows,
                                             "a list of rows", error));
    listing.rows = found->rows;
    status = AND_THEN(status, parallel_for(threads, pieces, list_piece, &listing, error));
    free(listing.places);
    return status;
}
