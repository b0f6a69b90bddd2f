/* test_deflate.c: deflate: the general cases, blocks of other sizes, and streams that are damaged. */
#include "storage/codec/bytes/byte_blocks.h"
#include "storage/codec/bytes/deflate.h"
#include "tests/support/codec/codec_cases.h"

#define ROWS (100 * TILE_ROWS + 5)
static int32_t values[ROWS];

static void fill(void)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)random_bits(&random, 9);
}

/* 128 KiB of values are 32 tiles of int32 and 16 of int64; the last block has what is left. */
static void a_block_has_128_kib(void **state)
{
    const struct codec *codec = codec_by_id(cases_codec(state));
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
        const uint32_t rows = ROWS * 4 / value_bytes;
        struct chunk_view chunk;
        uint8_t *bytes = cases_allocate(codec->bound(rows, value_bytes));
        fill();
        const size_t size = codec_encode(codec, values, rows, value_bytes, bytes);
        assert_int_equal(chunk_open(bytes, size, &chunk, NULL), STATUS_OK);
        assert_int_equal(chunk_unit_tiles(&chunk), 128 / value_bytes);
        const uint32_t *const directory = (const uint32_t *)(const void *)chunk.directory;
        assert_int_equal(directory[1], (chunk.tiles + 128 / value_bytes - 1) / (128 / value_bytes));
        assert_int_equal(directory[2], 0);
        free(bytes);
    }
}

static size_t bound(uint32_t items, uint32_t value_bytes)
{
    return deflate_encode_bound((size_t)items * value_bytes);
}

static size_t encode(const void *from, uint32_t items, uint32_t value_bytes, uint8_t *out)
{
    return deflate_encode(from, (size_t)items * value_bytes, out);
}

/* Blocks of 64 KiB to 1 MiB are read; others are refused. */
static void other_sizes_of_blocks_are_read(void **state)
{
    static const uint32_t kib[] = {32, 64, 192, 256, 1024, 2048};
    const struct block_scheme scheme = {.codec = cases_codec(state), .bound = bound, .encode = encode};
    for (size_t s = 0; s < sizeof kib / sizeof *kib; s++) {
        struct chunk_view chunk;
        uint8_t *bytes = cases_allocate(byte_blocks_bound(&scheme, kib[s] << 10, ROWS, 4));
        fill();
        const struct codec_input input = {.values = values, .rows = ROWS, .value_bytes = 4};
        const size_t size = byte_blocks_encode(&scheme, kib[s] << 10, &input, bytes);
        if (kib[s] < 64 || kib[s] > 1024) {
            assert_int_equal(chunk_open(bytes, size, &chunk, NULL), STATUS_BAD_INPUT);
        } else {
            assert_int_equal(chunk_open(bytes, size, &chunk, NULL), STATUS_OK);
            assert_int_equal(chunk_unit_tiles(&chunk), kib[s] / 4);
            check_blocks(&chunk, values);
        }
        free(bytes);
    }
}

/* The error names the block, and the blocks before it can still be read. */
static void a_damaged_stream_is_refused_by_its_block(void **state)
{
    const struct codec *codec = codec_by_id(cases_codec(state));
    struct chunk_reader reader = {0};
    struct chunk_view chunk;
    struct error error = {0};
    const void *tile;
    uint8_t *bytes = cases_allocate(codec->bound(ROWS, 4));
    fill();
    const size_t size = codec_encode(codec, values, ROWS, 4, bytes);
    assert_int_equal(chunk_open(bytes, size, &chunk, NULL), STATUS_OK);
    const uint32_t *const starts = (const uint32_t *)(const void *)chunk.directory + 2;
    bytes[(size_t)(chunk.data - chunk.bytes) + starts[1]] |= 6; /* the reserved type of a Deflate block */
    chunk.file = "sales.3.column";
    chunk.segment = 7;
    assert_int_equal(chunk_reader_tile(&reader, &chunk, 31, &tile, &error), STATUS_OK);
    assert_memory_equal(tile, values + (size_t)31 * TILE_ROWS, TILE_ROWS * sizeof *values);
    assert_int_equal(chunk_reader_tile(&reader, &chunk, 32, &tile, &error), STATUS_BAD_INPUT);
    assert_string_equal(error.text, "sales.3.column: segment 7: block 1 of its deflate streams is damaged; "
                                    "restore the file, or load the table again");
    assert_int_equal(chunk_reader_tile(&reader, &chunk, 64, &tile, &error), STATUS_OK);
    chunk_reader_close(&reader);
    free(bytes);
}

/* The worked example of docs/codecs.md. Another version of zlib may write other bytes for these values. */
static void the_example_of_the_page(void **state)
{
    static const uint8_t stream[] = {0xed, 0xc3, 0xc1, 0x09, 0x00, 0x00, 0x0c, 0x03, 0xa1, 0xfb, 0x65, 0xff,
                                     0x8d, 0xbb, 0x47, 0x51, 0x70, 0xd5, 0x54, 0x55, 0x55, 0xd5, 0xd7, 0x0f};
    int32_t sevens[TILE_ROWS];
    (void)state;
    assert_int_equal(deflate_decode(stream, sizeof stream, sevens, sizeof sevens), STATUS_OK);
    for (uint32_t i = 0; i < TILE_ROWS; i++)
        assert_int_equal(sevens[i], 7);
}

static void a_stream_gives_exactly_its_bytes(void **state)
{
    uint8_t text[5000], stream[8000], back[5001];
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "ACGTN"[i * i % 5];
    for (size_t bytes = 0; bytes <= sizeof text; bytes += 1250) {
        assert_true(deflate_encode_bound(bytes) <= sizeof stream);
        const size_t size = deflate_encode(text, bytes, stream);
        assert_int_equal(deflate_decode(stream, size, back, bytes), STATUS_OK);
        assert_memory_equal(back, text, bytes);
        assert_int_equal(deflate_decode(stream, size, back, bytes + 1), STATUS_BAD_INPUT);
        assert_int_equal(deflate_decode(stream, size - 1, back, bytes), STATUS_BAD_INPUT);
        if (bytes)
            assert_int_equal(deflate_decode(stream, size, back, bytes - 1), STATUS_BAD_INPUT);
    }
}

int main(void)
{
    static enum codec_id id = CODEC_DEFLATE;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(a_block_has_128_kib, &id),
        cmocka_unit_test_prestate(other_sizes_of_blocks_are_read, &id),
        cmocka_unit_test_prestate(a_damaged_stream_is_refused_by_its_block, &id),
        cmocka_unit_test(the_example_of_the_page),
        cmocka_unit_test(a_stream_gives_exactly_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
