/*
 * test_codec_damage.c: damaged chunks are refused or decode to something, but never leave their bytes.
 *
 * Chunks and tiles end where a page begins that may not be touched, so that one byte too many ends the
 * program in any build; AddressSanitizer is not needed to see it. Damage: random bits, words that are often
 * at a limit, copies of other words; in the header, the directory or anywhere; and cut ends.
 */
#include "storage/codec/chunk.h"
#include "tests/support/codec/codec_cases.h"

#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 400

/* Room for what is decoded at once: a tile, or a block of a byte stream. */
#define DECODED_BYTES (1u << 20)

static size_t decoded_bytes(const struct chunk_view *chunk)
{
    const uint32_t unit = chunk_unit_tiles(chunk);
    return (size_t)(chunk->tiles < unit ? chunk->tiles : unit) * TILE_ROWS * chunk->value_bytes;
}

/* Memory of some pages whose last byte is followed by a page without access. */
struct guarded {
    uint8_t *pages;
    size_t bytes;
};

static struct guarded guarded_create(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guarded guarded = {.bytes = (bytes + page - 1) / page * page};
    guarded.pages =
        mmap(NULL, guarded.bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(guarded.pages, MAP_FAILED);
    assert_int_equal(mprotect(guarded.pages + guarded.bytes, page, PROT_NONE), 0);
    return guarded;
}

static uint8_t *guarded_end(const struct guarded *guarded, size_t bytes)
{
    return guarded->pages + guarded->bytes - bytes;
}

static void guarded_destroy(struct guarded *guarded)
{
    munmap(guarded->pages, guarded->bytes + (size_t)sysconf(_SC_PAGESIZE));
}

static void damage(uint8_t *chunk, size_t bytes, uint64_t *random)
{
    static const uint32_t limits[] = {0, 1, 31, 32, 33, 255, 512, 1024, 0x7fffffff, 0x80000000, 0xffffffff};
    struct chunk_header header;
    memcpy(&header, chunk, sizeof header);
    const uint64_t places[] = {sizeof header, sizeof header + header.directory_bytes, bytes};
    const uint64_t place = places[random_next(random) % 3];
    for (uint64_t hits = 1 + random_bits(random, 2); hits; hits--) {
        uint32_t *const word = (uint32_t *)chunk + random_next(random) % (place / 4);
        switch (random_next(random) % 4) {
        case 0:
            *word ^= UINT32_C(1) << random_bits(random, 5);
            break;
        case 1:
            *word = limits[random_next(random) % (sizeof limits / sizeof *limits)];
            break;
        case 2:
            *word = ((uint32_t *)chunk)[random_next(random) % (bytes / 4)];
            break;
        default:
            *word = (uint32_t)random_next(random);
        }
    }
}

/* A damaged stream may be refused, which nothing before can see. */
static void decode_blocks(const struct chunk_view *chunk, uint8_t *block)
{
    const uint32_t tiles = chunk_unit_tiles(chunk);
    for (uint32_t b = 0; b * tiles < chunk->tiles; b++) {
        const enum status status = chunk->codec->decode_block(chunk, b, block);
        assert_true(status == STATUS_OK || status == STATUS_BAD_INPUT);
    }
}

static void decode_everything(struct chunk_view *chunk, uint8_t *tile, uint64_t *random)
{
    for (int level = 0; level <= (int)isa_level(); level++) {
        chunk->codec = codec_by_id_isa(chunk->codec->id, (enum isa_level)level);
        if (chunk->codec->decode_block) {
            decode_blocks(chunk, tile);
            continue;
        }
        for (uint32_t t = 0; t < chunk->tiles; t++)
            chunk->codec->decode_tile(chunk, t, tile);
        for (int i = 0; i < 20; i++)
            (void)chunk->codec->value(chunk, (uint32_t)(random_next(random) % chunk->rows));
        (void)chunk->codec->value(chunk, chunk->rows - 1);
    }
}

static void no_damage_leaves_the_bytes(void **state)
{
    const enum codec_id id = cases_codec(state);
    const struct codec *codec = codec_by_id(id);
    const uint32_t rows = 3 * TILE_ROWS + 77;
    uint64_t random = CODEC_CASES_SEED + id;
    unsigned refused = 0, accepted = 0;
    struct guarded tile_pages = guarded_create(DECODED_BYTES);
    int64_t *values = cases_allocate(rows * sizeof *values);
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
        for (uint32_t value_bytes = 4; value_bytes <= 8 && codec_holds(codec, value_bytes);
             value_bytes += 4) {
            fills[f](values, rows, value_bytes, &random);
            uint8_t *sound = cases_allocate(codec->bound(rows, value_bytes));
            const size_t bytes = codec_encode(codec, values, rows, value_bytes, sound);
            if (bytes == 0) { /* the codec cannot hold these */
                free(sound);
                continue;
            }
            struct guarded pages = guarded_create(bytes);
            uint8_t *chunk = guarded_end(&pages, bytes);
            for (int round = 0; round < ROUNDS; round++) {
                struct chunk_view view;
                memcpy(chunk, sound, bytes);
                damage(chunk, bytes, &random);
                if (chunk_open(chunk, bytes, &view, NULL) != STATUS_OK) {
                    refused++;
                    continue;
                }
                accepted++; /* damage to values cannot be seen here: that is what checksums are for */
                decode_everything(&view, guarded_end(&tile_pages, decoded_bytes(&view)), &random);
            }
            guarded_destroy(&pages);
            free(sound);
        }
    free(values);
    guarded_destroy(&tile_pages);
    print_message("%s, seed %llu: %u refused, %u accepted\n", codec->name,
                  (unsigned long long)(CODEC_CASES_SEED + id), refused, accepted);
    assert_true(refused > 100);
    assert_true(accepted > 100);
}

static void cut_chunks_are_refused(void **state)
{
    const struct codec *codec = codec_by_id(cases_codec(state));
    int32_t values[3000];
    uint64_t random = CODEC_CASES_SEED;
    fill_uniform(values, 3000, 4, &random);
    uint8_t *sound = cases_allocate(codec->bound(3000, 4));
    const size_t bytes = codec_encode(codec, values, 3000, 4, sound);
    struct guarded pages = guarded_create(bytes);
    for (size_t cut = 0; cut < bytes; cut += 8) {
        struct chunk_view view;
        uint8_t *chunk = guarded_end(&pages, cut);
        memcpy(chunk, sound, cut);
        assert_int_equal(chunk_open(chunk, cut, &view, NULL), STATUS_BAD_INPUT);
        if (cut < sizeof(struct chunk_header))
            continue;
        ((struct chunk_header *)chunk)->chunk_bytes = cut; /* even if the header agrees */
        assert_int_equal(chunk_open(chunk, cut, &view, NULL), STATUS_BAD_INPUT);
    }
    guarded_destroy(&pages);
    free(sound);
}

/* Bytes that never were a chunk, behind a header that a hostile writer made fit. */
static void made_up_chunks_leave_no_bytes(void **state)
{
    const enum codec_id id = cases_codec(state);
    uint64_t random = CODEC_CASES_SEED + 100 + id;
    struct guarded tile_pages = guarded_create(DECODED_BYTES);
    for (int round = 0; round < 4 * ROUNDS; round++) {
        struct chunk_header header = {.codec = id,
                                      .rows = 1 + (uint32_t)random_bits(&random, 12),
                                      .value_bytes = random_bits(&random, 1) ? 4 : 8,
                                      .directory_bytes = random_bits(&random, 10) & ~UINT64_C(3),
                                      .data_bytes = random_bits(&random, 12) & ~UINT64_C(3),
                                      .auxiliary_bytes = random_bits(&random, 10) & ~UINT64_C(3)};
        header.width_high = (uint32_t)random_bits(&random, 5);
        header.width_low = header.width_high & (uint32_t)random_bits(&random, 5);
        header.chunk_bytes = (64 + header.directory_bytes + 127) / 128 * 128 +
                             (header.data_bytes + 127) / 128 * 128 +
                             (header.auxiliary_bytes + 127) / 128 * 128;
        struct guarded pages = guarded_create(header.chunk_bytes);
        uint8_t *chunk = guarded_end(&pages, header.chunk_bytes);
        for (uint64_t i = sizeof header; i < header.chunk_bytes; i++)
            chunk[i] = (uint8_t)(random_bits(&random, 3) ? 0 : random_bits(&random, 8));
        memcpy(chunk, &header, sizeof header);
        struct chunk_view view;
        if (chunk_open(chunk, header.chunk_bytes, &view, NULL) == STATUS_OK)
            decode_everything(&view, guarded_end(&tile_pages, decoded_bytes(&view)), &random);
        guarded_destroy(&pages);
    }
    guarded_destroy(&tile_pages);
}

int main(void)
{
    static enum codec_id ids[CODEC_COUNT];
    struct CMUnitTest tests[3 * (CODEC_COUNT - 1)];
    size_t count = 0;
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        ids[id] = (enum codec_id)id;
        tests[count++] = (struct CMUnitTest)cmocka_unit_test_prestate(no_damage_leaves_the_bytes, &ids[id]);
        tests[count++] = (struct CMUnitTest)cmocka_unit_test_prestate(cut_chunks_are_refused, &ids[id]);
        tests[count++] =
            (struct CMUnitTest)cmocka_unit_test_prestate(made_up_chunks_leave_no_bytes, &ids[id]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
