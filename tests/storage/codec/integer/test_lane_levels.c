/* test_lane_levels.c: lane-levels: the place of each bit, round trips at all numbers of bits and planes, and tests and
 * reads of some of the bits; also of chunks that have planes apart, because rows of a tile are alike in them. */
#include "tests/support/codec/codec_cases.h"

#define ROWS 8500u /* nine tiles, the last one partial: one of them may have rows that differ */

static struct codec_input levels_input(const int32_t *values, uint32_t rows, uint32_t bits, uint32_t planes)
{
    return (struct codec_input){
        .values = values, .rows = rows, .value_bytes = 4, .bits = bits, .planes = planes};
}

/* The chunk, in memory of exactly its size, which the caller frees. */
static uint8_t *encoded(const struct codec *codec, const struct codec_input *input, struct chunk_view *chunk)
{
    uint8_t *const room = cases_allocate(codec->bound(input->rows, 4));
    const size_t size = codec->encode(input, room);
    struct error error = {0};
    assert_int_not_equal(size, 0);
    uint8_t *const exact = cases_allocate(size);
    memcpy(exact, room, size);
    free(room);
    if (chunk_open(exact, size, chunk, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    chunk->codec = codec;
    return exact;
}

/* The example of docs/codecs.md. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    int32_t values[TILE_ROWS];
    struct chunk_view chunk;
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        values[row] = (int32_t)(5 << 3 | row / 32 % 8); /* prefix 5 of 3 bits, rest 0 .. 7 */
    values[37] = 2 << 3 | 7;                            /* item 1 of lane 5 */
    const struct codec_input input = levels_input(values, TILE_ROWS, 6, 3);
    uint8_t *const bytes = encoded(codec_by_id(CODEC_LANE_LEVELS), &input, &chunk);
    const uint32_t *const directory = (const uint32_t *)chunk.directory;
    const uint32_t *const lines = (const uint32_t *)chunk.data;
    assert_int_equal(chunk.size, 128 + 6 * 128 + 256);
    assert_int_equal(chunk.width_low, 6);
    assert_int_equal(chunk.width_high, 6);
    assert_int_equal(directory[0], 3);
    assert_int_equal(directory[1], 6);
    for (uint32_t lane = 0; lane < TILE_LANES; lane++) {
        assert_int_equal(lines[lane], lane == 5 ? 0xfffffffd : 0xffffffff);
        assert_int_equal(lines[32 + lane], lane == 5 ? 2 : 0);
        assert_int_equal(lines[64 + lane], lane == 5 ? 0xfffffffd : 0xffffffff);
        assert_int_equal(lines[96 + lane], lane == 5 ? 0x88fac6b8 : 0x88fac688);
        assert_int_equal(lines[128 + lane], 0xc688fac6);
        assert_int_equal(lines[160 + lane], 0xfac688fa);
    }
    for (uint32_t word = 6 * 32; word < 8 * 32; word++)
        assert_int_equal(lines[word], 0);
    free(bytes);
}

/* The example of docs/codecs.md of planes that are apart. */
static void planes_that_are_alike_are_apart(void **state)
{
    (void)state;
    enum { TILES = 8 };
    static const int32_t prefixes[3][2] = {{6, 6}, {5, 4}, {5, 2}};
    static const uint32_t kinds[TILES] = {1, 0, 0, 0, 0, 0, 0, 2};
    static int32_t values[TILES * TILE_ROWS];
    struct chunk_view chunk;
    for (uint32_t row = 0; row < TILES * TILE_ROWS; row++)
        values[row] = prefixes[kinds[row / TILE_ROWS]][row % 2] << 3 | row / 32 % 8;
    const struct codec_input input = levels_input(values, TILES * TILE_ROWS, 6, 3);
    uint8_t *const bytes = encoded(codec_by_id(CODEC_LANE_LEVELS), &input, &chunk);
    const uint32_t *const lines = (const uint32_t *)chunk.data, *const first =
                                                                    (const uint32_t *)chunk.auxiliary;
    static const uint32_t directory[] = {3, 6, 2, 0, 32, 48, 48, 48, 48, 48, 48, 0x80000000u};
    assert_int_equal(chunk.size, 128 + TILES * 4 * 128 + 256 + 2 * 128);
    assert_memory_equal(chunk.directory, directory, sizeof directory);
    assert_int_equal(chunk.width_high, 6);
    for (uint32_t lane = 0; lane < TILE_LANES; lane++) {
        const uint32_t even = lane % 2 ? 0 : UINT32_MAX;
        const uint32_t line2[] = {0, even, even};
        for (uint32_t tile = 0; tile < TILES; tile++) {
            const uint32_t *const line = lines + tile * 4 * TILE_LANES + lane;
            assert_int_equal(line[0], line2[kinds[tile]]);
            assert_int_equal(line[32], 0x88fac688);
            assert_int_equal(line[64], 0xc688fac6);
            assert_int_equal(line[96], 0xfac688fa);
        }
        assert_int_equal(first[lane], even);
        assert_int_equal(first[32 + lane], ~even);
    }
    free(bytes);
}

static bool is_in(const struct position_cube *cubes, uint32_t count, uint32_t value)
{
    bool in = false;
    for (uint32_t c = 0; c < count; c++)
        in |= (value & cubes[c].care) == cubes[c].value_bits;
    return in;
}

static void check_cubes(const struct chunk_view *chunk, const int32_t *values, uint64_t *random)
{
    const uint32_t bits = chunk->width_high, planes = chunk->codec->planes(chunk);
    const uint32_t prefix = (uint32_t)((1ull << bits) - (1ull << (bits - planes)));
    struct position_cube cubes[POSITION_CUBES_MAX];
    const uint32_t count = (uint32_t)(random_next(random) % (POSITION_CUBES_MAX + 1));
    for (uint32_t c = 0; c < count; c++) {
        cubes[c].care = (uint32_t)random_next(random) & prefix;
        if (random_next(random) % 2)
            cubes[c].care &= (uint32_t)random_next(random);
        cubes[c].value_bits = (uint32_t)values[random_next(random) % ROWS] & cubes[c].care;
    }
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        uint64_t found[TILE_ROWS / 64];
        memset(found, 0xcc, sizeof found);
        chunk->codec->in_cubes(chunk, tile, cubes, count, found);
        for (uint32_t row = 0; row < TILE_ROWS && tile * TILE_ROWS + row < ROWS; row++)
            assert_int_equal(found[row / 64] >> row % 64 & 1,
                             is_in(cubes, count, (uint32_t)values[tile * TILE_ROWS + row]));
    }
}

static void check_range(const struct chunk_view *chunk, const int32_t *values, int32_t low, int32_t high)
{
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        uint64_t found[TILE_ROWS / 64];
        memset(found, 0xcc, sizeof found);
        chunk->codec->in_range(chunk, tile, low, high, found);
        for (uint32_t row = 0; row < TILE_ROWS && tile * TILE_ROWS + row < ROWS; row++) {
            const int32_t value = values[tile * TILE_ROWS + row];
            assert_int_equal(found[row / 64] >> row % 64 & 1, value >= low && value <= high);
        }
    }
}

static void check_ranges(const struct chunk_view *chunk, const int32_t *values, uint64_t *random)
{
    const int64_t most = (1ll << chunk->width_high) - 1;
    const int64_t leaf = 1ll << (chunk->width_high - chunk->codec->planes(chunk));
    const int64_t some = values[random_next(random) % ROWS], other = values[random_next(random) % ROWS];
    const int64_t bounds[][2] = {{INT32_MIN, INT32_MAX},
                                 {0, most},
                                 {some, some},
                                 {some < other ? some : other, some < other ? other : some},
                                 {some, some - 1},
                                 {some / leaf * leaf, other / leaf * leaf + leaf - 1},
                                 {-5, some},
                                 {some, INT32_MAX},
                                 {-5, -1},
                                 {most, INT32_MAX}};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        check_range(chunk, values, (int32_t)bounds[b][0], (int32_t)bounds[b][1]);
}

/* With few rows, and with so many that all are put together. */
static void check_bits_fetched(const struct chunk_view *chunk, const int32_t *values, uint32_t mask,
                               uint64_t *random)
{
    static const uint32_t steps[] = {1, 2, 13, 300};
    for (uint32_t tile = 0; tile < chunk->tiles; tile++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            _Alignas(64) int32_t out[TILE_ROWS];
            uint16_t rows[TILE_ROWS];
            uint32_t count = 0;
            for (uint32_t row = (uint32_t)(random_next(random) % steps[s]);
                 row < TILE_ROWS && tile * TILE_ROWS + row < ROWS; row += steps[s])
                rows[count++] = (uint16_t)row;
            memset(out, 0xcc, sizeof out);
            chunk->codec->fetch_bits(chunk, tile, rows, count, mask, out);
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(out[rows[i]], (uint32_t)values[tile * TILE_ROWS + rows[i]] & mask);
        }
}

/* Of each tile but the second the first bits are alike, `alike` of them or more; 0: as it comes. */
static void check_all(const struct codec *codec, uint32_t bits, uint32_t planes, uint32_t alike,
                      uint64_t *random)
{
    struct chunk_view chunk;
    int32_t *values = malloc(ROWS * sizeof *values);
    assert_non_null(values);
    for (uint32_t row = 0; row < ROWS; row++) {
        values[row] = (int32_t)random_bits(random, bits);
        if (row % TILE_ROWS && row / TILE_ROWS != 1)
            values[row] ^= (values[row] ^ values[row - 1]) >> (bits - alike) << (bits - alike);
    }
    const struct codec_input input = levels_input(values, ROWS, bits, planes);
    uint8_t *const bytes = encoded(codec, &input, &chunk);
    /* eight of nine tiles have so many lines less */
    assert_true(128 * (alike < planes ? alike : planes) <= 9 * bits || !chunk.regular);
    const uint32_t prefix = (uint32_t)((1ull << bits) - (1ull << (bits - planes)));
    assert_int_equal(codec->planes(&chunk), planes);
    assert_int_equal(chunk.width_high, bits);
    check_decodes(&chunk, values);
    for (int i = 0; i < 3; i++)
        check_cubes(&chunk, values, random);
    check_ranges(&chunk, values, random);
    check_bits_fetched(&chunk, values, UINT32_MAX, random);
    check_bits_fetched(&chunk, values, prefix, random);
    check_bits_fetched(&chunk, values, prefix & (uint32_t)random_next(random), random);
    check_bits_fetched(&chunk, values, (uint32_t)random_next(random), random);
    check_bits_fetched(&chunk, values, ~prefix, random);
    check_bits_fetched(&chunk, values, 0, random);
    free(bytes);
    free(values);
}

static void all_numbers_of_bits_and_planes(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    for (int level = 0; level <= (int)isa_level(); level++)
        for (uint32_t bits = 1; bits <= 31; bits++)
            for (uint32_t planes = 1; planes <= bits; planes++)
                for (uint32_t a = 0; a < 3; a++) {
                    const uint32_t some = bits < 3 ? bits : 3, alike = a == 0 ? 0 : a == 1 ? some : bits;
                    check_all(codec_by_id_isa(CODEC_LANE_LEVELS, (enum isa_level)level), bits, planes, alike,
                              &random);
                }
}

/* The same bytes from all instruction sets. */
static void all_instruction_sets_write_the_same(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    int32_t values[ROWS];
    for (uint32_t bits = 1; bits <= 31; bits += 5) /* of one bit, all are alike */
        for (uint32_t planes = 1; planes <= bits; planes += 3) {
            struct chunk_view chunk[ISA_LEVELS];
            uint8_t *bytes[ISA_LEVELS];
            for (uint32_t row = 0; row < ROWS; row++)
                values[row] = (int32_t)random_bits(&random, bits);
            const struct codec_input input = levels_input(values, ROWS, bits, planes);
            for (int level = 0; level <= (int)isa_level(); level++) {
                bytes[level] =
                    encoded(codec_by_id_isa(CODEC_LANE_LEVELS, (enum isa_level)level), &input, &chunk[level]);
                assert_int_equal(chunk[level].size, chunk[0].size);
                assert_memory_equal(bytes[level], bytes[0], chunk[0].size);
            }
            for (int level = 0; level <= (int)isa_level(); level++)
                free(bytes[level]);
        }
}

static void what_it_cannot_hold(void **state)
{
    (void)state;
    const struct codec *codec = codec_by_id(CODEC_LANE_LEVELS);
    uint8_t *const out = cases_allocate(codec->bound(TILE_ROWS, 8));
    int32_t values[2 * TILE_ROWS] = {0};
    struct codec_input input = levels_input(values, TILE_ROWS, 0, 0);
    assert_int_equal(codec->encode(&input, out), 0); /* no positions in a table with levels */
    input = levels_input(values, TILE_ROWS, 10, 0);
    assert_int_equal(codec->encode(&input, out), 0);
    input = levels_input(values, TILE_ROWS, 32, 10);
    assert_int_equal(codec->encode(&input, out), 0);
    input = levels_input(values, TILE_ROWS, 10, 5);
    assert_int_not_equal(codec->encode(&input, out), 0);
    values[700] = 1 << 10;
    assert_int_equal(codec->encode(&input, out), 0);
    values[700] = -1;
    assert_int_equal(codec->encode(&input, out), 0);
    values[700] = 0;
    input.value_bytes = 8;
    assert_int_equal(codec->encode(&input, out), 0);
    free(out);
}

static void refused(uint8_t *bytes, size_t size, size_t at, uint32_t word)
{
    struct chunk_view chunk;
    uint32_t kept;
    memcpy(&kept, bytes + at, sizeof kept);
    memcpy(bytes + at, &word, sizeof word);
    assert_int_equal(chunk_open(bytes, size, &chunk, NULL), STATUS_BAD_INPUT);
    memcpy(bytes + at, &kept, sizeof kept);
    assert_int_equal(chunk_open(bytes, size, &chunk, NULL), STATUS_OK);
}

static void impossible_directories_are_refused(void **state)
{
    (void)state;
    struct chunk_view chunk;
    int32_t values[ROWS];
    for (uint32_t row = 0; row < ROWS; row++)
        values[row] = row % 2 << 19;
    const struct codec_input input = levels_input(values, ROWS, 20, 8);
    uint8_t *const bytes = encoded(codec_by_id(CODEC_LANE_LEVELS), &input, &chunk);
    refused(bytes, chunk.size, 64, 0);
    refused(bytes, chunk.size, 64, 21);
    refused(bytes, chunk.size, 64, UINT32_MAX);
    refused(bytes, chunk.size, 68, 19);
    refused(bytes, chunk.size, 68, 21);
    refused(bytes, chunk.size, offsetof(struct chunk_header, width_low), 19);
    refused(bytes, chunk.size, offsetof(struct chunk_header, rows), 10000);
    refused(bytes, chunk.size, offsetof(struct chunk_header, rows), 7000);
    free(bytes);
}

static void impossible_tiles_are_refused(void **state)
{
    (void)state;
    struct chunk_view chunk;
    int32_t values[ROWS];
    for (uint32_t row = 0; row < ROWS; row++) /* 7 bits of 20 are alike, but none of the second tile */
        values[row] = (int32_t)(row / TILE_ROWS == 1 ? row % 2 << 19 : 1u << 16 | row % 2 << 12);
    const struct codec_input input = levels_input(values, ROWS, 20, 8);
    uint8_t *const bytes = encoded(codec_by_id(CODEC_LANE_LEVELS), &input, &chunk);
    const uint32_t *const directory = (const uint32_t *)chunk.directory;
    static const uint32_t expected[] = {8, 20, 7, 0, 1 << 16, 0x80000000u, 1 << 16, 1 << 16};
    assert_memory_equal(directory, expected, sizeof expected);
    refused(bytes, chunk.size, 64, 6); /* fewer planes than are apart */
    refused(bytes, chunk.size, 72, 6); /* data of other tiles */
    refused(bytes, chunk.size, 72, 0);
    refused(bytes, chunk.size, 72, 9);
    refused(bytes, chunk.size, 72, UINT32_MAX);
    refused(bytes, chunk.size, 76, 1);
    refused(bytes, chunk.size, 80, 1 << 16 | 1); /* a bit that is not apart */
    refused(bytes, chunk.size, 80, 1 << 20);
    refused(bytes, chunk.size, 80, 0x80000000u); /* one tile more whose rows differ */
    refused(bytes, chunk.size, 84, 0x80000001u); /* it has another number */
    refused(bytes, chunk.size, 84, 1 << 16);
    refused(bytes, chunk.size, offsetof(struct chunk_header, directory_bytes), 8);
    refused(bytes, chunk.size, offsetof(struct chunk_header, directory_bytes), 16);
    refused(bytes, chunk.size, offsetof(struct chunk_header, directory_bytes), 12);
    refused(bytes, chunk.size, offsetof(struct chunk_header, rows), 7000);
    free(bytes);
}

/* Bits a value: those of a position, whatever the values are, and no directory a tile. */
static void its_size_is_that_of_the_bits(void **state)
{
    (void)state;
    enum { SIZE_ROWS = 100 * TILE_ROWS };
    int32_t *values = cases_allocate(SIZE_ROWS * sizeof *values);
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t row = 0; row < SIZE_ROWS; row++)
        values[row] = (int32_t)random_bits(&random, 22);
    check_bits(bits_a_value(CODEC_LANE_LEVELS, values, SIZE_ROWS, 4), 22.03, 0.01);
    for (uint32_t row = 0; row < SIZE_ROWS; row++) /* each tile has one of 5 prefixes of 3 bits */
        values[row] = (int32_t)(row / (20 * TILE_ROWS) << 19 | random_bits(&random, 19));
    check_bits(bits_a_value(CODEC_LANE_LEVELS, values, SIZE_ROWS, 4), 19.06, 0.01);
    free(values);
}

int main(void)
{
    static enum codec_id id = CODEC_LANE_LEVELS;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test(bits_are_where_the_format_says),
        cmocka_unit_test(planes_that_are_alike_are_apart),
        cmocka_unit_test(all_numbers_of_bits_and_planes),
        cmocka_unit_test(all_instruction_sets_write_the_same),
        cmocka_unit_test(what_it_cannot_hold),
        cmocka_unit_test(impossible_directories_are_refused),
        cmocka_unit_test(impossible_tiles_are_refused),
        cmocka_unit_test(its_size_is_that_of_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
