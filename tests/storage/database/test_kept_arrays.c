/* test_kept_arrays.c: arrays that an open database keeps: one for each path of columns, shared, counted, and gone when nobody uses
 * them and they have too many bytes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/database/kept_arrays.h"
#include "tests/support/database_files.h"

#include <pthread.h>

#define THREADS 8u
#define ROUNDS  500u

static struct database *database;

static int setup(void **state)
{
    static char path[PATH_BYTES];
    struct error error;
    directory_make(path);
    database_make(path, "lane-for", ROWS);
    assert_int_equal(database_open(path, &database, &error), STATUS_OK);
    *state = path;
    return 0;
}

static int teardown(void **state)
{
    database_close(database);
    directory_remove(*state);
    return 0;
}

static const struct column *column(uint32_t number)
{
    return &database_table_at(database, 0)->columns[number];
}

static const struct kept_array *keep(struct array_key key, int32_t value, uint64_t bytes)
{
    struct error error;
    const struct kept_array *kept;
    struct kept_array made = {.key = key, .value_bytes = sizeof value, .bytes = bytes};
    made.values = malloc(sizeof value);
    assert_non_null(made.values);
    *(int32_t *)made.values = value;
    assert_int_equal(kept_array_add(database, &made, &kept, &error), STATUS_OK);
    assert_non_null(kept);
    return kept;
}

static int32_t value_of(const struct kept_array *kept)
{
    return *(const int32_t *)kept->values;
}

static void an_array_is_found_by_its_path(void **state)
{
    (void)state;
    const struct array_key own = array_key_of(NULL, column(0), ARRAY_VALUES),
                           rows = array_key_of(NULL, column(0), ARRAY_ROWS);
    assert_null(kept_array_find(database, &own));
    const struct kept_array *const first = keep(own, 7, 100), *const through = keep(rows, 8, 10);
    assert_int_equal(value_of(kept_array_find(database, &own)), 7);
    assert_int_equal(value_of(kept_array_find(database, &rows)), 8);
    assert_int_not_equal(first->number, through->number);
    const struct array_key far = array_key_of(through, column(1), ARRAY_VALUES),
                           near = array_key_of(NULL, column(1), ARRAY_VALUES);
    const struct kept_array *const second = keep(far, 9, 10);
    assert_ptr_equal(far.path[0], column(0));
    assert_ptr_equal(far.path[1], column(1));
    assert_null(kept_array_find(database, &near));
    assert_ptr_equal(kept_array_find(database, &far), second);
    /* what another thread has kept meanwhile stays */
    const struct kept_array *const again = keep(own, 77, 100);
    assert_ptr_equal(again, first);
    assert_int_equal(value_of(again), 7);
    assert_int_equal(kept_arrays_bytes(database).all, 120);
    assert_int_equal(kept_arrays_bytes(database).unused, 0);
    for (int i = 0; i < 3; i++)
        kept_array_release(database, first);
    for (int i = 0; i < 2; i++)
        kept_array_release(database, through);
    for (int i = 0; i < 2; i++)
        kept_array_release(database, second);
    assert_int_equal(kept_arrays_bytes(database).unused, 120);
    assert_ptr_equal(kept_array_find(database, &own), first); /* unused, and still there */
    assert_int_equal(kept_arrays_bytes(database).unused, 20);
    kept_array_release(database, first);
    kept_array_release(database, NULL);
}

static void a_path_that_is_too_long_is_found_by_nobody(void **state)
{
    (void)state;
    const struct kept_array *path[ARRAY_PATH_MAX + 2] = {0};
    for (uint32_t i = 0; i < ARRAY_PATH_MAX + 2; i++) {
        const struct array_key key = array_key_of(i ? path[i - 1] : NULL, column(2), ARRAY_ROWS);
        assert_true((key.path[0] != NULL) == (i < ARRAY_PATH_MAX));
        assert_null(kept_array_find(database, &key));
        path[i] = keep(key, (int32_t)i, 1);
        assert_int_equal(value_of(path[i]), i);
    }
    for (uint32_t i = 0; i < ARRAY_PATH_MAX + 2; i++)
        kept_array_release(database, path[i]);
}

static void what_was_used_least_recently_goes(void **state)
{
    (void)state;
    const uint64_t large = UINT64_C(1) << 50; /* more than an eighth of any machine's memory */
    const struct array_key a = array_key_of(NULL, column(1), ARRAY_VALUES),
                           b = array_key_of(NULL, column(1), ARRAY_ROWS);
    const struct kept_array *const first = keep(a, 1, 64), *const second = keep(b, 2, large);
    kept_array_release(database, first);
    assert_non_null(kept_array_find(database, &a)); /* it is used last, and used */
    kept_array_release(database, second);
    assert_null(kept_array_find(database, &b));
    assert_int_equal(value_of(kept_array_find(database, &a)), 1);
    kept_array_release(database, first);
    kept_array_release(database, first);
}

static void *use(void *of)
{
    const uint32_t thread = *(const uint32_t *)of;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t number = (i + thread) % 3;
        const struct array_key key = array_key_of(NULL, column(number), i % 2 ? ARRAY_USED : ARRAY_VALUES);
        const struct kept_array *kept = kept_array_find(database, &key);
        if (!kept)
            kept = keep(key, (int32_t)(10 * number + i % 2), 16);
        assert_int_equal(value_of(kept), 10 * number + i % 2);
        kept_array_release(database, kept);
    }
    return NULL;
}

static void threads_share_them(void **state)
{
    pthread_t threads[THREADS];
    uint32_t numbers[THREADS];
    (void)state;
    for (uint32_t t = 0; t < THREADS; t++) {
        numbers[t] = t;
        assert_int_equal(pthread_create(&threads[t], NULL, use, &numbers[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    assert_int_equal(kept_arrays_bytes(database).unused, kept_arrays_bytes(database).all);
    assert_true(kept_arrays_bytes(database).all <= 6 * 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_array_is_found_by_its_path, setup, teardown),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_found_by_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_used_least_recently_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_share_them, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
