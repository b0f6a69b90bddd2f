/*
 * test_list_sets.c: AND and OR of posting lists on one thread (lab/lists/list_sets.c) against a count for each document, and synthetic
 * queries (list_query.c): their lists ascend, and their answers are right, also of one document, and of lists of all documents.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/lists/list_query.h"
#include "lab/lists/list_sets.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 3000u

static const uint32_t sizes[] = {0, 1, 2, 31, 32, 33, 127, 1023, 1025, 2999, 3000};
#define SIZES (sizeof sizes / sizeof *sizes)

/* `count` of the documents, each equally likely. */
static void draw(uint32_t count, uint64_t *random, uint32_t *list)
{
    for (uint32_t d = 0, taken = 0; taken < count; d++)
        if (random_next(random) % (DOCUMENTS - d) < count - taken)
            list[taken++] = d;
}

static void pairs_of_all_sizes(void **state)
{
    uint32_t a[DOCUMENTS], b[DOCUMENTS], found[2 * DOCUMENTS];
    uint64_t random = 3;
    (void)state;
    for (size_t x = 0; x < SIZES; x++)
        for (size_t y = 0; y < SIZES; y++) {
            uint8_t counts[DOCUMENTS] = {0};
            draw(sizes[x], &random, a);
            draw(sizes[y], &random, b);
            for (uint32_t i = 0; i < sizes[x]; i++)
                counts[a[i]]++;
            for (uint32_t i = 0; i < sizes[y]; i++)
                counts[b[i]]++;
            for (uint32_t least = 1; least <= 2; least++) {
                const uint32_t count = least == 2 ? list_and(a, sizes[x], b, sizes[y], found)
                                                  : list_or(a, sizes[x], b, sizes[y], found);
                uint32_t expected = 0;
                for (uint32_t d = 0; d < DOCUMENTS; d++)
                    if (counts[d] >= least) {
                        assert_true(expected < count);
                        assert_int_equal(found[expected++], d);
                    }
                assert_int_equal(count, expected);
            }
            const uint32_t count = list_and(a, sizes[x], b, sizes[y], found);
            assert_int_equal(list_and(a, sizes[x], b, sizes[y], a), count); /* in place */
            assert_memory_equal(a, found, count * sizeof *a);
        }
}

/* Documents of the lists, from their gaps, and which lists have which. */
static void check_query(uint32_t documents, uint32_t lists, const uint32_t *lengths)
{
    struct lab lab = {.threads = 2, .scale = 1};
    struct error error = {0};
    struct list_query query;
    uint8_t *counts;
    uint32_t all = 0, any = 0;
    if (list_query_make(&lab, documents, lists, lengths, &query, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(query.lists, lists);
    assert_int_equal(memory_zeros(&counts, documents, "counts", NULL), STATUS_OK);
    for (uint32_t l = 0; l < lists; l++) {
        const uint32_t count = (uint32_t)query.gaps[l].rows;
        uint32_t *list;
        assert_true(count >= 1 && count <= lengths[l]);
        assert_int_equal(memory_take(&list, count * sizeof *list, "a list", NULL), STATUS_OK);
        list_sum((const uint32_t *)query.gaps[l].values, count, list);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(list[i] < documents && (i == 0 || list[i] > list[i - 1]));
            counts[list[i]]++;
        }
        free(list);
    }
    for (uint32_t d = 0; d < documents; d++) {
        if (counts[d] == lists)
            assert_int_equal(query.all[all++], d);
        if (counts[d])
            assert_int_equal(query.any[any++], d);
    }
    assert_int_equal(query.all_count, all);
    assert_int_equal(query.any_count, any);
    assert_true(all >= lengths[0] / 8);
    assert_int_equal(list_query_check(&query, true, query.any, any, "the test", &error), STATUS_OK);
    query.any[any - 1]--;
    assert_int_equal(list_query_check(&query, false, query.any, any + 1, "the test", &error),
                     STATUS_CHECK_FAILED);
    free(counts);
    list_query_free(&lab, &query);
}

static void queries_have_their_answers(void **state)
{
    (void)state;
    check_query(1, 2, (uint32_t[]){1, 1});
    check_query(40, 3, (uint32_t[]){7, 9, 40});
    check_query(1025, 2, (uint32_t[]){1025, 1025});
    check_query(100003, 8, (uint32_t[]){31, 100, 1000, 1023, 1025, 5000, 20000, 70001});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_all_sizes),
        cmocka_unit_test(queries_have_their_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
