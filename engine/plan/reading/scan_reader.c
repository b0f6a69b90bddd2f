/* scan_reader.c: see scan_reader.h. */
#include "engine/plan/reading/scan_reader.h"

#include "storage/base/disk/read_ahead.h"

#include <stdlib.h>
#include <string.h>

struct scan_reader {
    const struct tile_skip *scan;
    uint64_t step_tiles; /* kept tiles of a step */
    uint64_t steps;
    bool backwards;
    struct read_ahead *pages;
    uint32_t count;
    const struct column_data *columns[];
};

/* ---- The bytes of tiles ---- */

/* Visits a section's bytes of these tiles, as if all tiles were of the same length. */
static void visit_section(const uint8_t *section, uint64_t size, uint32_t tiles, const struct tile_run *run,
                          read_ahead_visit *visit, void *result)
{
    const uint64_t begin = size * run->first / tiles,
                   end = size * (run->first + (uint64_t)run->tiles) / tiles;
    visit(result, section + begin, end - begin);
}

/* Visits the data of these tiles, which the codec finds if it decodes single tiles. Pages of a chunk's directory are read
 * when a thread finds tiles by it. */
static void visit_chunk(const struct chunk_view *chunk, const struct tile_run *run, read_ahead_visit *visit,
                        void *result)
{
    const uint64_t data = (uint64_t)(chunk->auxiliary - chunk->data),
                   auxiliary = (uint64_t)(chunk->bytes + chunk->size - chunk->auxiliary);
    if (chunk->codec->tile_span) {
        uint32_t bytes;
        const uint8_t *const begin = chunk->codec->tile_span(chunk, run->first, &bytes),
                             *const last =
                                 chunk->codec->tile_span(chunk, run->first + run->tiles - 1, &bytes);
        visit(result, begin, (uint64_t)(last - begin) + bytes);
    } else {
        visit_section(chunk->data, data, chunk->tiles, run, visit, result);
    }
    visit_section(chunk->auxiliary, auxiliary, chunk->tiles, run, visit, result);
}

static void visit_tiles(const struct scan_reader *reader, const struct tile_run *run, read_ahead_visit *visit,
                        void *result)
{
    for (uint32_t c = 0; c < reader->count; c++) {
        const struct segment_data *segment = &reader->columns[c]->segments[run->segment];
        visit_chunk(&segment->chunk, run, visit, result);
        if (segment->validity)
            visit(result, segment->validity + (uint64_t)run->first * TILE_LANES,
                  (uint64_t)run->tiles * TILE_LANES * sizeof *segment->validity);
    }
}

/* The place of the step in the table, or the step at that place. */
static uint64_t turn(const struct scan_reader *reader, uint64_t step)
{
    return reader->backwards ? reader->steps - 1 - step : step;
}

/* Of how many runs of tiles in a step it is asked whether they are in memory: it costs half a microsecond a column, and small
 * segments, as appends make them, are a run each. */
#define ASKED_RUNS 4u

static void visit_step(const void *context, uint64_t step, bool few, read_ahead_visit *visit, void *result)
{
    const struct scan_reader *reader = context;
    const struct tile_skip *scan = reader->scan;
    uint64_t tile = turn(reader, step) * reader->step_tiles, end = tile + reader->step_tiles;
    end = end < scan->kept_tiles ? end : scan->kept_tiles;
    const uint64_t first = tile_skip_run(scan, tile),
                   every = few ? (tile_skip_run(scan, end - 1) - first) / ASKED_RUNS + 1 : 1;
    for (uint64_t r = first; tile < end; r++) {
        const struct tile_run *run = &scan->runs[r];
        const uint64_t within = tile - run->before, left = run->tiles - within;
        const struct tile_run part = {.segment = run->segment,
                                      .first = run->first + (uint32_t)within,
                                      .tiles = (uint32_t)(left < end - tile ? left : end - tile)};
        if ((r - first) % every == 0)
            visit_tiles(reader, &part, visit, result);
        tile += part.tiles;
    }
}

/* ---- The reader ---- */

struct scan_reader *scan_reader_start(const struct tile_skip *scan, const struct column_data *const *columns,
                                      uint32_t count, bool backwards)
{
    uint64_t bytes = 1, largest = 1;
    for (uint32_t c = 0; c < count; c++) {
        bytes += columns[c]->bytes;
        largest = columns[c]->bytes > largest ? columns[c]->bytes : largest;
    }
    struct scan_reader *const reader =
        count && scan->kept_tiles ? malloc(sizeof *reader + count * sizeof *columns) : NULL;
    if (!reader)
        return NULL;
    reader->scan = scan;
    reader->count = count;
    memcpy(reader->columns, columns, count * sizeof *columns);
    reader->step_tiles = 1 + READ_AHEAD_STEP_BYTES * scan->tiles / largest;
    reader->steps = (scan->kept_tiles + reader->step_tiles - 1) / reader->step_tiles;
    reader->backwards = backwards;
    const uint64_t step_bytes = reader->step_tiles * bytes / scan->tiles + 1;
    reader->pages = read_ahead_start(reader->steps, 1 + READ_AHEAD_BYTES / step_bytes, visit_step, reader);
    if (reader->pages)
        return reader;
    free(reader);
    return NULL;
}

void scan_reader_reach(struct scan_reader *reader, uint64_t tile)
{
    if (reader)
        read_ahead_reach(reader->pages, turn(reader, tile / reader->step_tiles));
}

void scan_reader_stop(struct scan_reader *reader)
{
    if (!reader)
        return;
    read_ahead_stop(reader->pages);
    free(reader);
}
