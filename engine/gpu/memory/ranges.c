/* ranges.c: see ranges.h. */
#include "engine/gpu/memory/columns_internal.h"

#include "engine/gpu/kernel_decoder.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A range has so many pieces at most: of three sections, and validity words. */
#define RANGE_PIECES 4u

/* ---- Ranges ---- */

enum status cuda_ranges_make(const struct table *fact, const struct tile_skip *skip,
                             struct cuda_ranges *ranges, struct error *error)
{
    uint32_t next = 0;
    *ranges = (struct cuda_ranges){0};
    RETURN_IF_ERROR(memory_take(&ranges->list, (skip->run_count + 1) * sizeof *ranges->list,
                                "the ranges of tiles", error));
    const enum status status =
        memory_take(&ranges->of_segment, (fact->segment_count + 1ull) * sizeof *ranges->of_segment,
                    "the ranges of tiles", error);
    if (status != STATUS_OK) {
        cuda_ranges_free(ranges);
        return status;
    }
    for (uint64_t r = 0; r < skip->run_count; r++) {
        const struct tile_run *run = &skip->runs[r];
        struct cuda_range *const last = ranges->count ? &ranges->list[ranges->count - 1] : NULL;
        if (last && last->segment == run->segment && run->first < last->first + last->tiles + WORK_TILES) {
            last->tiles = run->first + run->tiles - last->first;
            continue;
        }
        while (next <= run->segment)
            ranges->of_segment[next++] = ranges->count;
        ranges->list[ranges->count++] =
            (struct cuda_range){.segment = run->segment, .first = run->first, .tiles = run->tiles};
    }
    while (next <= fact->segment_count)
        ranges->of_segment[next++] = ranges->count;
    return STATUS_OK;
}

void cuda_ranges_free(struct cuda_ranges *ranges)
{
    free(ranges->list);
    free(ranges->of_segment);
    *ranges = (struct cuda_ranges){0};
}

bool cuda_ranges_equal(const struct cuda_range *a, uint32_t a_count, const struct cuda_range *b,
                       uint32_t b_count)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}

/* ---- Cuts ---- */

bool cuda_cut_can(const struct column_data *data)
{
    return data->codec->gpu.cut != NULL;
}

static uint64_t line_after(uint64_t bytes)
{
    return (bytes + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
}

/* Lays a range at place `at` of its cut: gives its pieces, and its chunk as if the cut began at address 0. Returns where the
 * next one begins. Whole lines of the chunk are taken, so that what is aligned there is aligned here. */
static uint64_t lay_range(const struct segment_data *data, const struct cuda_range *range, uint64_t at,
                          struct cuda_piece pieces[RANGE_PIECES], uint32_t *count, struct bound_chunk *bound)
{
    const struct chunk_view *const view = &data->chunk;
    const uint8_t *const sections[3] = {view->directory, view->data, view->auxiliary};
    struct chunk_part parts[3] = {{0, 0}};
    uint64_t places[3] = {0};
    *count = 0;
    view->codec->gpu.cut(view, range->first, range->tiles, parts);
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t section = (uint64_t)(sections[i] - view->bytes), from = section + parts[i].from,
                       begin = from / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT,
                       end = line_after(from + parts[i].bytes);
        if (parts[i].bytes == 0)
            continue;
        pieces[(*count)++] =
            (struct cuda_piece){.from = view->bytes + begin, .bytes = end - begin, .offset = at};
        places[i] = at + section - begin;
        at += end - begin;
    }
    *bound = (struct bound_chunk){.directory = places[0],
                                  .data = places[1],
                                  .auxiliary = places[2],
                                  .detail = kernel_decoder_detail(view)};
    if (!data->validity)
        return at;
    const uint64_t tile_bytes = TILE_LANES * sizeof(uint32_t), before = range->first * tile_bytes;
    pieces[(*count)++] = (struct cuda_piece){
        .from = (const uint8_t *)data->validity + before, .bytes = range->tiles * tile_bytes, .offset = at};
    bound->validity = at - before;
    return at + range->tiles * tile_bytes;
}

uint64_t cuda_cut_bytes(const struct segment_data *data, const struct cuda_ranges *ranges, uint32_t segment)
{
    uint64_t bytes = 0;
    for (uint32_t r = ranges->of_segment[segment]; r < ranges->of_segment[segment + 1]; r++) {
        struct cuda_piece pieces[RANGE_PIECES];
        struct bound_chunk bound;
        uint32_t count;
        bytes = lay_range(data, &ranges->list[r], bytes, pieces, &count, &bound);
    }
    return bytes ? piece_bytes(bytes) : 0;
}

enum status cuda_cut_pieces(const struct segment_data *data, const struct cuda_ranges *ranges,
                            uint32_t segment, struct cuda_piece **pieces, uint32_t *count,
                            struct error *error)
{
    const uint32_t first = ranges->of_segment[segment], end = ranges->of_segment[segment + 1];
    uint64_t at = 0;
    RETURN_IF_ERROR(memory_take(pieces, ((uint64_t)RANGE_PIECES * (end - first) + 1) * sizeof **pieces,
                                "the pieces of a chunk", error));
    *count = 0;
    for (uint32_t r = first; r < end; r++) {
        struct bound_chunk bound;
        uint32_t more;
        at = lay_range(data, &ranges->list[r], at, *pieces + *count, &more, &bound);
        *count += more;
    }
    return STATUS_OK;
}

void cuda_cut_bind(const struct segment_data *data, const struct cuda_ranges *ranges, uint32_t segment,
                   cuda_address address, struct bound_chunk *chunks)
{
    for (uint32_t r = ranges->of_segment[segment]; r < ranges->of_segment[segment + 1]; r++, chunks++) {
        struct cuda_piece pieces[RANGE_PIECES];
        uint64_t bytes = 0;
        uint32_t count;
        bytes = lay_range(data, &ranges->list[r], 0, pieces, &count, chunks);
        chunks->directory += address;
        chunks->data += address;
        chunks->auxiliary += address;
        chunks->validity += data->validity ? address : 0;
        address += bytes;
    }
}
