/* test_library_threads.c: many threads of a program ask one open database at once: each has the answers of one thread
 * alone, and can be stopped without the others. ThreadSanitizer finds what they share without a lock. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/engine/library/result_text.h"
#include "tests/support/database_cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 6u
#define ROUNDS  4u
#define OPENS   8u
#define ROWS    20000

static char path[PATH_BYTES];
static struct tessera_error error;

static const char script[] =
    "CREATE TABLE shops (shop INT PRIMARY KEY, town TEXT, region TEXT);\n"
    "CREATE TABLE sales (shop INT REFERENCES shops, day DATE, pieces INT, paid DECIMAL(9,2), note TEXT, rate "
    "DOUBLE);\n"
    "CREATE TABLE visits (shop INT NOT NULL, people INT)";

static const char *const statements[] = {
    "select sum(pieces), count(*), min(paid), max(rate) from sales",
    "select region, sum(paid) from sales, shops where sales.shop = shops.shop group by region order by 1",
    "select town, count(distinct pieces) from sales join shops on sales.shop = shops.shop where note like "
    "'%7' "
    "group by town order by 1",
    "select note, count(*) from sales group by note order by 2 desc, 1 limit 5",
    "select pieces, day, paid from sales where paid > 80 order by paid desc, day, pieces limit 7",
    "select upper(note) || shop from sales where pieces = 3 order by 1 limit 4",
    "select v.shop, x.n from visits v join (select shop, count(*) n from sales group by shop) x on x.shop = "
    "v.shop "
    "order by 1, 2 limit 6",
    "select shop, sum(pieces) over (partition by shop order by day, pieces) s from sales order by 1, 2 limit "
    "9",
    "select count(*) from sales where shop in (select shop from visits where people > 50) or note = 'n7'",
    "select region from shops except select town from shops union select note from sales where pieces > 98 "
    "order by 1",
    "select median(paid), avg(rate) from sales where day between '2024-02-01' and '2024-03-01'",
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20) select sum(i), count(*) "
    "from n join "
    "sales on pieces = i",
    "select day, count(*) from sales where pieces < ? and note <> ? group by day order by day limit 3"};
#define STATEMENTS (sizeof statements / sizeof *statements)

static int setup(void **state)
{
    static char files[3][PATH_BYTES + 32];
    static const char *const tables[] = {"shops", "sales", "visits"};
    const char *paths[3];
    FILE *out[3];
    (void)state;
    directory_make(path);
    for (int t = 0; t < 3; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, tables[t]);
        out[t] = fopen(files[t], "w");
        assert_non_null(out[t]);
        paths[t] = files[t];
    }
    for (int shop = 0; shop < 50; shop++)
        fprintf(out[0], "%d,town %d,region %d\n", shop, shop % 20, shop % 4);
    for (int row = 0; row < ROWS; row++)
        fprintf(out[1], "%d,2024-%02d-%02d,%d,%d.%02d,n%d,%d.5\n", row * 7 % 50, 1 + row % 3,
                1 + row / 3 % 28, row * 13 % 101, row % 90, row % 100, row % 33, row % 17);
    for (int row = 0; row < 200; row++)
        fprintf(out[2], "%d,%d\n", row * 3 % 60, row % 100);
    for (int t = 0; t < 3; t++)
        fclose(out[t]);
    return tessera_load(path, script, tables, paths, 3, TESSERA_LOAD_NEW, NULL, &error) == TESSERA_OK ? 0
                                                                                                      : -1;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

/* All values of an answer, one a line. The caller frees the text. Threads may not use cmocka: NULL with `why` filled. */
static char *answer(struct tessera_database *database, const char *sql, struct tessera_error *why)
{
    struct tessera_statement *statement;
    struct tessera_result *result;
    char *text = NULL;
    if (tessera_prepare(database, sql, &statement, why))
        return NULL;
    if (tessera_parameters(statement) == 2 &&
        (tessera_bind_int64(statement, 0, 50, why) || tessera_bind_text(statement, 1, "n5", 2, why))) {
        tessera_finalize(statement);
        return NULL;
    }
    if (tessera_run(statement, &result, why) == TESSERA_OK) {
        text = text_of(result);
        tessera_result_free(result);
    }
    tessera_finalize(statement);
    return text;
}

struct user {
    struct tessera_database *database;
    char *const *expected;
    unsigned number;
    size_t first;               /* the statement that all begin with */
    pthread_barrier_t *barrier; /* at the same time */
    char wrong[1200];           /* empty: all answers were right */
};

static void *ask(void *context)
{
    struct user *const user = context;
    pthread_barrier_wait(user->barrier);
    for (unsigned i = 0; i < ROUNDS * STATEMENTS / OPENS && !user->wrong[0]; i++) {
        const size_t s = i == 0 ? user->first : (user->first + i * 5 + user->number * 3) % STATEMENTS;
        struct tessera_error why = {0};
        char *const text = answer(user->database, statements[s], &why);
        if (!text)
            snprintf(user->wrong, sizeof user->wrong, "%s", why.text);
        else if (strcmp(text, user->expected[s]) != 0)
            snprintf(user->wrong, sizeof user->wrong, "%.300s gave %.300s and not %.300s", statements[s],
                     text, user->expected[s]);
        free(text);
    }
    return NULL;
}

/* Opens the database, so that columns and dictionaries are opened at their first use, and asks from all threads. */
static void ask_at_once(const struct tessera_options *options, char *const *expected, size_t first)
{
    struct tessera_database *database;
    pthread_barrier_t barrier;
    pthread_t ids[THREADS];
    struct user users[THREADS];
    assert_int_equal(tessera_open_with(path, options, &database, &error), TESSERA_OK);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned t = 0; t < THREADS; t++) {
        users[t] = (struct user){
            .database = database, .expected = expected, .number = t, .first = first, .barrier = &barrier};
        assert_int_equal(pthread_create(&ids[t], NULL, ask, &users[t]), 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(ids[t], NULL);
    pthread_barrier_destroy(&barrier);
    for (unsigned t = 0; t < THREADS; t++)
        if (users[t].wrong[0])
            fail_msg("%s", users[t].wrong);
    tessera_close(database);
}

static void threads_share_a_database(const char *plan_cache, unsigned threads)
{
    struct tessera_database *database;
    char *expected[STATEMENTS];
    const struct tessera_options options = {
        .size = sizeof options, .device = test_device(), .threads = threads, .plan_cache = plan_cache};
    assert_int_equal(tessera_open_with(path, &options, &database, &error), TESSERA_OK);
    for (size_t s = 0; s < STATEMENTS; s++) {
        expected[s] = answer(database, statements[s], &error);
        if (!expected[s])
            fail_msg("%s: %s", statements[s], error.text);
    }
    tessera_close(database);
    for (unsigned round = 0; round < OPENS; round++)
        ask_at_once(&options, expected, round * STATEMENTS / OPENS);
    for (size_t s = 0; s < STATEMENTS; s++)
        free(expected[s]);
}

static void many_threads_have_the_answers_of_one(void **state)
{
    (void)state;
    threads_share_a_database(NULL, 2);
}

static void each_thread_plans_for_itself(void **state)
{
    (void)state;
    threads_share_a_database("0", 2);
}

static void statements_of_one_thread_each(void **state)
{
    (void)state;
    threads_share_a_database(NULL, 1);
}

/* ---- Changes ---- */

/* Inserts, deletes and counts its own rows, while the other threads do so with theirs. */
static void *change(void *context)
{
    struct user *const user = context;
    unsigned mine = 0;
    char sql[160], number[32];
    pthread_barrier_wait(user->barrier);
    for (unsigned i = 0; i < 24 && !user->wrong[0]; i++) {
        struct tessera_error why = {0};
        if (i % 4 == 2)
            snprintf(sql, sizeof sql, "delete from events where who = %u and n < %u", user->number, 2 * i);
        else if (i % 4 == 3)
            snprintf(sql, sizeof sql, "select count(*) from events where who = %u", user->number);
        else
            snprintf(sql, sizeof sql, "insert into events values (%u, %u, 'a'), (%u, %u, 'n%u')",
                     user->number, 2 * i, user->number, 2 * i + 1, i);
        char *text;
        do /* on a slow machine it may wait longer for the others than a change waits */
            text = answer(user->database, sql, &why);
        while (!text && strstr(why.text, "by another writer"));
        snprintf(number, sizeof number, "%u\n", i % 4 < 2 ? 2 : mine);
        if (!text || strcmp(text, number) != 0)
            snprintf(user->wrong, sizeof user->wrong, "%.150s gave %.300s and not %s", sql,
                     text ? text : why.text, number);
        mine = i % 4 < 2 ? mine + 2 : i % 4 == 2 ? 0 : mine;
        free(text);
    }
    return NULL;
}

static void threads_change_tables_in_turn(void **state)
{
    const struct tessera_options options = {.size = sizeof options, .device = "cpu", .threads = 1};
    struct tessera_database *database;
    pthread_barrier_t barrier;
    pthread_t ids[3];
    struct user users[3];
    (void)state;
    assert_int_equal(tessera_open_with(path, &options, &database, &error), TESSERA_OK);
    char *const made = answer(database, "create table events (who int, n int, note text)", &error);
    assert_non_null(made);
    free(made);
    pthread_barrier_init(&barrier, NULL, 3);
    for (unsigned t = 0; t < 3; t++) {
        users[t] = (struct user){.database = database, .number = t, .barrier = &barrier};
        assert_int_equal(pthread_create(&ids[t], NULL, change, &users[t]), 0);
    }
    for (unsigned t = 0; t < 3; t++)
        pthread_join(ids[t], NULL);
    pthread_barrier_destroy(&barrier);
    for (unsigned t = 0; t < 3; t++)
        if (users[t].wrong[0])
            fail_msg("%s", users[t].wrong);
    tessera_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_have_the_answers_of_one),
        cmocka_unit_test(each_thread_plans_for_itself),
        cmocka_unit_test(statements_of_one_thread_each),
        cmocka_unit_test(threads_change_tables_in_turn),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
