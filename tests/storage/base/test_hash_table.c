/* test_hash_table.c: storage/base/hash_table.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/execution/execution.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/hash_table.h"

#include <stdlib.h>

static struct error error;

#define WORDS 100000u

static uint64_t word_at(uint64_t i)
{
    return i % 3 == 0 ? i << 40 : i % 3 == 1 ? UINT64_MAX - i : i;
}

static void words_are_numbered_as_they_come(void **state)
{
    struct hash_words set = {0};
    (void)state;
    assert_int_equal(hash_words_find(&set, 1), HASH_TABLE_NONE);
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < WORDS; i++)
            assert_int_equal(hash_words_add(&set, word_at(i), &error), STATUS_OK);
    assert_int_equal(set.table.count, WORDS);
    assert_true(2 * set.table.count <= set.table.capacity);
    for (uint64_t i = 0; i < WORDS; i++) {
        assert_int_equal(hash_words_find(&set, word_at(i)), i);
        assert_true(set.words[i] == word_at(i));
    }
    assert_int_equal(hash_words_find(&set, UINT64_C(77) << 50 | 1), HASH_TABLE_NONE);
    hash_words_free(&set);
    assert_int_equal(hash_words_find(&set, 0), HASH_TABLE_NONE);
}

/* All things have one hash: only the comparison tells them apart. */
static bool is_wanted(const void *context, uint32_t number)
{
    return *(const uint32_t *)context == number;
}

static void things_of_one_hash(void **state)
{
    struct hash_table table = {0};
    const uint64_t hash = UINT64_MAX; /* with number UINT32_MAX it would be a free slot */
    int32_t numbers[500];
    (void)state;
    for (uint32_t i = 0; i < 500; i++) {
        assert_int_equal(hash_table_find(&table, hash, is_wanted, &i), HASH_TABLE_NONE);
        assert_int_equal(hash_table_reserve(&table, 1, "things", &error), STATUS_OK);
        assert_int_equal(hash_table_put(&table, hash, i, is_wanted, &i), HASH_TABLE_NONE);
        assert_int_equal(hash_table_put(&table, hash, i, is_wanted, &i), i);
        numbers[i] = (int32_t)(1000 - i);
    }
    hash_table_renumber(&table, numbers);
    for (uint32_t i = 0; i < 500; i++)
        assert_int_equal(hash_table_find(&table, hash, is_wanted, &(uint32_t){1000 - i}), 1000 - i);
    hash_table_clear(&table);
    assert_int_equal(hash_table_find(&table, hash, is_wanted, &(uint32_t){1000}), HASH_TABLE_NONE);
    hash_table_free(&table);
}

/* What is refused leaves the table as it was, and what is freed goes back. */
static void the_account_is_asked(void **state)
{
    struct memory_account account = {.limit = 10000};
    struct execution execution = {.memory = &account};
    struct hash_table table = {.memory = HASH_TABLE_WORK};
    uint32_t number = 0;
    enum status status = STATUS_OK;
    (void)state;
    execution_enter(&execution);
    for (; status == STATUS_OK; number += status == STATUS_OK)
        status = hash_table_add(&table, hash_mix(number), number, &error);
    assert_int_equal(status, STATUS_MACHINE);
    assert_int_equal(account.refused, 1);
    assert_int_equal(table.count, number);
    assert_true(account.used >= 8 * table.capacity);
    for (uint32_t i = 0; i < number; i++)
        assert_int_equal(hash_table_find(&table, hash_mix(i), is_wanted, &i), i);
    assert_int_equal(hash_table_find(&table, hash_mix(number), is_wanted, &number), HASH_TABLE_NONE);
    hash_table_free(&table);
    assert_int_equal(account.used, 0);
    execution_leave(&execution);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_numbered_as_they_come),
        cmocka_unit_test(things_of_one_hash),
        cmocka_unit_test(the_account_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
