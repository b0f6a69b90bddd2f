/*
 * test_merge_sets.c: the sets of distinct values of two GPUs become one, and each group's count is that of its values
 * (operators/group/merge_sets.h): bits, and hash tables of group number and value, with group tables and without. The
 * kernels' text runs here on the host's memory, item by item in a random order. 1 to 90 groups of 1 to 700 values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "operators/group/merge_sets.h"
#include "storage/base/hash.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

#define GROUPS_MAX 90u
#define VALUES_MAX 700u
#define SLOTS      256u /* of the group table */

static uint32_t groups, domain;
static bool seen[2][GROUPS_MAX][VALUES_MAX]; /* by two GPUs */

static void fill_seen(void)
{
    memset(seen, 0, sizeof seen);
    groups = chance(30) ? 1 : 1 + below(GROUPS_MAX);
    domain = chance(30) ? 1 + below(40) : 1 + below(VALUES_MAX);
    for (uint32_t gpu = 0; gpu < 2; gpu++) {
        const uint32_t percent = below(101);
        for (uint32_t group = 0; group < groups; group++)
            for (uint32_t value = 0; value < domain; value++)
                seen[gpu][group][value] = chance(percent);
    }
}

static uint64_t values_of(uint32_t group, bool both)
{
    uint64_t count = 0;
    for (uint32_t value = 0; value < domain; value++)
        count += seen[0][group][value] || (both && seen[1][group][value]);
    return count;
}

static uint64_t at(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

static void bits_become_one(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        fill_seen();
        const uint32_t words = (groups * domain + 31) / 32, rotation = below(words);
        uint32_t *tables[2];
        uint64_t counts[GROUPS_MAX] = {0};
        struct merge_pending pending = {0, 0};
        for (uint32_t gpu = 0; gpu < 2; gpu++) {
            assert_non_null(tables[gpu] = calloc(words, sizeof *tables[gpu]));
            for (uint32_t bit = 0; bit < groups * domain; bit++)
                tables[gpu][bit / 32] |= (uint32_t)seen[gpu][bit / domain][bit % domain] << bit % 32;
        }
        for (uint32_t group = 0; group < groups; group++)
            counts[group] = values_of(group, false);
        const struct bound_bits work = {.own = at(tables[0]),
                                        .other = at(tables[1]),
                                        .words = words,
                                        .domain = domain,
                                        .counts = at(counts)};
        for (uint32_t word = 0; word < words; word++)
            merge_bits_word(&work, (word + rotation) % words, &pending);
        merge_count(work.counts, pending.slot, pending.count);
        for (uint32_t bit = 0; bit < groups * domain; bit++)
            assert_int_equal(tables[0][bit / 32] >> bit % 32 & 1,
                             seen[0][bit / domain][bit % domain] || seen[1][bit / domain][bit % domain]);
        for (uint32_t group = 0; group < groups; group++)
            assert_int_equal(counts[group], values_of(group, true));
        free(tables[0]);
        free(tables[1]);
    }
}

/* ---- Keys ---- */

static uint64_t insert(uint64_t *table, uint64_t capacity, uint64_t key)
{
    uint64_t place = hash_mix(key) & (capacity - 1);
    while (table[place] && table[place] != key + 1)
        place = (place + 1) & (capacity - 1);
    table[place] = key + 1;
    return place;
}

/* Group g's number; of hashed groups any. */
static uint64_t number_of(uint32_t group, bool hashed)
{
    return hashed ? group * UINT64_C(1000003) + 17 : group;
}

/* The first words of each allocation are the mark of a full table; then come the keys. */
static uint64_t *make_keys(uint32_t gpu, uint64_t capacity, bool hashed)
{
    uint64_t *const memory = calloc(capacity + 4, sizeof *memory);
    assert_non_null(memory);
    for (uint32_t group = 0; group < groups; group++)
        for (uint32_t value = 0; value < domain; value++)
            if (seen[gpu][group][value])
                insert(memory + 4, capacity, number_of(group, hashed) * domain + value);
    return memory;
}

static uint64_t capacity_for(uint64_t entries)
{
    uint64_t capacity = 16;
    while (capacity < 2 * entries)
        capacity *= 2;
    return capacity << below(3);
}

static void check_counts(const uint64_t *counts, const uint64_t *slot_of)
{
    for (uint32_t group = 0; group < groups; group++)
        assert_int_equal(counts[slot_of[group]], values_of(group, true));
}

static void keys_become_one(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        fill_seen();
        const bool hashed = chance(50);
        const uint64_t most = groups * domain, own = capacity_for(most), other = capacity_for(most),
                       rotation = below((uint32_t)other);
        uint64_t *const tables[2] = {make_keys(0, own, hashed), make_keys(1, other, hashed)};
        uint64_t group_table[SLOTS] = {0}, counts[SLOTS] = {0}, slot_of[GROUPS_MAX];
        struct merge_pending pending = {0, 0};
        for (uint32_t group = 0; group < groups; group++) {
            slot_of[group] = hashed ? insert(group_table, SLOTS, number_of(group, true)) : group;
            counts[slot_of[group]] = values_of(group, false);
        }
        const struct bound_keys work = {.table = {.own = at(tables[0]),
                                                  .other = at(tables[1]),
                                                  .own_slots = own,
                                                  .other_slots = other,
                                                  .own_keys = 4,
                                                  .other_keys = 4,
                                                  .key_words = 1},
                                        .domain = domain,
                                        .counts = at(counts),
                                        .group_keys = hashed ? at(group_table) : 0,
                                        .group_slots = hashed ? SLOTS : 0};
        for (uint64_t place = 0; place < other; place++)
            merge_keys_place(&work, (place + rotation) & (other - 1), &pending);
        merge_count(work.counts, pending.slot, pending.count);
        assert_int_equal(tables[0][0], 0);
        check_counts(counts, slot_of);
        free(tables[0]);
        free(tables[1]);
    }
}

static void a_full_table_says_so(void **state)
{
    (void)state;
    groups = 1;
    domain = 600;
    memset(seen, 0, sizeof seen);
    for (uint32_t value = 0; value < domain; value++)
        seen[1][0][value] = true;
    uint64_t own[4 + 512] = {0}, counts[1] = {0}, *const other = make_keys(1, 2048, false);
    struct merge_pending pending = {0, 0};
    const struct bound_keys work = {.table = {.own = at(own),
                                              .other = at(other),
                                              .own_slots = 512,
                                              .other_slots = 2048,
                                              .own_keys = 4,
                                              .other_keys = 4,
                                              .key_words = 1},
                                    .domain = domain,
                                    .counts = at(counts)};
    for (uint64_t place = 0; place < 2048; place++)
        merge_keys_place(&work, place, &pending);
    assert_int_equal(own[0], 1);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_become_one), cmocka_unit_test(keys_become_one),
                                       cmocka_unit_test(a_full_table_says_so)};
    random_state = 20261122;
    print_message("seed %llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
