/*
 * test_orc_rle.c: both versions of ORC's run-length encoding: what is encoded decodes to the same items, within the bound,
 * for all types, shapes and odd sizes; and streams that end early are refused.
 */
#include "tests/support/codec/codec_cases.h"
#include "tests/support/orc_streams.h"

#define ITEMS_MOST 16384u

static const struct orc_version *const versions[] = {&orc_version1, &orc_version2};
static const struct orc_item types[] = {UNSIGNED(1), UNSIGNED(2), UNSIGNED(4), UNSIGNED(8),
                                        SIGNED(1),   SIGNED(2),   SIGNED(4),   SIGNED(8)};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Shapes: item i after `last`, cut to its type by the caller ---- */

static uint64_t equal_items(uint32_t i, uint64_t last, uint64_t *random)
{
    return i ? last : random_next(random);
}

static uint64_t alternating(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)last;
    (void)random;
    return i % 2 ? UINT64_C(0) - 5 : 100;
}

static uint64_t going_up(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)i;
    return last + random_next(random) % 9;
}

static uint64_t going_down(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)i;
    return last - random_next(random) % 300;
}

static uint64_t stepping(uint32_t i, uint64_t last, uint64_t *random)
{
    return i % 700 ? last + 3 : random_next(random);
}

static uint64_t short_runs(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)i;
    return random_next(random) % 4 ? last : random_next(random) % 200;
}

static uint64_t pairs(uint32_t i, uint64_t last, uint64_t *random)
{
    return i % 2 ? last : random_next(random) % 50;
}

static uint64_t outliers(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)i;
    (void)last;
    return random_next(random) % 64 ? random_next(random) % 6 - 3
                                    : random_next(random) >> random_next(random) % 64;
}

/* The least, the greatest, and their neighbours, of every type. */
static uint64_t extremes(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)i;
    (void)last;
    const uint64_t bits = random_next(random);
    return (UINT64_C(1) << (8u << bits % 4) % 64 >> 1) - (bits >> 8) % 3 + (bits >> 16) % 3;
}

static uint64_t any_width(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)i;
    (void)last;
    return random_next(random) >> random_next(random) % 64;
}

static uint64_t anything(uint32_t i, uint64_t last, uint64_t *random)
{
    (void)i;
    (void)last;
    return random_next(random);
}

/* Another shape every few hundred items. */
static uint64_t mixed(uint32_t i, uint64_t last, uint64_t *random)
{
    static uint64_t (*const parts[])(uint32_t, uint64_t, uint64_t *) = {
        going_up, going_down, short_runs, outliers, any_width, pairs, alternating};
    return parts[i / 389 % COUNT(parts)](i, last, random);
}

static const struct shape {
    const char *name;
    uint64_t (*next)(uint32_t i, uint64_t last, uint64_t *random);
} shapes[] = {{"all equal", equal_items}, {"alternating", alternating}, {"going up", going_up},
              {"going down", going_down}, {"stepping", stepping},       {"short runs", short_runs},
              {"pairs", pairs},           {"outliers", outliers},       {"extremes", extremes},
              {"any width", any_width},   {"anything", anything},       {"mixed", mixed}};

/* The low bytes of the shape's items; they are little-endian. */
static void *shape_make(const struct shape *shape, uint32_t count, uint32_t bytes, uint64_t *random)
{
    uint8_t *const items =
        malloc(count ? (size_t)count * bytes : 1); /* of exactly this size, for AddressSanitizer */
    uint64_t last = 0;
    assert_non_null(items);
    for (uint32_t i = 0; i < count; i++) {
        last = shape->next(i, last, random);
        memcpy(items + (size_t)i * bytes, &last, bytes);
    }
    return items;
}

/* ---- Tests ---- */

static void check_stream_round_trip(const struct orc_version *version, const void *items, uint32_t count,
                                    struct orc_item item)
{
    const size_t bound = version->bound(count, item);
    uint8_t *const stream = malloc(bound + 1);
    assert_non_null(stream);
    stream[bound] = 0x5a;
    const size_t bytes = version->encode(items, count, item, stream);
    assert_in_range(bytes, 0, bound);
    assert_int_equal(stream[bound], 0x5a);
    check_stream_decodes(version, items, count, item, stream, bytes);
    free(stream);
}

static void each_shape_round_trips_at_odd_sizes(void **state)
{
    static const uint32_t sizes[] = {0,   1,   2,   3,   4,   10,  11,  31,   127,  128,  129,       130,
                                     131, 511, 512, 513, 514, 515, 522, 1023, 1024, 1025, ITEMS_MOST};
    uint64_t random = CODEC_CASES_SEED;
    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t t = 0; t < COUNT(types); t++)
            for (size_t n = 0; n < COUNT(sizes); n++) {
                void *const items = shape_make(&shapes[s], sizes[n], types[t].bytes, &random);
                for (size_t v = 0; v < COUNT(versions); v++)
                    check_stream_round_trip(versions[v], items, sizes[n], types[t]);
                free(items);
            }
}

/* Signed or not makes a difference only to the stream. */
static void a_stream_is_shorter_for_its_type(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    uint8_t stream[2 * 11 * 1024];
    (void)state;
    int32_t *const items = shape_make(&shapes[7], 1000, sizeof *items, &random);
    for (size_t v = 0; v < COUNT(versions); v++) {
        const size_t as_signed = versions[v]->encode(items, 1000, SIGNED(4), stream);
        assert_true(as_signed < versions[v]->encode(items, 1000, UNSIGNED(4), stream));
    }
    free(items);
}

/* Without its last byte, or any more of them, a stream is refused; so it is with more items than it has. */
static void cut_streams_are_refused(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t t = 0; t < COUNT(types); t++)
            for (size_t v = 0; v < COUNT(versions); v++) {
                const uint32_t count = 700;
                const struct orc_item item = types[t];
                void *const items = shape_make(&shapes[s], count, item.bytes, &random);
                uint8_t *const stream = malloc(versions[v]->bound(count, item));
                const size_t bytes = versions[v]->encode(items, count, item, stream);
                for (size_t cut = 0; cut < bytes; cut += 1 + cut / 16)
                    check_refused(versions[v], count, item, stream, cut);
                check_refused(versions[v], count, item, stream, bytes - 1);
                check_refused(versions[v], count - 1, item, stream, bytes);
                check_refused(versions[v], count + 1, item, stream, bytes);
                free(items);
                free(stream);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_round_trips_at_odd_sizes),
        cmocka_unit_test(a_stream_is_shorter_for_its_type),
        cmocka_unit_test(cut_streams_are_refused),
    };
    printf("seed %d\n", (int)CODEC_CASES_SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
