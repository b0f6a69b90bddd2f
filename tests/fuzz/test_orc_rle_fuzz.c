/*
 * test_orc_rle_fuzz.c: damaged and made-up streams of ORC's run-length encodings are decoded or refused as the decoder
 * below does, which reads bit by bit, and nothing outside of a stream and of the items is touched: build with
 * TESSERA_SANITIZE, as `make check` does.
 *
 * Without arguments it does the same rounds every time, about 5 s with sanitizers. `test_orc_rle_fuzz SECONDS SEED` does
 * more of the same; a SEED of 0 takes it from the clock.
 */
#include "tests/support/orc_streams.h"

#include "storage/base/clock.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdio.h>
#include <time.h>

#define ROUNDS     150000u
#define ITEMS_MOST 1500u

static uint64_t seed = 20261122;
static double seconds; /* 0: ROUNDS */

/* ---- A decoder for reading, not for speed ---- */

struct bits {
    const uint8_t *bytes;
    size_t at, end; /* in bits */
    bool failed;
};

static uint64_t take(struct bits *in, unsigned width)
{
    uint64_t number = 0;
    if (in->end - in->at < width) {
        in->failed = true;
        return 0;
    }
    for (; width--; in->at++)
        number = number << 1 | (in->bytes[in->at / 8] >> (7 - in->at % 8) & 1);
    return number;
}

static uint64_t take_varint(struct bits *in)
{
    uint64_t number = 0;
    for (unsigned digit = 0; digit < 10; digit++) {
        const uint64_t byte = take(in, 8);
        number |= (byte & 127) << 7 * digit;
        if (byte < 128)
            return number;
    }
    in->failed = true;
    return 0;
}

static uint64_t from_zigzag(uint64_t code)
{
    return code & 1 ? ~(code >> 1) : code >> 1;
}

static uint64_t value_of(uint64_t code, bool is_signed)
{
    return is_signed ? from_zigzag(code) : code;
}

static const uint8_t widths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                 17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 40, 48, 56, 64};

/* Each reads a group after its first bits, and gives the number of its items. */

static uint32_t take_group1(struct bits *in, bool is_signed, uint64_t *group)
{
    const uint8_t header = (uint8_t)take(in, 8);
    const uint32_t count = header < 128 ? header + 3u : 256u - header;
    if (header >= 128) {
        for (uint32_t i = 0; i < count; i++)
            group[i] = value_of(take_varint(in), is_signed);
        return count;
    }
    const uint64_t delta = (uint64_t)(int8_t)take(in, 8);
    group[0] = value_of(take_varint(in), is_signed);
    for (uint32_t i = 1; i < count; i++)
        group[i] = group[i - 1] + delta;
    return count;
}

static uint32_t take_short_repeat(struct bits *in, bool is_signed, uint64_t *group)
{
    const unsigned bytes = (unsigned)take(in, 3) + 1;
    const uint32_t count = (uint32_t)take(in, 3) + 3;
    const uint64_t value = value_of(take(in, 8 * bytes), is_signed);
    for (uint32_t i = 0; i < count; i++)
        group[i] = value;
    return count;
}

static void align(struct bits *in)
{
    in->at = (in->at + 7) / 8 * 8;
}

static void take_patches(struct bits *in, uint32_t count, unsigned width, uint64_t *group)
{
    const unsigned base_bytes = (unsigned)take(in, 3) + 1, patch_width = widths[take(in, 5)];
    const unsigned gap_width = (unsigned)take(in, 3) + 1, patches = (unsigned)take(in, 5);
    const bool is_negative = take(in, 1);
    uint64_t base = take(in, 8 * base_bytes - 1), place = 0;
    unsigned entry_width = 0;
    if (patches == 0 || patch_width + gap_width > 64)
        in->failed = true;
    while (!in->failed && widths[entry_width] < patch_width + gap_width)
        entry_width++;
    if (is_negative)
        base = 0 - base;
    for (uint32_t i = 0; i < count; i++)
        group[i] = take(in, width);
    align(in);
    for (unsigned p = 0; p < patches && !in->failed; p++) {
        const uint64_t entry = take(in, widths[entry_width]), gap = entry >> patch_width;
        place += gap;
        if (place >= count || (p > 0 && gap == 0)) {
            in->failed = true;
            return;
        }
        const uint64_t patch = entry & ((UINT64_C(1) << patch_width) - 1);
        group[place] |= width == 64 ? 0 : patch << width;
    }
    for (uint32_t i = 0; i < count; i++)
        group[i] += base;
}

static void take_deltas(struct bits *in, uint32_t count, unsigned width_code, bool is_signed, uint64_t *group)
{
    group[0] = value_of(take_varint(in), is_signed);
    const uint64_t step = from_zigzag(take_varint(in));
    if (width_code != 0 && count == 1)
        in->failed = true;
    for (uint32_t i = 1; i < count; i++) {
        const uint64_t delta = i == 1 || width_code == 0 ? step : take(in, widths[width_code]);
        group[i] = i > 1 && width_code != 0 && step >> 63 ? group[i - 1] - delta : group[i - 1] + delta;
    }
}

static uint32_t take_group2(struct bits *in, bool is_signed, uint64_t *group)
{
    const unsigned encoding = (unsigned)take(in, 2);
    if (encoding == 0)
        return take_short_repeat(in, is_signed, group);
    const unsigned width_code = (unsigned)take(in, 5);
    const uint32_t count = (uint32_t)take(in, 9) + 1;
    if (encoding == 2)
        take_patches(in, count, widths[width_code], group);
    else if (encoding == 3)
        take_deltas(in, count, width_code, is_signed, group);
    else
        for (uint32_t i = 0; i < count; i++)
            group[i] = value_of(take(in, widths[width_code]), is_signed);
    align(in);
    return count;
}

static bool decode_slowly(bool second, const uint8_t *stream, size_t bytes, struct orc_item item,
                          uint8_t *items, uint32_t count, size_t *used)
{
    struct bits in = {.bytes = stream, .end = bytes * 8};
    for (uint32_t i = 0; i < count;) {
        uint64_t group[512];
        const uint32_t length = (second ? take_group2 : take_group1)(&in, item.is_signed, group);
        if (in.failed || length > count - i)
            return false;
        for (uint32_t k = 0; k < length; k++, i++)
            memcpy(items + (size_t)i * item.bytes, &group[k], item.bytes);
    }
    *used = in.at / 8;
    return true;
}

/* ---- Streams ---- */

static uint64_t some_number(void)
{
    const uint64_t bits = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
    return bits >> below(64);
}

/* Items of a few shapes, which change now and then. */
static void make_items(uint64_t *items, uint32_t count)
{
    uint64_t value = some_number(), step = below(300) - 150u;
    uint32_t shape = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || below(150) == 0) {
            shape = below(6);
            step = below(2) ? below(300) - 150u : some_number();
        }
        if (shape == 1)
            value += step;
        else if (shape == 2)
            value += below(50);
        else if (shape == 3)
            value = below(30) ? below(20) - 10u : some_number();
        else if (shape == 4 || (shape == 5 && below(4) == 0))
            value = some_number();
        items[i] = value;
    }
}

/* The stream of some items; or bytes, most of them small, behind headers of any kind. */
static size_t make_stream(const struct orc_version *version, struct orc_item item, uint32_t count,
                          uint8_t *stream)
{
    uint64_t wide[ITEMS_MOST];
    uint8_t items[ITEMS_MOST * 8];
    if (chance(20)) {
        const size_t bytes = 1 + below(1000);
        for (size_t i = 0; i < bytes; i++)
            stream[i] = (uint8_t)(below(3) ? below(256) : below(4));
        return bytes;
    }
    make_items(wide, count);
    for (uint32_t i = 0; i < count; i++)
        memcpy(items + (size_t)i * item.bytes, &wide[i], item.bytes);
    return version->encode(items, count, item, stream);
}

/* Returns whether the stream is right. */
static bool check_stream_once(const struct orc_version *version, bool second, struct orc_item item,
                              const uint8_t *stream, size_t bytes, uint32_t count)
{
    const size_t item_bytes = (size_t)count * item.bytes;
    uint8_t *const in = exact_copy(stream, bytes);
    uint8_t *const items = malloc(item_bytes), *const expected = malloc(item_bytes);
    size_t used = 0, expected_used = 0;
    const bool right = decode_slowly(second, in, bytes, item, expected, count, &expected_used);
    assert_int_equal(version->decode(in, bytes, item, items, count, &used), right);
    if (right) {
        assert_int_equal(used, expected_used);
        assert_memory_equal(items, expected, item_bytes);
    }
    assert_int_equal(version->decode(in, bytes, item, items, count, NULL), right && expected_used == bytes);
    free(in);
    free(items);
    free(expected);
    return right;
}

static void streams_are_decoded_or_refused(void **state)
{
    static const struct orc_version *const versions[] = {&orc_version1, &orc_version2};
    static uint8_t stream[ITEMS_MOST * 11 + 64];
    const double begin = clock_seconds();
    uint64_t done = 0, right = 0;
    (void)state;
    random_state = seed;
    for (; seconds > 0 ? clock_seconds() - begin < seconds : done < ROUNDS; done++) {
        const struct orc_item item = {.bytes = 1u << below(4), .is_signed = below(2)};
        const uint32_t second = below(2);
        uint32_t count = 1 + below(below(2) ? ITEMS_MOST : 100);
        size_t bytes = make_stream(versions[second], item, count, stream);
        if (chance(80))
            bytes = mutate(stream, bytes);
        else if (chance(50))
            count = 1 + below(ITEMS_MOST);
        right += check_stream_once(versions[second], second, item, stream, bytes, count);
    }
    print_message("%llu streams, %llu of them decoded, seed %llu\n", (unsigned long long)done,
                  (unsigned long long)right, (unsigned long long)seed);
    assert_in_range(right, done / 4, done - done / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_are_decoded_or_refused)};
    if (argc > 1)
        seconds = strtod(argv[1], NULL);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    if (seed == 0)
        seed = (uint64_t)time(NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
