/* test_bitmap_peers.c: the OR of compressed vectors by the paper's two methods with OpenMP and by CRoaring is that of
 * storage/index; each is skipped where it is not installed. */
#include "lab/bitmaps/openmp.h"
#include "lab/bitmaps/roaring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include "tests/support/not_run.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VECTORS_MAX 37u
#define SEED        0x5eedull

static uint64_t random_state = SEED;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static const uint64_t sizes[] = {1, 62, 63, 64, 65536, 63 * 1024 - 1, 63 * 1024, 63 * 1024 + 1, 1000003};
static const uint64_t counts[] = {1, 2, 3, 8, VECTORS_MAX};

struct vectors {
    struct wah_builder builders[VECTORS_MAX];
    struct wah_vector of[VECTORS_MAX];
    struct wah_builder expected;
};

/* Every third vector has rare rows, every third runs, and the others nothing or everything. */
static void make(struct vectors *vectors, uint64_t count, uint64_t rows)
{
    memset(vectors, 0, sizeof *vectors);
    for (uint64_t v = 0; v < count; v++) {
        struct wah_builder *const builder = &vectors->builders[v];
        const uint64_t step = v % 3 == 0 ? 1 + next_random() % 300 : 5000;
        for (uint64_t row = next_random() % (2 * step); row < rows; row += 1 + next_random() % (2 * step))
            if (v % 3 == 0) {
                assert_int_equal(wah_append_row(builder, row, NULL), STATUS_OK);
            } else if (v % 3 == 1 && row >= builder->rows) {
                const uint64_t run = 1 + next_random() % 2000, end = row + run < rows ? row + run : rows;
                assert_int_equal(wah_append_run(builder, false, row - builder->rows, NULL), STATUS_OK);
                assert_int_equal(wah_append_run(builder, true, end - row, NULL), STATUS_OK);
            }
        if (v == 5 && next_random() % 4 == 0)
            assert_int_equal(wah_append_run(builder, true, rows, NULL), STATUS_OK);
        assert_int_equal(wah_finish(builder, rows, NULL), STATUS_OK);
        vectors->of[v] = wah_of(builder);
    }
    assert_int_equal(wah_or_sequential(vectors->of, count, rows, &vectors->expected, NULL), STATUS_OK);
}

static void release(struct vectors *vectors)
{
    for (uint64_t v = 0; v < VECTORS_MAX; v++)
        wah_builder_free(&vectors->builders[v]);
    wah_builder_free(&vectors->expected);
}

static void methods_with_openmp_agree(void **state)
{
    static struct vectors vectors;
    (void)state;
    if (!openmp_available())
        not_run("the C compiler has no OpenMP");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct wah_builder result = {.words = NULL};
            make(&vectors, counts[c], sizes[s]);
            for (unsigned threads = 0; threads < 4; threads++)
                for (enum openmp_method method = 0; method < OPENMP_METHODS; method++) {
                    assert_int_equal(
                        openmp_or(method, vectors.of, counts[c], sizes[s], threads, &result, NULL),
                        STATUS_OK);
                    assert_int_equal(result.count, vectors.expected.count);
                    assert_memory_equal(result.words, vectors.expected.words,
                                        result.count * sizeof *result.words);
                }
            wah_builder_free(&result);
            release(&vectors);
        }
}

static void roaring_agrees(void **state)
{
    static struct vectors vectors;
    struct roaring roaring;
    (void)state;
    roaring_open(&roaring);
    if (!roaring.library)
        not_run("CRoaring (libroaring0) is not installed");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct roaring_set set;
            double ms = 0;
            make(&vectors, counts[c], sizes[s]);
            const bool same = wah_count(vectors.of[0]) == wah_count(wah_of(&vectors.expected));
            assert_int_equal(roaring_make(&roaring, vectors.of, counts[c], sizes[s], &set, NULL), STATUS_OK);
            assert_int_equal(roaring_time(&roaring, &set, wah_of(&vectors.expected), sizes[s], &ms, NULL),
                             STATUS_OK);
            assert_int_equal(roaring_time(&roaring, &set, vectors.of[0], sizes[s], &ms, NULL),
                             same ? STATUS_OK : STATUS_CHECK_FAILED);
            roaring_free(&roaring, &set);
            release(&vectors);
        }
    roaring_close(&roaring);
}

int main(void)
{
    printf("seed %#llx\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_with_openmp_agree),
        cmocka_unit_test(roaring_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
