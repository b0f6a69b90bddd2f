/*
 * test_aggregate_names.c: aggregates are described once. Few files of the product name a kind of aggregate or measure
 * (engine/aggregate/kinds.h): their tables, the names of SQL, and the binder, which asks for counts and extremes. And what
 * a descriptor promises: merging its identity changes nothing, its loops agree with each other, and GPUs merge its words
 * as CPUs do.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/aggregate/aggregate.h"
#include "engine/aggregate/measure.h"
#include "engine/aggregate/names.h"
#include "storage/base/isa.h"
#include "tests/fuzz/fuzz_random.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096
#define FILES_MAX  5
#define WORDS_MAX  (AGGREGATE_KINDS + MEASURE_KINDS + 8)

/* ---- Who names a kind ---- */

static char words[WORDS_MAX][64];
static uint32_t word_count;
static int read_files, naming_files;

/* The words of the enums, but for the numbers of kinds and "no measure", which are no kinds. */
static void read_words(void)
{
    FILE *const stream = fopen(TESSERA_SOURCE "/engine/aggregate/kinds.h", "re");
    char line[256], word[64];
    assert_non_null(stream);
    while (fgets(line, sizeof line, stream))
        if (sscanf(line, " %63[A-Z_]", word) == 1 && !strstr(word, "_KINDS") && !strstr(word, "_NONE") &&
            (strncmp(word, "AGGREGATE_", 10) == 0 || strncmp(word, "MEASURE_", 8) == 0)) {
            assert_in_range(word_count, 0, WORDS_MAX - 1);
            strcpy(words[word_count++], word);
        }
    fclose(stream);
}

static bool is_word(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool names_kind(const char *line)
{
    for (uint32_t w = 0; w < word_count; w++)
        for (const char *at = line; (at = strstr(at, words[w])); at++)
            if ((at == line || !is_word(at[-1])) && !is_word(at[strlen(words[w])]))
                return true;
    return false;
}

static int visit(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    const char *const dot = strrchr(path, '.');
    char line[4096];
    bool names = false;
    (void)stat;
    (void)where;
    if (type != FTW_F || !dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0))
        return 0;
    FILE *const stream = fopen(path, "re");
    assert_non_null(stream);
    while (!names && fgets(line, sizeof line, stream))
        names = names_kind(line);
    fclose(stream);
    read_files++;
    naming_files += names;
    if (names)
        print_message("names a kind: %s\n", path + strlen(TESSERA_SOURCE) + 1);
    return 0;
}

static void few_files_name_a_kind(void **state)
{
    static const char *const modules[] = {"storage", "operators", "engine", "loader", "ssb"};
    char path[PATH_BYTES];
    (void)state;
    read_words();
    assert_int_equal(word_count, AGGREGATE_KINDS + MEASURE_KINDS - 1);
    assert_true(names_kind("case AGGREGATE_SUM:") && names_kind("AGGREGATE_SUM"));
    assert_false(names_kind("AGGREGATE_SUMMARY") || names_kind("PLAN_AGGREGATE_SUM"));
    for (size_t m = 0; m < sizeof modules / sizeof *modules; m++) {
        snprintf(path, sizeof path, "%s/%s", TESSERA_SOURCE, modules[m]);
        nftw(path, visit, 16, FTW_PHYS);
    }
    assert_true(read_files > 200);
    assert_in_range(naming_files, 1, FILES_MAX);
}

/* ---- What a descriptor promises ---- */

#define ROWS      700u
#define GROUPS    5u
#define MOST_ROWS 1025u

struct states {
    int64_t low[GROUPS], high[GROUPS];
};

static int64_t any_value(void)
{
    const uint64_t value = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
    return chance(50) ? (int64_t)value : (int64_t)below(7) - 3;
}

static void clear(const struct aggregate *aggregate, struct states *states)
{
    for (uint32_t g = 0; g < GROUPS; g++) {
        states->low[g] = aggregate->identity[0];
        states->high[g] = aggregate->identity[1];
    }
}

static void assert_same(const struct aggregate *aggregate, const struct states *a, const struct states *b)
{
    assert_memory_equal(a->low, b->low, sizeof a->low);
    if (aggregate->words > 1)
        assert_memory_equal(a->high, b->high, sizeof a->high);
}

static void merge(const struct aggregate *aggregate, struct states *into, const struct states *from)
{
    static const uint64_t all[GROUPS] = {0, 1, 2, 3, 4};
    aggregate->merge(into->low, into->high, GROUPS, all, from->low, from->high, 1);
}

/* Rows in halves that are merged, either way round, and one by one, and folded: all give the same states. */
static void loops_agree(const struct aggregate *aggregate, bool nullable)
{
    int64_t values[ROWS];
    uint8_t nulls[ROWS];
    uint64_t at[ROWS];
    struct states whole, left, right, other, folded, empty;
    const uint32_t middle = below(ROWS + 1);
    for (uint32_t row = 0; row < ROWS; row++) {
        values[row] = any_value();
        nulls[row] = nullable && chance(30);
        at[row] = below(GROUPS - 1); /* the last group has no rows */
    }
    clear(aggregate, &whole);
    clear(aggregate, &left);
    clear(aggregate, &right);
    clear(aggregate, &folded);
    clear(aggregate, &empty);
    const uint8_t *const known = nullable ? nulls : NULL;
    aggregate->add(whole.low, whole.high, ROWS, at, values, known);
    aggregate->add(left.low, left.high, middle, at, values, known);
    aggregate->add(right.low, right.high, ROWS - middle, at + middle, values + middle,
                   known ? known + middle : NULL);
    for (uint32_t row = 0; row < ROWS; row++)
        aggregate->fold(&folded.low[at[row]], &folded.high[at[row]], 1, values + row,
                        known ? known + row : NULL);
    assert_same(aggregate, &folded, &whole);
    other = right;
    merge(aggregate, &other, &left);
    merge(aggregate, &left, &right);
    assert_same(aggregate, &left, &whole);
    assert_same(aggregate, &other, &whole);
    merge(aggregate, &left, &empty);
    assert_same(aggregate, &left, &whole);
}

/* All loops over `rows` rows, of words and of 32-bit values, fold or add what single rows do: at sizes that leave rows
 * after whole vectors, at the edge of 64 bits, and where all rows are NULL. */
static void sizes_agree(const struct aggregate *aggregate, uint32_t rows, unsigned nulls_percent)
{
    static int64_t values[MOST_ROWS], wide[MOST_ROWS];
    static int32_t narrow[MOST_ROWS];
    static uint8_t nulls[MOST_ROWS];
    static uint64_t at[MOST_ROWS];
    struct states single[2], added[2], folded[2];
    const uint8_t *const known = nulls_percent ? nulls : NULL;
    for (uint32_t row = 0; row < rows; row++) {
        values[row] = chance(10) ? (chance(50) ? INT64_MIN : INT64_MAX) : any_value();
        narrow[row] = chance(10) ? (chance(50) ? INT32_MIN : INT32_MAX) : (int32_t)any_value();
        wide[row] = narrow[row];
        nulls[row] = chance(nulls_percent);
        at[row] = below(GROUPS);
    }
    for (uint32_t type = 0; type < 2; type++) {
        clear(aggregate, &single[type]);
        clear(aggregate, &added[type]);
        clear(aggregate, &folded[type]);
        struct states total = folded[type];
        for (uint32_t row = 0; row < rows; row++) {
            const int64_t *const value = type ? &wide[row] : &values[row];
            const uint8_t *const null = known ? &nulls[row] : NULL;
            aggregate->add(single[type].low, single[type].high, 1, &at[row], value, null);
            aggregate->add(total.low, total.high, 1, &(uint64_t){0}, value, null);
        }
        if (type) {
            aggregate->add_narrow(added[1].low, added[1].high, rows, at, narrow, known);
            aggregate->fold_narrow(folded[1].low, folded[1].high, rows, narrow, known);
        } else {
            aggregate->add(added[0].low, added[0].high, rows, at, values, known);
            aggregate->fold(folded[0].low, folded[0].high, rows, values, known);
        }
        assert_same(aggregate, &added[type], &single[type]);
        assert_same(aggregate, &folded[type], &total);
    }
}

/* The loops of every instruction set that this machine has. */
static void all_sizes_agree(void **state)
{
    static const uint32_t sizes[] = {0, 1, 15, 16, 31, 32, 1023, 1024, 1025};
    const struct aggregate *const tables[] = {
        aggregate_table_baseline,
#if defined(__x86_64__)
        aggregate_table_avx2,
        aggregate_table_avx512,
#endif
    };
    (void)state;
    for (uint32_t level = 0; level <= isa_level(); level++)
        for (uint32_t kind = 0; kind < AGGREGATE_KINDS; kind++)
            for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                for (unsigned nulls = 0; nulls <= 100 && !tables[level][kind].distinct; nulls += 50)
                    sizes_agree(&tables[level][kind], sizes[s], nulls);
}

/* What a row adds on a GPU (operators/group/state.h). */
static uint64_t device_word(const struct aggregate *aggregate, int64_t value)
{
    return aggregate->counts ? (uint64_t)value : state_word_of(aggregate->device.value, value);
}

/* The words of GPUs begin as 0, which is the identity there, and are merged as those of CPUs. */
static void devices_agree(const struct aggregate *aggregate)
{
    int64_t low = any_value(), high = 0;
    const int64_t other = any_value();
    uint64_t word = 0, word_high = 0;
    state_merge_words(aggregate->device.merge, &word, &word_high, device_word(aggregate, low), 0);
    assert_int_equal(aggregate->device.host ? aggregate->device.host(word) : (int64_t)word, low);
    state_merge_words(aggregate->device.merge, &word, &word_high, device_word(aggregate, other), 0);
    aggregate->merge(&low, &high, 1, &(uint64_t){0}, &other, &(int64_t){0}, 1);
    assert_int_equal(aggregate->device.host ? aggregate->device.host(word) : (int64_t)word, low);
    assert_int_equal(word_high, high);
}

static void descriptors_keep_their_promises(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < AGGREGATE_KINDS; kind++) {
        const struct aggregate *const aggregate = aggregate_of(kind);
        assert_true(aggregate->name && aggregate->scanned && aggregate->merge);
        assert_in_range(aggregate->words, 1, AGGREGATE_WORDS_MAX);
        assert_int_equal(aggregate->bits, 64 * aggregate->words);
        for (uint32_t repeat = 0; repeat < 200; repeat++) {
            devices_agree(aggregate);
            if (!aggregate->distinct)
                loops_agree(aggregate, repeat % 2);
        }
    }
    for (uint32_t kind = MEASURE_NONE + 1; kind < MEASURE_KINDS; kind++)
        assert_non_null(measure_of(kind)->name);
}

static void sums_choose_their_words(void **state)
{
    (void)state;
    int64_t low = -3, high = 5;
    assert_int_equal(aggregate_sum_of(&low, &high, 1000), AGGREGATE_SUM);
    assert_int_equal(low, -3000);
    assert_int_equal(high, 5000);
    low = 0, high = INT64_MAX;
    assert_int_equal(aggregate_sum_of(&low, &high, 1), AGGREGATE_SUM);
    assert_int_equal(high, INT64_MAX);
    low = 0, high = INT64_MAX / 2 + 1;
    assert_int_equal(aggregate_sum_of(&low, &high, 2), AGGREGATE_SUM_WIDE);
    assert_int_equal(low, INT64_MIN + 1);
    low = INT64_MIN / 2, high = 0;
    assert_int_equal(aggregate_sum_of(&low, &high, 2), AGGREGATE_SUM_WIDE);
}

static void names_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; aggregate_name(i); i++) {
        const struct aggregate_name *const name = aggregate_name_find(aggregate_name(i));
        assert_non_null(name);
        assert_string_equal(name->name, aggregate_name(i));
        if (name->as)
            assert_non_null(aggregate_name_find(name->as));
    }
    assert_null(aggregate_name_find("substring"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_files_name_a_kind), cmocka_unit_test(descriptors_keep_their_promises),
        cmocka_unit_test(all_sizes_agree),       cmocka_unit_test(sums_choose_their_words),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
