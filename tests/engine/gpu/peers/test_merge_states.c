/*
 * test_merge_states.c: the states of several GPUs are added up (operators/group/merge.h, merge_hash.h), as the merge of
 * single states does (engine/aggregate/aggregate.h): sums of 64 and 128 bits with carries, counts, minima and maxima, marks of slots; slots
 * of 1 to 5000, and hash tables of 16 to 16384 places with numbers of one to four words. The kernels' text runs here on
 * the host's memory, item by item in a random order. 0 to 9 other GPUs. Then the kernels are compiled for every
 * architecture.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/peers/merge_kernels.h"
#include "operators/group/merge_hash.h"
#include "storage/base/hash.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/gpu/compile_targets.h"

#define GPUS_MAX   10u
#define STATES_MAX 12u

static const enum aggregate_kind kinds[] = {AGGREGATE_COUNT,  AGGREGATE_SUM,    AGGREGATE_SUM_WIDE,
                                            AGGREGATE_MIN,    AGGREGATE_MAX,    AGGREGATE_BIT_AND,
                                            AGGREGATE_BIT_OR, AGGREGATE_BIT_XOR};
static const uint32_t kind_merges[] = {MERGE_ADD,      MERGE_ADD, MERGE_ADD_WIDE, MERGE_GREATEST,
                                       MERGE_GREATEST, MERGE_OR,  MERGE_OR,       MERGE_XOR};

/* The states of one GPU, as engine/gpu/states.c lays them out, and what they mean. */
struct gpu {
    uint64_t *memory;
    bool *present; /* of each slot */
    int64_t *low[STATES_MAX],
        *high[STATES_MAX]; /* as struct partial has them; neutral if the slot has no rows */
};

static uint32_t slots, states, state_kinds[STATES_MAX];
static struct bound_merge work;
static uint64_t words;

static int64_t any_value(void)
{
    const uint64_t value = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
    return (int64_t)(chance(30) ? UINT64_MAX - (value & 3) : value);
}

/* A minimum or maximum as its greatest of unsigned numbers (states_cuda.h). */
static uint64_t word_of(enum aggregate_kind kind, int64_t value)
{
    const uint64_t flipped = (uint64_t)value ^ UINT64_C(1) << 63;
    return kind == AGGREGATE_MAX       ? flipped
           : kind == AGGREGATE_MIN     ? ~flipped
           : kind == AGGREGATE_BIT_AND ? ~(uint64_t)value
                                       : (uint64_t)value;
}

static int64_t neutral(enum aggregate_kind kind)
{
    return kind == AGGREGATE_MAX       ? INT64_MIN
           : kind == AGGREGATE_MIN     ? INT64_MAX
           : kind == AGGREGATE_BIT_AND ? -1
                                       : 0;
}

static uint64_t take(uint64_t count)
{
    const uint64_t at = words;
    words += (count + 31) / 32 * 32;
    return at;
}

static void lay_out(void)
{
    slots = chance(20) ? 1 : 1 + below(5000);
    states = below(STATES_MAX + 1);
    words = take(8 + below(100));
    work = (struct bound_merge){.slots = slots, .state_count = states};
    work.present = (uint32_t)take((slots + 1) / 2);
    for (uint32_t s = 0; s < states; s++) {
        state_kinds[s] = below(sizeof kinds / sizeof *kinds);
        work.states[s].kind = kind_merges[state_kinds[s]];
        work.states[s].offset = (uint32_t)take(slots * (kinds[state_kinds[s]] == AGGREGATE_SUM_WIDE ? 2 : 1));
    }
}

static void fill_state(struct gpu *gpu, uint32_t s)
{
    const enum aggregate_kind kind = kinds[state_kinds[s]];
    uint64_t *const at = gpu->memory + work.states[s].offset;
    gpu->low[s] = malloc(slots * sizeof(int64_t));
    gpu->high[s] = malloc(slots * sizeof(int64_t));
    assert_true(gpu->low[s] && gpu->high[s]);
    for (uint32_t slot = 0; slot < slots; slot++) {
        const bool rows = gpu->present[slot];
        gpu->low[s][slot] = rows ? any_value() : neutral(kind);
        gpu->high[s][slot] = rows ? (int32_t)any_value() : 0;
        at[slot] = rows ? word_of(kind, gpu->low[s][slot]) : 0;
        if (kind == AGGREGATE_SUM_WIDE)
            at[slots + slot] = (uint64_t)gpu->high[s][slot];
    }
}

static void fill_gpu(struct gpu *gpu)
{
    const uint32_t percent = below(101);
    gpu->memory = calloc(words, sizeof *gpu->memory);
    gpu->present = calloc(slots, sizeof *gpu->present);
    assert_true(gpu->memory && gpu->present);
    uint32_t *const marks = (uint32_t *)(gpu->memory + work.present);
    for (uint32_t slot = 0; slot < slots; slot++)
        marks[slot] = gpu->present[slot] = chance(percent);
    for (uint32_t s = 0; s < states; s++)
        fill_state(gpu, s);
}

static void free_gpu(struct gpu *gpu)
{
    for (uint32_t s = 0; s < states; s++) {
        free(gpu->low[s]);
        free(gpu->high[s]);
    }
    free(gpu->memory);
    free(gpu->present);
}

/* Adds the states of `from` to those of `into`, as they are meant. */
static void merge_meant(struct gpu *into, const struct gpu *from)
{
    for (uint32_t slot = 0; slot < slots; slot++) {
        for (uint32_t s = 0; s < states; s++)
            aggregate_of(kinds[state_kinds[s]])
                ->merge(into->low[s], into->high[s], 1, &(uint64_t){slot}, from->low[s] + slot,
                        from->high[s] + slot, 0);
        into->present[slot] |= from->present[slot];
    }
}

static void check(const struct gpu *gpu)
{
    const uint32_t *const marks = (const uint32_t *)(gpu->memory + work.present);
    for (uint32_t slot = 0; slot < slots; slot++) {
        assert_int_equal(marks[slot], gpu->present[slot]);
        for (uint32_t s = 0; gpu->present[slot] && s < states; s++) {
            const enum aggregate_kind kind = kinds[state_kinds[s]];
            const uint64_t *const at = gpu->memory + work.states[s].offset;
            assert_int_equal(at[slot], word_of(kind, gpu->low[s][slot]));
            if (kind == AGGREGATE_SUM_WIDE)
                assert_int_equal(at[slots + slot], gpu->high[s][slot]);
        }
    }
}

static void states_add_up(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        struct gpu gpus[GPUS_MAX];
        lay_out();
        work.peer_count = below(GPUS_MAX);
        for (uint32_t g = 0; g <= work.peer_count; g++)
            fill_gpu(&gpus[g]);
        work.own = (uint64_t)(uintptr_t)gpus[0].memory;
        for (uint32_t g = 1; g <= work.peer_count; g++) {
            work.peers[g - 1] = (uint64_t)(uintptr_t)gpus[g].memory;
            merge_meant(&gpus[0], &gpus[g]);
        }
        const uint32_t items = merge_items(&work), rotation = below(items);
        for (uint32_t item = 0; item < items; item++)
            merge_item(&work, (item + rotation) % items);
        check(&gpus[0]);
        for (uint32_t g = 0; g <= work.peer_count; g++)
            free_gpu(&gpus[g]);
    }
}

/* ---- Hash tables ---- */

#define GROUPS_MAX 6000u

/* A hash table of groups 0 .. groups-1 of which some are there, with its states after it. */
struct group_table {
    uint64_t slots, *memory;
    uint64_t keys, numbers, full, found, states[STATES_MAX]; /* offsets */
    struct gpu meant;                                        /* by group */
};

static uint32_t key_words, groups;

static uint64_t number_word(uint32_t group, uint32_t word)
{
    if (key_words == 1)
        return group * UINT64_C(1000003);
    return word ? group * UINT64_C(0x9e3779b97f4a7c15) >> word : group % 1000;
}

/* The group's key in a table, and the first slot where it may be (states_cuda.h: find_group). */
static uint64_t key_of(uint32_t group, uint64_t slot_count, uint64_t *first)
{
    uint64_t hash = 0;
    if (key_words == 1) {
        *first = hash_mix(number_word(group, 0)) & (slot_count - 1);
        return number_word(group, 0) + 1;
    }
    for (uint32_t word = 0; word < key_words; word++)
        hash = hash_mix(hash ^ number_word(group, word));
    *first = hash_mix(hash) & (slot_count - 1);
    return hash | 3;
}

/* The slot of a group, or the free one where it belongs. */
static uint64_t slot_of(const struct group_table *table, uint32_t group)
{
    uint64_t slot;
    const uint64_t key = key_of(group, table->slots, &slot);
    for (uint64_t probe = 0; table->memory[table->keys + slot]; slot = (slot + 1) & (table->slots - 1)) {
        if (probe++ == table->slots)
            return table->slots; /* merging may fill the last place */
        bool same = table->memory[table->keys + slot] == key;
        for (uint32_t word = 0; same && key_words > 1 && word < key_words; word++)
            same = table->memory[table->numbers + word * table->slots + slot] == number_word(group, word);
        if (same)
            break;
    }
    return slot;
}

static void write_group(struct group_table *table, uint32_t group)
{
    uint64_t first;
    const uint64_t slot = slot_of(table, group);
    table->memory[table->keys + slot] = key_of(group, table->slots, &first);
    table->memory[table->found]++;
    for (uint32_t word = 0; key_words > 1 && word < key_words; word++)
        table->memory[table->numbers + word * table->slots + slot] = number_word(group, word);
    for (uint32_t s = 0; s < states; s++) {
        const enum aggregate_kind kind = kinds[state_kinds[s]];
        table->meant.low[s][group] = any_value();
        table->memory[table->states[s] + slot] = word_of(kind, table->meant.low[s][group]);
        if (kind != AGGREGATE_SUM_WIDE)
            continue;
        table->meant.high[s][group] = (int32_t)any_value();
        table->memory[table->states[s] + table->slots + slot] = (uint64_t)table->meant.high[s][group];
    }
}

static void make_table(struct group_table *table, uint64_t slot_count)
{
    const uint32_t percent = below(101);
    words = 0;
    *table = (struct group_table){.slots = slot_count};
    table->full = take(1);
    table->found = take(1);
    table->keys = take(slot_count);
    table->numbers = take(slot_count * key_words);
    for (uint32_t s = 0; s < states; s++)
        table->states[s] = take(slot_count * (kinds[state_kinds[s]] == AGGREGATE_SUM_WIDE ? 2 : 1));
    table->memory = calloc(words, sizeof *table->memory);
    table->meant.present = calloc(groups, sizeof *table->meant.present);
    assert_true(table->memory && table->meant.present);
    for (uint32_t s = 0; s < states; s++) {
        table->meant.low[s] = malloc(groups * sizeof(int64_t));
        table->meant.high[s] = calloc(groups, sizeof(int64_t));
        assert_true(table->meant.low[s] && table->meant.high[s]);
        for (uint32_t group = 0; group < groups; group++)
            table->meant.low[s][group] = neutral(kinds[state_kinds[s]]);
    }
    for (uint32_t group = 0; group < groups; group++)
        if ((table->meant.present[group] = chance(percent) && 2 * table->memory[table->found] < slot_count))
            write_group(table, group);
}

static void free_table(struct group_table *table)
{
    table->meant.memory = table->memory;
    free_gpu(&table->meant);
}

/* Adds another table; returns whether it had room. */
static bool absorb(struct group_table *own, const struct group_table *other)
{
    struct bound_absorb absorbed = {.own = (uint64_t)(uintptr_t)own->memory,
                                    .other = (uint64_t)(uintptr_t)other->memory,
                                    .own_slots = own->slots,
                                    .other_slots = other->slots,
                                    .own_keys = own->keys,
                                    .other_keys = other->keys,
                                    .own_numbers = own->numbers,
                                    .other_numbers = other->numbers,
                                    .key_words = key_words,
                                    .full = own->full,
                                    .found = own->found,
                                    .state_count = states};
    const uint64_t rotation = below((uint32_t)other->slots);
    for (uint32_t s = 0; s < states; s++)
        absorbed.states[s] = (struct absorb_state){
            .kind = kind_merges[state_kinds[s]], .own = own->states[s], .other = other->states[s]};
    for (uint64_t slot = 0; slot < other->slots; slot++)
        own->memory[own->found] += absorb_slot(&absorbed, (slot + rotation) & (other->slots - 1));
    return own->memory[own->full] == 0;
}

static void check_table(const struct group_table *table)
{
    uint64_t present = 0;
    for (uint32_t group = 0; group < groups; group++) {
        const uint64_t slot = slot_of(table, group);
        assert_int_equal(slot < table->slots && table->memory[table->keys + slot] != 0,
                         table->meant.present[group]);
        present += table->meant.present[group];
        for (uint32_t s = 0; table->meant.present[group] && s < states; s++) {
            const enum aggregate_kind kind = kinds[state_kinds[s]];
            assert_int_equal(table->memory[table->states[s] + slot],
                             word_of(kind, table->meant.low[s][group]));
            if (kind == AGGREGATE_SUM_WIDE)
                assert_int_equal(table->memory[table->states[s] + table->slots + slot],
                                 table->meant.high[s][group]);
        }
    }
    assert_int_equal(table->memory[table->found], present);
}

static void tables_add_up(void **state)
{
    uint32_t full = 0, whole = 0;
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        struct group_table own, other;
        bool room = true;
        key_words = 1 + below(ABSORB_KEY_WORDS_MAX);
        groups = 1 + below(chance(50) ? 50 : GROUPS_MAX);
        states = below(STATES_MAX + 1);
        for (uint32_t s = 0; s < states; s++)
            state_kinds[s] = below(sizeof kinds / sizeof *kinds);
        make_table(&own, UINT64_C(16) << below(11));
        for (uint32_t gpus = below(GPUS_MAX); room && gpus > 0; gpus--) {
            make_table(&other, UINT64_C(16) << below(11));
            slots = groups;
            merge_meant(&own.meant, &other.meant);
            room = absorb(&own, &other);
            free_table(&other);
        }
        if (room)
            check_table(&own);
        full += !room;
        whole += room;
        free_table(&own);
    }
    assert_true(full > 5 && whole > 100);
}

static void the_kernel_compiles(void **state)
{
    struct error error = {0};
    (void)state;
    need_compile_targets();
    for (size_t t = 0; t < compile_target_count; t++)
        if (compile_source("merge", gpu_merge_source, compile_targets[t]->arch, NULL, &error) != STATUS_OK)
            fail_msg("%s", error.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(states_add_up), cmocka_unit_test(tables_add_up),
                                       cmocka_unit_test(the_kernel_compiles)};
    random_state = 20261122;
    print_message("seed %llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
