/*
 * test_list_codecs.c: the codecs for lists that the laboratory compares with (lab/lists): what they encode they decode, at every instruction
 * set of this machine, at odd sizes and all widths, and write no value more; streams as their pictures draw them; StreamVByte's bytes are
 * those of its authors' library, where that is installed.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/bench/dataset.h"
#include "lab/lists/list_codec.h"
#include "storage/base/memory.h"
#include "tests/support/not_run.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 0xa5a5a5a5u

static const uint32_t sizes[] = {0,   1,   2,    3,    4,    5,    31,   32,   33,   127,
                                 128, 129, 1023, 1024, 1025, 2047, 2048, 2049, 5000, 70001};
#define SIZES (sizeof sizes / sizeof *sizes)

/* The value at `row`, encoded and decoded, is compared; `what` names the values. The stream has exactly the spare bytes that
 * a decoder may read, so that a sanitizer sees a further one. */
static void check_round_trip(const struct list_codec *codec, const struct list_codec *scalar,
                             const uint32_t *values, uint32_t count, const char *what)
{
    uint8_t *room, *stream, *scalar_stream;
    uint32_t *decoded;
    assert_int_equal(memory_take(&room, LIST_BYTES_MAX(count), "a stream", NULL), STATUS_OK);
    assert_int_equal(memory_take(&scalar_stream, LIST_BYTES_MAX(count), "a stream", NULL), STATUS_OK);
    assert_int_equal(memory_take(&decoded, (count + 1) * sizeof *decoded, "a list", NULL), STATUS_OK);
    const size_t bytes = codec->encode(values, count, room);
    assert_true(bytes + LIST_SPARE_BYTES <= LIST_BYTES_MAX(count));
    assert_int_equal(scalar->encode(values, count, scalar_stream), bytes);
    assert_memory_equal(room, scalar_stream, bytes);
    assert_int_equal(memory_zeros(&stream, bytes + LIST_SPARE_BYTES, "a stream", NULL), STATUS_OK);
    memcpy(stream, room, bytes);
    decoded[count] = GUARD;
    codec->decode(stream, count, decoded);
    if (count && memcmp(decoded, values, count * sizeof *values) != 0)
        fail_msg("%s decodes %u %s to other values", codec->name, count, what);
    if (decoded[count] != GUARD)
        fail_msg("%s writes after %u %s", codec->name, count, what);
    free(decoded);
    free(stream);
    free(scalar_stream);
    free(room);
}

/* Calls the check for every codec at every instruction set, beside the same codec at the lowest one. */
static void check_values(const uint32_t *values, uint32_t count, const char *what)
{
    struct list_codec lowest[LIST_CODECS], codecs[LIST_CODECS];
    list_codecs_get(ISA_BASELINE, lowest);
    for (int level = ISA_BASELINE; level <= (int)isa_level(); level++) {
        list_codecs_get((enum isa_level)level, codecs);
        for (uint32_t c = 0; c < LIST_CODECS; c++)
            check_round_trip(&codecs[c], &lowest[c], values, count, what);
    }
}

static void random_values_of_every_width(void **state)
{
    uint64_t random = 9;
    uint32_t *values;
    (void)state;
    assert_int_equal(memory_take(&values, sizes[SIZES - 1] * sizeof *values, "values", NULL), STATUS_OK);
    for (uint32_t width = 0; width <= 32; width++) {
        for (uint32_t i = 0; i < sizes[SIZES - 1]; i++)
            values[i] = width ? (uint32_t)(random_next(&random) >> (64 - width)) : 0;
        for (size_t s = 0; s + 1 < SIZES; s++)
            check_values(values, sizes[s], "values of one width");
    }
    for (uint32_t i = 0; i < sizes[SIZES - 1]; i++) {
        const uint64_t bits = random_next(&random);
        values[i] = (uint32_t)(bits >> 32) >> bits % 32;
    }
    for (size_t s = 0; s < SIZES; s++)
        check_values(values, sizes[s], "values of all widths");
    free(values);
}

static void one_large_value_anywhere(void **state)
{
    uint32_t values[300];
    (void)state;
    for (uint32_t at = 0; at < 300; at += 7) {
        for (uint32_t i = 0; i < 300; i++)
            values[i] = i == at ? UINT32_MAX : 1;
        check_values(values, 300, "values, of which one is large,");
    }
}

static size_t encode(uint32_t codec, const uint32_t *values, uint32_t count, uint8_t *out)
{
    struct list_codec codecs[LIST_CODECS];
    list_codecs_get(isa_level(), codecs);
    return codecs[codec].encode(values, count, out);
}

static void streams_are_as_drawn(void **state)
{
    static const uint32_t five[] = {1, 0x200, 0x30000, 0x4000000, 5};
    static const uint8_t grouped[] = {0xe4, 1, 0, 2, 0, 0, 3, 0, 0, 0, 4, 0, 5};
    static const uint8_t streamed[] = {0xe4, 0, 1, 0, 2, 0, 0, 3, 0, 0, 0, 4, 5};
    uint8_t out[LIST_BYTES_MAX(256)];
    uint32_t values[256];
    (void)state;
    assert_int_equal(encode(LIST_VARINT_GB, five, 5, out), sizeof grouped);
    assert_memory_equal(out, grouped, sizeof grouped);
    assert_int_equal(encode(LIST_STREAM_VBYTE, five, 5, out), sizeof streamed);
    assert_memory_equal(out, streamed, sizeof streamed);
    /* Blocks of 3 bits: 32 values of BP32, its widths in 4 bytes a group, 128 of SIMD-BP, its widths in 16 bytes. */
    for (uint32_t i = 0; i < 256; i++)
        values[i] = i % 8;
    assert_int_equal(encode(LIST_BP32, values, 256, out), 2 * 4 + 8 * 12);
    assert_memory_equal(out, "\3\3\3\3", 4);
    assert_int_equal(out[4] | out[5] << 8 | out[6] << 16, 076543210); /* the values one after the other */
    assert_int_equal(encode(LIST_SIMD_BP, values, 256, out), 16 + 2 * 48);
    assert_int_equal(out[16] | out[17] << 8, 0x820); /* 0, 4, 0, 4, 0: every fourth value */
}

static void the_library_has_the_same_bytes(void **state)
{
    size_t (*library_encode)(const uint32_t *in, uint32_t length, uint8_t *out);
    uint8_t ours[LIST_BYTES_MAX(5000)], theirs[LIST_BYTES_MAX(5000)];
    uint32_t values[5000];
    uint64_t random = 4;
    (void)state;
    void *const library = dlopen("libstreamvbyte.so.0", RTLD_NOW | RTLD_LOCAL);
    void *const address = library ? dlsym(library, "streamvbyte_encode") : NULL;
    if (!address)
        not_run("libstreamvbyte0 is not installed, with whose bytes ours are compared");
    memcpy(&library_encode, &address, sizeof address);
    for (uint32_t i = 0; i < 5000; i++) {
        const uint64_t bits = random_next(&random);
        values[i] = (uint32_t)(bits >> 32) >> bits % 32;
    }
    for (uint32_t count = 1; count <= 5000; count += 1 + count / 3) {
        const size_t bytes = library_encode(values, count, theirs);
        assert_int_equal(encode(LIST_STREAM_VBYTE, values, count, ours), bytes);
        assert_memory_equal(ours, theirs, bytes);
    }
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_values_of_every_width),
        cmocka_unit_test(one_large_value_anywhere),
        cmocka_unit_test(streams_are_as_drawn),
        cmocka_unit_test(the_library_has_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
