/*
 * test_share.c: the segments of a table are divided over members so that each segment has one member, the rows are even
 * over every stretch of the table, and appended segments move no others. Random tables of up to 300 segments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run/share.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

#define SEGMENTS_MAX 300u
#define MEMBERS_MAX  9u

static uint32_t segment_rows[SEGMENTS_MAX];

static void fill_rows(uint32_t count, bool even)
{
    for (uint32_t s = 0; s < count; s++)
        segment_rows[s] = even ? SEGMENT_ROWS : 1 + below(SEGMENT_ROWS);
}

/* Finds each segment's member. */
static void divide(uint32_t count, uint32_t members, uint32_t *member_of)
{
    const struct table fact = {.segment_count = count, .segment_rows = segment_rows};
    for (uint32_t s = 0; s < count; s++)
        member_of[s] = UINT32_MAX;
    for (uint32_t m = 0; m < members; m++) {
        uint32_t *segments, shared;
        struct error error;
        assert_int_equal(share_divide(&fact, members, m, &segments, &shared, &error), STATUS_OK);
        for (uint32_t i = 0; i < shared; i++) {
            assert_true(segments[i] < count && (i == 0 || segments[i - 1] < segments[i]));
            assert_int_equal(member_of[segments[i]], UINT32_MAX);
            member_of[segments[i]] = m;
        }
        free(segments);
    }
    for (uint32_t s = 0; s < count; s++)
        assert_true(member_of[s] < members);
}

/* After each segment, two members differ by one segment's rows at most. */
static void assert_balanced(uint32_t count, uint32_t members, const uint32_t *member_of)
{
    uint64_t rows[MEMBERS_MAX] = {0};
    for (uint32_t s = 0; s < count; s++) {
        uint64_t least = UINT64_MAX, most = 0;
        rows[member_of[s]] += segment_rows[s];
        for (uint32_t m = 0; m < members; m++) {
            least = rows[m] < least ? rows[m] : least;
            most = rows[m] > most ? rows[m] : most;
        }
        assert_true(most - least <= SEGMENT_ROWS);
    }
}

static void shares_are_even_and_stay(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t before[SEGMENTS_MAX], after[SEGMENTS_MAX];
        const uint32_t count = below(SEGMENTS_MAX + 1), members = 1 + below(MEMBERS_MAX),
                       fewer = below(count + 1);
        fill_rows(count, chance(30));
        divide(fewer, members, before);
        divide(count, members, after);
        assert_balanced(count, members, after);
        assert_memory_equal(before, after, fewer * sizeof *before);
    }
}

static void equal_segments_take_turns(void **state)
{
    uint32_t member_of[SEGMENTS_MAX];
    (void)state;
    fill_rows(SEGMENTS_MAX, true);
    divide(SEGMENTS_MAX, 4, member_of);
    for (uint32_t s = 0; s < SEGMENTS_MAX; s++)
        assert_int_equal(member_of[s], s % 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_are_even_and_stay),
                                       cmocka_unit_test(equal_segments_take_turns)};
    random_state = 20261122;
    print_message("seed %llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
