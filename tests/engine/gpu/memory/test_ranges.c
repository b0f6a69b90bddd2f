/*
 * test_ranges.c: cuts of chunks (ranges.h), without a GPU: the addresses that kernels get lead to the tiles' bytes, of each
 * codec that can be cut, and these decode to the values of the whole chunk. Ranges have all tiles that a scan reads.
 */
#define _GNU_SOURCE
#include "engine/gpu/memory/columns.h"
#include "tests/support/codec/codec_cases.h"
#include "tests/support/database_cases.h"

#define TILES 70u
#define ROWS  ((TILES - 1) * TILE_ROWS + 100)
#define BITS  17u

static int64_t wide[ROWS];
static int32_t narrow[ROWS];
static uint32_t validity[TILES * TILE_LANES];

/* Positions whose leading bits are the same in most tiles; every ninth tile is wider, and one has one value. */
static void make_values(void)
{
    uint64_t state = CODEC_CASES_SEED;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t tile = row / TILE_ROWS,
                       prefix = tile % 9 ? tile / 9 : (uint32_t)random_bits(&state, 3);
        narrow[row] = (int32_t)(prefix << (BITS - 3) | random_bits(&state, tile % 4 ? BITS - 5 : BITS - 3));
        narrow[row] = tile == 11 ? 4000 : narrow[row];
        wide[row] = (int64_t)narrow[row] << (tile % 7 ? 3 : 30);
    }
    for (uint32_t w = 0; w < TILES * TILE_LANES; w++)
        validity[w] = (uint32_t)random_bits(&state, 32);
}

static const struct tile_run runs[] = {
    {.segment = 0, .first = 1, .tiles = 2},  {.segment = 0, .first = 9, .tiles = 1},
    {.segment = 0, .first = 11, .tiles = 1}, {.segment = 0, .first = 30, .tiles = 20},
    {.segment = 2, .first = 68, .tiles = 2},
};

static void make_ranges(struct cuda_ranges *ranges)
{
    const struct table table = {.segment_count = 4};
    const struct tile_skip skip = {.run_count = sizeof runs / sizeof *runs, .runs = (struct tile_run *)runs};
    must(cuda_ranges_make(&table, &skip, ranges, error));
}

static void neighbouring_runs_are_one_range(void **state)
{
    struct cuda_ranges ranges;
    (void)state;
    make_ranges(&ranges);
    /* an item of eight tiles may reach from one run to the next but one: 1, 2, 9 and 11 */
    const struct cuda_range expected[] = {{0, 1, 11}, {0, 30, 20}, {2, 68, 2}};
    const uint32_t of_segment[] = {0, 2, 2, 3, 3};
    assert_true(cuda_ranges_equal(ranges.list, ranges.count, expected, 3));
    assert_false(cuda_ranges_equal(ranges.list, ranges.count, expected, 2));
    assert_memory_equal(ranges.of_segment, of_segment, sizeof of_segment);
    const struct tile_skip skip = {.run_count = sizeof runs / sizeof *runs, .runs = (struct tile_run *)runs};
    for (uint32_t width = 1; width <= WORK_TILES; width *= 2) {
        uint64_t run = 0;
        uint32_t tile = runs[0].first, range = 0;
        while (run < skip.run_count) {
            const uint32_t segment = runs[run].segment, first = tile,
                           last = first + tile_skip_take(&skip, width, &run, &tile) - 1;
            while (!cuda_range_has(&ranges.list[range], segment, first))
                assert_true(++range < ranges.count);
            assert_true(cuda_range_has(&ranges.list[range], segment, last));
        }
    }
    cuda_ranges_free(&ranges);
}

/* What a kernel gets leads to the bytes of each tile. A CPU decodes these, too, but for lane-levels: it looks at the first words
 * of the directory, of which kernels know what they say. */
static void check_range(const struct segment_data *data, const struct cuda_range *range,
                        const struct bound_chunk *bound)
{
    _Alignas(64) static int64_t got[TILE_ROWS], expected[TILE_ROWS];
    const uint64_t sections[] = {bound->directory, bound->data, bound->auxiliary};
    const uint8_t *const whole[] = {data->chunk.directory, data->chunk.data, data->chunk.auxiliary};
    struct chunk_view cut = data->chunk;
    cut.directory = (const uint8_t *)(uintptr_t)bound->directory;
    cut.data = (const uint8_t *)(uintptr_t)bound->data;
    cut.auxiliary = (const uint8_t *)(uintptr_t)bound->auxiliary;
    for (uint32_t tile = range->first; tile < range->first + range->tiles; tile++) {
        struct chunk_part parts[3];
        cut.codec->gpu.cut(&data->chunk, tile, 1, parts);
        for (unsigned i = 0; i < 3; i++)
            if (parts[i].bytes)
                assert_memory_equal((const uint8_t *)(uintptr_t)(sections[i] + parts[i].from),
                                    whole[i] + parts[i].from, parts[i].bytes);
        if (data->validity)
            assert_memory_equal((const uint32_t *)(uintptr_t)bound->validity + tile * TILE_LANES,
                                data->validity + tile * TILE_LANES, TILE_LANES * sizeof(uint32_t));
        if (codec_needs_levels(cut.codec))
            continue;
        cut.codec->decode_tile(&cut, tile, got);
        cut.codec->decode_tile(&data->chunk, tile, expected);
        assert_memory_equal(got, expected, (size_t)TILE_ROWS * cut.value_bytes);
    }
}

/* Cuts a chunk as if it was both segments, and puts the pieces together in memory of exactly their size. */
static void check_cuts(const struct codec *codec, const void *values, uint32_t value_bytes, bool nullable)
{
    const struct codec_input input = {.values = values,
                                      .rows = ROWS,
                                      .value_bytes = value_bytes,
                                      .bits = codec_needs_levels(codec) ? BITS : 0,
                                      .planes = codec_needs_levels(codec) ? 10 : 0};
    uint8_t *const bytes = cases_allocate(codec->bound(ROWS, value_bytes));
    const size_t size = codec->encode(&input, bytes);
    struct segment_data data = {.validity = nullable ? validity : NULL};
    struct cuda_ranges ranges;
    must(chunk_open(bytes, size, &data.chunk, error));
    make_ranges(&ranges);
    uint64_t all = 0;
    for (uint32_t segment = 0; segment < 4; segment++) {
        const uint64_t cut_bytes = cuda_cut_bytes(&data, &ranges, segment);
        struct cuda_piece *pieces;
        struct bound_chunk chunks[4];
        uint32_t count;
        uint64_t at = 0;
        must(cuda_cut_pieces(&data, &ranges, segment, &pieces, &count, error));
        uint8_t *const memory = cases_allocate(cut_bytes);
        memset(memory, 0xcd, cut_bytes);
        for (uint32_t p = 0; p < count; p++) {
            assert_int_equal(pieces[p].offset, at); /* one behind the other */
            memcpy(memory + at, pieces[p].from, pieces[p].bytes);
            at += pieces[p].bytes;
        }
        assert_true(at <= cut_bytes && (count == 0) == (cut_bytes == 0));
        cuda_cut_bind(&data, &ranges, segment, (uintptr_t)memory, chunks);
        for (uint32_t r = ranges.of_segment[segment]; r < ranges.of_segment[segment + 1]; r++)
            check_range(&data, &ranges.list[r], &chunks[r - ranges.of_segment[segment]]);
        all += cut_bytes;
        free(memory);
        free(pieces);
    }
    assert_true(all < size); /* 33 of 70 tiles */
    cuda_ranges_free(&ranges);
    free(bytes);
}

static void cuts_decode_to_the_values_of_the_chunk(void **state)
{
    unsigned count = 0;
    (void)state;
    make_values();
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *const codec = codec_by_id(id);
        if (!codec->gpu.cut)
            continue;
        count++;
        check_cuts(codec, narrow, 4, false);
        check_cuts(codec, narrow, 4, true);
        if (codec->holds_int64)
            check_cuts(codec, wide, 8, true);
    }
    assert_int_equal(count, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_runs_are_one_range),
        cmocka_unit_test(cuts_decode_to_the_values_of_the_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
