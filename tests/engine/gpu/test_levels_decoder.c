/*
 * test_levels_decoder.c: the decoder of lane-levels in kernels that are compiled at run time gives the values, and finds the rows
 * of cubes and ranges, of chunks that keep as many planes apart as the kernel is made for, fewer, or none; of tiles whose rows
 * are alike in them or differ. On the emulated GPU of tests/emulator, which TESSERA_LIBCUDA names, as ctest does; skipped without
 * it.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/codec/codec.h"
#include "tests/emulator/levels.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/not_run.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define TILES 20u /* two of which may differ */
#define ROWS  (TILES * TILE_ROWS - 30)

static int32_t values[TILES * TILE_ROWS];

/* Of most tiles the first bits are alike. */
static void make_values(uint32_t bits, uint32_t alike)
{
    for (uint32_t row = 0; row < TILES * TILE_ROWS; row++) {
        const uint32_t tile = row / TILE_ROWS;
        values[row] = (int32_t)below(1u << bits);
        if (row % TILE_ROWS && tile != 3 && tile != 17)
            values[row] ^= (values[row] ^ values[row - 1]) >> (bits - alike) << (bits - alike);
        if (row >= ROWS)
            values[row] = values[ROWS - 1]; /* as the codec pads it */
    }
}

static void check_tile(const struct levels_case *of, const int32_t *right)
{
    for (uint32_t row = 0; row < TILE_ROWS; row++) {
        const uint32_t value = (uint32_t)right[row], later = (uint32_t)right[(row + 7) % TILE_ROWS];
        bool in = false;
        for (int c = 0; c < 2; c++)
            in |= ((value ^ of->value_bits[c]) & of->care[c]) == 0;
        assert_int_equal(of->items[row], value);
        assert_int_equal(of->item[row], value);
        assert_int_equal(of->own_bits[row], value & LEVELS_NEEDED(of->bits));
        assert_int_equal(of->item_bits[row], later & LEVELS_NEEDED(of->bits));
        assert_int_equal(of->in_cubes[row % 32] >> row / 32 & 1, in);
        if (of->planes == of->bits)
            assert_int_equal(of->in_range[row % 32] >> row / 32 & 1,
                             right[row] >= of->low && right[row] <= of->high);
    }
}

static void check_chunk(emulator_levels_run *run, uint32_t bits, uint32_t planes, uint32_t apart,
                        uint32_t alike)
{
    const struct codec *const codec = codec_by_id(CODEC_LANE_LEVELS);
    const struct codec_input input = {
        .values = values, .rows = ROWS, .value_bytes = 4, .bits = bits, .planes = planes};
    struct chunk_view chunk;
    struct levels_case of = {.bits = bits, .planes = planes, .apart = apart};
    uint8_t *const bytes = aligned_alloc(CHUNK_ALIGNMENT, codec->bound(ROWS, 4));
    assert_non_null(bytes);
    make_values(bits, alike);
    assert_int_equal(chunk_open(bytes, codec->encode(&input, bytes), &chunk, NULL), STATUS_OK);
    of.detail = codec->gpu.detail(&chunk);
    assert_int_equal(of.detail, alike);
    of.directory = chunk.directory;
    of.data = chunk.data;
    of.auxiliary = chunk.auxiliary;
    for (of.tile = 0; of.tile < TILES; of.tile++) {
        const int32_t *const right = values + of.tile * TILE_ROWS;
        for (int c = 0; c < 2; c++) {
            of.care[c] = (below(32) | below(32)) << (bits - LEVELS_TESTED);
            of.value_bits[c] = (uint32_t)right[below(TILE_ROWS)] & of.care[c];
        }
        of.low = (int32_t)below(1u << bits) - 5;
        of.high = of.low + (int32_t)below(1u << (bits - 1));
        run(&of);
        check_tile(&of, right);
    }
    free(bytes);
}

static void kernels_read_what_was_written(void **state)
{
    const char *const path = getenv("TESSERA_LIBCUDA");
    void *const library = path ? dlopen(path, RTLD_NOW) : NULL;
    emulator_levels_run *run;
    (void)state;
    random_state = 20;
    *(void **)&run = library ? dlsym(library, "emulator_levels") : NULL;
    if (!run)
        not_run("the decoder for keys is tested with the emulated GPU alone");
#define CHECK_SHAPE(BITS, PLANES, APART)                               \
    for (uint32_t alike = 0; alike <= (APART); alike += alike ? 1 : 2) \
        check_chunk(run, BITS, PLANES, APART, alike);
    LEVELS_SHAPES(CHECK_SHAPE)
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_read_what_was_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
