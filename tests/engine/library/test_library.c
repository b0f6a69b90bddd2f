/* test_library.c: a program's way through tessera.h: load, prepare, bind, run, read; and what errors say. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/support/database_cases.h"
#include "tests/support/library_number.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static char path[PATH_BYTES], file[PATH_BYTES + 32];

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    snprintf(file, sizeof file, "%.*s/sales.csv", (int)(strlen(path) - 3), path);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs("a,1.50,2024-01-01\nb,2.25,2024-02-01\na,,2024-03-01\n", out);
    fclose(out);
    static const char *const tables[] = {"sales"};
    const char *const files[] = {file};
    uint64_t rows;
    assert_int_equal(tessera_load(path, "CREATE TABLE sales (shop TEXT, paid DECIMAL(8,2), day DATE)", tables,
                                  files, 1, TESSERA_LOAD_NEW, &rows, &error),
                     TESSERA_OK);
    assert_int_equal(rows, 3);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

static void a_statement_is_run_again_with_other_parameters(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result, *other;
    uint32_t length;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(
        tessera_prepare(
            database,
            "select shop, sum(paid) total, count(*), avg(paid), max(day) from sales where day >= ? and "
            "coalesce(paid, 0) < ? group by shop order by shop;",
            &statement, &error),
        TESSERA_OK);
    assert_int_equal(tessera_parameters(statement), 2);
    assert_int_equal(tessera_bind_text(statement, 0, "2024-01-01", 10, &error), TESSERA_OK);
    assert_int_equal(tessera_bind_decimal(statement, 1, 200, 2, &error), TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    assert_int_equal(tessera_bind_int64(statement, 1, 100, &error), TESSERA_OK);
    assert_int_equal(tessera_run(statement, &other, &error), TESSERA_OK);
    tessera_finalize(statement);
    assert_int_equal(tessera_rows(result), 1);
    assert_int_equal(tessera_rows(other), 2);
    assert_int_equal(tessera_columns(other), 5);
    assert_string_equal(tessera_column_name(other, 1), "total");
    assert_int_equal(tessera_column_type(other, 0), TESSERA_STRING);
    assert_int_equal(tessera_column_type(other, 4), TESSERA_DATE);
    assert_int_equal(tessera_column_scale(other, 1), 2);
    assert_memory_equal(tessera_text(other, 0, 1, &length), "b", 1);
    assert_int_equal(tessera_int64(other, 1, 1), 225);
    assert_true(tessera_double(other, 1, 1) == 2.25);
    assert_true(tessera_double(other, 3, 0) == 1.5);
    assert_memory_equal(tessera_text(other, 4, 0, &length), "2024-03-01", length);
    const uint8_t *nulls;
    assert_int_equal(tessera_column_values(other, 2, &nulls)[0], 2);
    assert_null(nulls);
    tessera_result_free(result);
    tessera_result_free(other);
    tessera_close(database);
}

/* The plan in words, of a statement that is prepared when indexes are used so. */
static bool plan_has_index(struct tessera_database *database, enum tessera_index_use use)
{
    struct tessera_statement *statement;
    struct tessera_result *result;
    bool found = false;
    uint32_t length;
    tessera_use_indexes(database, use);
    assert_int_equal(
        tessera_prepare(database, "explain select sum(paid) from sales where shop = 'a'", &statement, &error),
        TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    for (uint64_t row = 0; row < tessera_rows(result); row++) {
        const char *const text = tessera_text(result, 0, row, &length);
        found |= memmem(text, length, "─  index  ", strlen("─  index  ")) != NULL;
    }
    tessera_finalize(statement);
    tessera_result_free(result);
    return found;
}

static void indexes_are_used_as_asked(void **state)
{
    struct tessera_database *database;
    struct error why = {0};
    (void)state;
    assert_int_equal(database_index_create(path, "sales", "shop", (struct index_wish){.format = INDEX_WAH64},
                                           1, NULL, &why),
                     STATUS_OK);
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_true(plan_has_index(database, TESSERA_INDEX_ON));
    assert_false(plan_has_index(database, TESSERA_INDEX_OFF));
    tessera_close(database);
}

static void several_devices_can_be_named(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu,cpu", 2, &database, &error), TESSERA_OK);
    assert_int_equal(
        tessera_prepare(database, "select count(*) from sales where paid > 2", &statement, &error),
        TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    assert_int_equal(tessera_int64(result, 0, 0), 1);
    tessera_result_free(result);
    tessera_finalize(statement);
    tessera_close(database);
    assert_int_equal(tessera_open(path, "cpu,cuda", 2, &database, &error), TESSERA_BAD_INPUT);
}

/* 0.07, not 0.06999999999999999. */
static void a_decimal_is_the_nearest_double(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(
        tessera_prepare(database, "select 0.07, 92233720368.54775807 from sales limit 1", &statement, &error),
        TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    assert_true(tessera_double(result, 0, 0) == 0.07);
    assert_true(tessera_double(result, 1, 0) == 92233720368.54775807);
    tessera_result_free(result);
    tessera_finalize(statement);
    tessera_close(database);
}

static struct tessera_result *result_of(struct tessera_statement *statement)
{
    struct tessera_result *result;
    if (tessera_run(statement, &result, &error) != TESSERA_OK)
        fail_msg("%s", error.text);
    return result;
}

/* Runs the statement a clock tick apart; the text of its first value differs. */
static void the_time_is_that_of_the_run(void **state)
{
    static const char *const statements[] = {"select now()", "select max(day), now() from sales",
                                             "select n from (select current_timestamp as n) t"};
    struct tessera_database *database;
    struct tessera_statement *statement;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++) {
        assert_int_equal(tessera_prepare(database, statements[s], &statement, &error), TESSERA_OK);
        int64_t times[3] = {0, 0, 0};
        for (int run = 0; run < 3; run++) {
            struct tessera_result *const result = result_of(statement);
            times[run] = tessera_int64(result, tessera_columns(result) - 1, 0);
            tessera_result_free(result);
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        assert_true(times[0] > INT64_C(1700000000000000) && times[0] < times[1] && times[1] < times[2]);
        tessera_finalize(statement);
    }
    tessera_close(database);
}

/* A decimal is one without digits after the point, too; NULL takes the type that stands beside it. */
static void parameters_have_the_type_that_they_are_bound_with(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    uint32_t length;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(tessera_prepare(database, "select ? / 2, ?, coalesce(?, 'x')", &statement, &error),
                     TESSERA_OK);
    struct tessera_result *result = result_of(statement);
    assert_true(tessera_is_null(result, 0, 0));
    assert_memory_equal(tessera_text(result, 2, 0, &length), "x", 1);
    tessera_result_free(result);
    for (uint32_t p = 0; p < 2; p++)
        assert_int_equal(tessera_bind_decimal(statement, p, 7, 0, &error), TESSERA_OK);
    result = result_of(statement);
    assert_int_equal(tessera_column_type(result, 0), TESSERA_DOUBLE);
    assert_true(tessera_double(result, 0, 0) == 3.5);
    assert_true(tessera_column_is_decimal(result, 1) && tessera_column_scale(result, 1) == 0);
    tessera_result_free(result);
    for (uint32_t p = 0; p < 2; p++)
        assert_int_equal(tessera_bind_int64(statement, p, 7, &error), TESSERA_OK);
    result = result_of(statement);
    assert_int_equal(tessera_column_type(result, 0), TESSERA_INTEGER);
    assert_int_equal(tessera_int64(result, 0, 0), 3);
    assert_false(tessera_column_is_decimal(result, 1));
    tessera_result_free(result);
    assert_int_equal(tessera_bind_decimal(statement, 0, 7, 19, &error), TESSERA_BAD_INPUT);
    tessera_finalize(statement);
    tessera_close(database);
}

static void decimals_without_digits_are_decimals_of_arrow(void **state)
{
    static const char *const formats[] = {"d:19,0", "l", "d:19,2", "g"};
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(
        tessera_prepare(database, "select round(1.6), 2, 1.50, round(1.6) / 2", &statement, &error),
        TESSERA_OK);
    assert_int_equal(tessera_result_arrow(result_of(statement), &stream, &error), TESSERA_OK);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    for (int c = 0; c < 4; c++)
        assert_string_equal(schema.children[c]->format, formats[c]);
    schema.release(&schema);
    stream.release(&stream);
    tessera_finalize(statement);
    tessera_close(database);
}

static void times_with_time_zone_are_instants(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    uint32_t length;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(tessera_use_time_zone(database, "No/Where", &error), TESSERA_BAD_INPUT);
    assert_int_equal(tessera_use_time_zone(database, "utc", &error), TESSERA_OK);
    assert_int_equal(tessera_prepare(database,
                                     "select timestamptz '1970-01-01 01:00:01+01', timestamp '1970-01-01'",
                                     &statement, &error),
                     TESSERA_OK);
    result = result_of(statement);
    assert_int_equal(tessera_column_type(result, 0), TESSERA_TIMESTAMP);
    assert_true(tessera_column_has_time_zone(result, 0));
    assert_false(tessera_column_has_time_zone(result, 1));
    assert_int_equal(tessera_int64(result, 0, 0), 1000000);
    const char *const text = tessera_text(result, 0, 0, &length);
    assert_int_equal(length, 22);
    assert_memory_equal(text, "1970-01-01 00:00:01+00", 22);
    assert_int_equal(tessera_result_arrow(result, &stream, &error), TESSERA_OK);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.children[0]->format, "tsu:UTC");
    assert_string_equal(schema.children[1]->format, "tsu:");
    schema.release(&schema);
    stream.release(&stream);
    tessera_finalize(statement);
    tessera_close(database);
}

static void errors_are_sentences(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    (void)state;
    assert_int_equal(tessera_open("/nowhere/db", NULL, 1, &database, &error), TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere/db"));
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(tessera_prepare(database, "select", &statement, &error), TESSERA_BAD_INPUT);
    assert_int_equal(tessera_prepare(database, "select 1 from sales; select 2", &statement, &error),
                     TESSERA_BAD_INPUT);
    assert_int_equal(tessera_prepare(database, "select price from sales", &statement, &error), TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "line 1, column 8"));
    assert_int_equal(tessera_bind_null(statement, 0, &error), TESSERA_BAD_INPUT);
    tessera_finalize(statement);
    assert_int_equal(
        tessera_prepare(database, "select paid from sales where paid is null", &statement, &error),
        TESSERA_OK);
    tessera_interrupt();
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_INTERRUPTED);
    tessera_resume();
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    assert_int_equal(tessera_rows(result), 1);
    assert_true(tessera_is_null(result, 0, 0));
    tessera_result_free(result);
    tessera_finalize(statement);
    tessera_close(database);
    tessera_close(NULL);
    tessera_finalize(NULL);
    tessera_result_free(NULL);
}

struct asker {
    struct tessera_statement *statement;
    atomic_bool stop;           /* tell it to end */
    atomic_uint runs;           /* that were answered */
    enum tessera_status status; /* of its last run */
};

/* Runs the statement until it fails or is told to end. */
static void *ask_often(void *context)
{
    struct asker *const asker = context;
    struct tessera_result *result;
    struct tessera_error why;
    do {
        asker->status = tessera_run(asker->statement, &result, &why);
        if (asker->status == TESSERA_OK)
            tessera_result_free(result);
        atomic_fetch_add(&asker->runs, 1);
    } while (asker->status == TESSERA_OK && !atomic_load(&asker->stop));
    atomic_store(&asker->stop, true);
    return NULL;
}

static void one_of_two_statements_is_cancelled(void **state)
{
    struct tessera_database *databases[2];
    struct asker askers[2] = {0};
    pthread_t threads[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(tessera_open(path, "cpu", 2, &databases[i], &error), TESSERA_OK);
        assert_int_equal(
            tessera_prepare(
                databases[i],
                "with s as (select shop, count(*) n from sales group by shop) select a.shop, b.n from s a "
                "join s b on a.n = b.n where a.shop in (select shop from sales) order by 1",
                &askers[i].statement, &error),
            TESSERA_OK);
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    while (!atomic_load(&askers[0].stop))
        tessera_cancel(askers[0].statement);
    const unsigned before = atomic_load(&askers[1].runs);
    while (!atomic_load(&askers[1].stop) && atomic_load(&askers[1].runs) < before + 3)
        sched_yield();
    atomic_store(&askers[1].stop, true);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(askers[0].status, TESSERA_INTERRUPTED);
    assert_int_equal(askers[1].status, TESSERA_OK);
    askers[0].stop = true; /* what was cancelled runs again */
    ask_often(&askers[0]);
    assert_int_equal(askers[0].status, TESSERA_OK);
    for (unsigned i = 0; i < 2; i++) {
        tessera_finalize(askers[i].statement);
        tessera_close(databases[i]);
    }
}

/* A program that was compiled before `memory` was there has a smaller struct. */
static void options_of_an_older_program_are_taken(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    struct tessera_options options = {.device = "cpu", .threads = 1, .memory = "1"};
    (void)state;
    options.size = sizeof options;
    assert_int_equal(tessera_open_with(path, &options, &database, &error), TESSERA_OK);
    assert_int_equal(tessera_prepare(database, "select shop, day, sum(paid) from sales group by shop, day",
                                     &statement, &error),
                     TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_MACHINE);
    assert_non_null(strstr(error.text, "of the 1 that are allowed are in use; allow more (--memory)"));
    tessera_finalize(statement);
    tessera_close(database);
    options.size = offsetof(struct tessera_options, memory);
    assert_int_equal(tessera_open_with(path, &options, &database, &error), TESSERA_OK);
    assert_int_equal(tessera_prepare(database, "select shop, paid from sales", &statement, &error),
                     TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    tessera_result_free(result);
    tessera_finalize(statement);
    tessera_close(database);
    options.size = sizeof options + 8;
    assert_int_equal(tessera_open_with(path, &options, &database, &error), TESSERA_BAD_INPUT);
    options.size = offsetof(struct tessera_options, gpu_memory);
    assert_int_equal(tessera_open_with(path, &options, &database, &error), TESSERA_BAD_INPUT);
    options = (struct tessera_options){.size = sizeof options, .device = "cpu", .memory = "much"};
    assert_int_equal(tessera_open_with(path, &options, &database, &error), TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "--memory: 'much' is no number of bytes"));
}

/* A GPU's driver keeps a thread, cuda-EvtHandlr, until the process ends, once a test before has opened the GPU. */
static bool is_of_a_driver(const char *task)
{
    char comm[300], name[32] = "";
    snprintf(comm, sizeof comm, "/proc/self/task/%s/comm", task);
    FILE *const of = fopen(comm, "r");
    if (of) {
        if (!fgets(name, sizeof name, of))
            name[0] = '\0';
        fclose(of);
    }
    return strncmp(name, "cuda", 4) == 0;
}

static unsigned count_threads(void)
{
    unsigned count = 0;
    DIR *const tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.' && !is_of_a_driver(entry->d_name);
    closedir(tasks);
    return count;
}

/* The system lists a thread for a moment after its end. */
static void assert_threads(unsigned expected)
{
    for (unsigned i = 0; i < 1000 && count_threads() > expected; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(count_threads(), expected);
}

/* The load before this test, and this statement, have used several. */
static void no_thread_is_left_after_the_last_database(void **state)
{
    struct tessera_database *databases[2];
    struct tessera_statement *statement;
    struct tessera_result *result;
    (void)state;
#ifdef __SANITIZE_THREAD__ /* which has a thread of its own */
    const unsigned at_first = 2;
#else
    const unsigned at_first = 1;
#endif
    assert_threads(at_first);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tessera_open(path, "cpu", 4, &databases[i], &error), TESSERA_OK);
    assert_int_equal(tessera_prepare(databases[0],
                                     "select shop, count(*) from sales group by shop order by shop",
                                     &statement, &error),
                     TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    tessera_result_free(result);
    tessera_finalize(statement);
    for (unsigned i = 0; i < 2; i++)
        tessera_close(databases[i]);
    assert_threads(at_first);
}

/* ---- Statements that write ---- */

static void values_are_bound_to_statements_that_write(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *insert, *removal, *replacement;
    struct tessera_result *result;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(
        tessera_prepare(database, "insert into sales values (?, ?, ?), ('?', ? + 1, null)", &insert, &error),
        TESSERA_OK);
    assert_int_equal(tessera_parameters(insert), 4);
    for (int64_t n = 0; n < 3; n++) {
        assert_int_equal(tessera_bind_text(insert, 0, n ? "n1" : "n0", 2, &error), TESSERA_OK);
        assert_int_equal(tessera_bind_double(insert, 1, 0.25 + (double)n, &error), TESSERA_OK);
        assert_int_equal(tessera_bind_text(insert, 2, "2024-05-06", 10, &error), TESSERA_OK);
        if (n == 2)
            assert_int_equal(tessera_bind_null(insert, 2, &error), TESSERA_OK);
        assert_int_equal(tessera_bind_int64(insert, 3, n, &error), TESSERA_OK);
        assert_int_equal(tessera_run(insert, &result, &error), TESSERA_OK);
        assert_int_equal(tessera_int64(result, 0, 0), 2);
        tessera_result_free(result);
    }
    tessera_finalize(insert);
    assert_int_equal(
        number_of(database, "select count(*) from sales where day = date '2024-05-06'", TESSERA_OK), 2);
    assert_int_equal(
        tessera_prepare(database,
                        "insert into sales replace where day = ? and paid < ? select shop, paid + "
                        "?, day from sales where paid < ? and day = date '2024-05-06'",
                        &replacement, &error),
        TESSERA_OK);
    assert_int_equal(tessera_parameters(replacement), 4);
    assert_int_equal(tessera_bind_text(replacement, 0, "2024-05-06", 10, &error), TESSERA_OK);
    for (int64_t n = 2; n > 0;
         n--) { /* the row of 0.25 becomes one of 0.25 + 2, which is none of 1 or less */
        assert_int_equal(tessera_bind_int64(replacement, 1, 1, &error), TESSERA_OK);
        assert_int_equal(tessera_bind_int64(replacement, 2, n / 2 * 2, &error), TESSERA_OK);
        assert_int_equal(tessera_bind_double(replacement, 3, 0.5, &error), TESSERA_OK);
        assert_int_equal(tessera_run(replacement, &result, &error), n == 2 ? TESSERA_BAD_INPUT : TESSERA_OK);
        if (n == 2)
            continue;
        assert_int_equal(tessera_int64(result, 0, 0), 2);
        tessera_result_free(result);
    }
    tessera_finalize(replacement);
    assert_int_equal(number_of(database,
                               "select cast(sum(paid) * 100 as bigint) from sales where shop in ('?', 'n0', "
                               "'n1')",
                               TESSERA_OK),
                     975);
    assert_int_equal(tessera_prepare(database,
                                     "delete from sales where shop = ? or paid > ? and shop in (select "
                                     "max(shop) from sales where shop <> ?)",
                                     &removal, &error),
                     TESSERA_OK);
    assert_int_equal(tessera_parameters(removal), 3);
    assert_int_equal(tessera_bind_text(removal, 0, "?", 1, &error), TESSERA_OK);
    assert_int_equal(tessera_bind_int64(removal, 1, 1, &error), TESSERA_OK);
    assert_int_equal(tessera_bind_text(removal, 2, "n0", 2, &error), TESSERA_OK);
    assert_int_equal(tessera_run(removal, &result, &error), TESSERA_OK);
    assert_int_equal(tessera_int64(result, 0, 0), 5);
    tessera_result_free(result);
    tessera_finalize(removal);
    tessera_close(database);
}

/* What was prepared before a change, and results, have the state before it; what comes after it has the new one. */
static void changes_are_seen_by_what_comes_after_them(void **state)
{
    static const char count[] = "select count(*) from sales", all[] = "select shop from sales order by shop";
    struct tessera_database *database, *other;
    struct tessera_statement *before, *insert;
    struct tessera_result *rows, *result;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    uint32_t length;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 2, &database, &error), TESSERA_OK);
    assert_int_equal(tessera_open(path, "cpu", 1, &other, &error), TESSERA_OK);
    const int64_t old = number_of(database, count, TESSERA_OK);
    assert_int_equal(tessera_prepare(database, all, &before, &error), TESSERA_OK);
    assert_int_equal(tessera_run(before, &rows, &error), TESSERA_OK);
    assert_int_equal(tessera_table_arrow(database, "sales", &stream, &error), TESSERA_OK);
    assert_int_equal(
        tessera_prepare(database, "insert into sales (shop) values ('0'), ('1')", &insert, &error),
        TESSERA_OK);
    assert_int_equal(tessera_parameters(insert), 0);
    assert_int_equal(tessera_bind_int64(insert, 0, 1, &error), TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no parameter 0; the statement has 0"));
    for (int run = 1; run <= 3; run++) {
        assert_int_equal(tessera_run(insert, &result, &error), TESSERA_OK);
        assert_string_equal(tessera_column_name(result, 0), "Count");
        assert_int_equal(tessera_int64(result, 0, 0), 2);
        tessera_result_free(result);
        assert_int_equal(number_of(database, count, TESSERA_OK), old + 2 * run);
    }
    tessera_finalize(insert);
    assert_int_equal(tessera_run(before, &result, &error), TESSERA_OK);
    assert_int_equal(tessera_rows(result), old);
    assert_memory_equal(tessera_text(rows, 0, 0, &length), "a", 1);
    tessera_result_free(result);
    assert_int_equal(number_of(other, count, TESSERA_OK), old);
    /* A change through the other handle begins with what is newest. */
    assert_int_equal(number_of(other, "delete from sales where shop in ('0', '1')", TESSERA_OK), 6);
    assert_int_equal(number_of(other, count, TESSERA_OK), old);
    assert_int_equal(number_of(database, count, TESSERA_OK), old + 6);
    assert_int_equal(number_of(database, "create table kept as select * from sales", TESSERA_OK), old);
    assert_int_equal(number_of(database, "select count(*) from kept", TESSERA_OK), old);
    number_of(database, "insert into sales values ('x', 1234567.5, null)", TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "inserted row 1: column paid: '1234567.5' is out of range"));
    number_of(database, "delete from sales; delete from sales", TESSERA_BAD_INPUT);
    number_of(database, "delete from sale", TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "line 1, column 13: "));
    assert_int_equal(number_of(database, count, TESSERA_OK), old);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, old);
    batch.release(&batch);
    stream.release(&stream);
    tessera_finalize(before);
    tessera_result_free(rows);
    tessera_close(other);
    tessera_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_statement_is_run_again_with_other_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(indexes_are_used_as_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(several_devices_can_be_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_decimal_is_the_nearest_double, setup, teardown),
        cmocka_unit_test_setup_teardown(the_time_is_that_of_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(parameters_have_the_type_that_they_are_bound_with, setup, teardown),
        cmocka_unit_test_setup_teardown(decimals_without_digits_are_decimals_of_arrow, setup, teardown),
        cmocka_unit_test_setup_teardown(times_with_time_zone_are_instants, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_are_sentences, setup, teardown),
        cmocka_unit_test_setup_teardown(changes_are_seen_by_what_comes_after_them, setup, teardown),
        cmocka_unit_test_setup_teardown(values_are_bound_to_statements_that_write, setup, teardown),
        cmocka_unit_test_setup_teardown(options_of_an_older_program_are_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(one_of_two_statements_is_cancelled, setup, teardown),
        cmocka_unit_test_setup_teardown(no_thread_is_left_after_the_last_database, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
