/* test_database_crash.c: a writer that is killed and a disk that is full leave the old state, and the next
 * writer cleans up behind them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void a_killed_writer_changes_nothing(void **state)
{
    const char *path = *state;
    uint64_t files = directory_files(path);
    for (int where = 0; where < 3; where++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct database_writer *writer;
            struct table_writer *table;
            if (database_writer_open(path, &writer, NULL) != STATUS_OK)
                _exit(1);
            write_color(writer, "plain");
            if (where == 1)
                write_sale(writer, "plain", ROWS - 1);
            if (where == 2 &&
                database_writer_table(writer, "other", color_columns, 2, 3, &table, NULL) != STATUS_OK)
                _exit(1);
            _exit(0); /* no abort, no commit: as if killed */
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_true(directory_files(path) > files);
        must(read_all(path, "lane-for", error));
        must(database_check(path, 1, NULL, NULL, NULL, error));
        struct database_writer *writer;
        must(database_writer_open(path, &writer, error)); /* the lock died with the writer */
        assert_int_equal(directory_files(path), files);
        database_writer_abort(writer);
    }
    must(read_all(path, "lane-for", error));
}

static void a_first_writer_that_was_killed_can_be_repeated(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *database;
    directory_make(path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct database_writer *writer;
        if (database_writer_open(path, &writer, NULL) == STATUS_OK)
            write_color(writer, "plain");
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    must_refuse(STATUS_BAD_INPUT, path, "first load did not finish", "",
                database_open(path, &database, error));
    database_make(path, "lane-for", ROWS);
    must(read_all(path, "lane-for", error));
    directory_remove(path);
}

/* While no file may become larger than `limit`. */
static void limit_files(rlim_t limit, struct rlimit *before)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
    struct rlimit small = {.rlim_cur = limit, .rlim_max = before->rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static void unlimit_files(const struct rlimit *before)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, before), 0);
    signal(SIGXFSZ, SIG_DFL);
}

#define KEYS 12

/* A table of one plain column of `rows` keys, or of KEYS columns without rows. */
static enum status load_keys(const char *path, rlim_t limit, uint64_t rows, struct error *reason)
{
    struct rlimit before;
    struct database_writer *writer;
    struct table_writer *table;
    struct column_schema schemas[KEYS] = {{.name = "k0", .type = TYPE_INT64}};
    int64_t *values = calloc(ROWS, sizeof *values);
    assert_non_null(values);
    for (int k = 1; k < KEYS; k++) {
        schemas[k].type = TYPE_INT64;
        snprintf(schemas[k].name, NAME_BYTES, "k%d", k);
    }
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "keys", schemas, rows ? 1 : KEYS, rows, &table, error));
    must(table_writer_codec(table, 0, "plain", error));
    limit_files(limit, &before);
    enum status status = rows ? table_writer_segment(table, 0, 0, values, NULL, reason) : STATUS_OK;
    if (status == STATUS_OK)
        status = database_writer_commit(writer, reason);
    else
        database_writer_abort(writer);
    unlimit_files(&before);
    free(values);
    return status;
}

static enum status encode_keys(const char *path, rlim_t limit, struct error *reason)
{
    struct rlimit before;
    struct database *database;
    const struct table *table;
    struct codec_choice plain;
    enum codec_id codec;
    must(codec_choice_parse("plain", &plain, error));
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &table, error));
    limit_files(limit, &before);
    enum status status = database_encode(database, &table->columns[SALE_KEY], &plain, 1, &codec, reason);
    unlimit_files(&before);
    assert_int_equal(table->columns[SALE_KEY].encoding_count, status == STATUS_OK ? 2 : 1);
    database_close(database);
    return status;
}

static void a_full_disk_leaves_nothing_half_written(void **state)
{
    const char *path = *state;
    char other[PATH_BYTES];
    directory_make(other);
    database_make(other, "plain", ROWS);
    struct bytes plain = bytes_read(other, "tables/sale/s_key.plain.1");
    directory_remove(other);
    uint64_t files = directory_files(path);
    /* In the first chunk, behind it, in the directory, in the trailer, in the header. */
    const rlim_t limits[] = {0, 4000, 4096, 8192, plain.size - 73, plain.size - 50, plain.size - 1};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        must_refuse(STATUS_MACHINE, path, "File too large", "make room", encode_keys(path, limits[l], error));
        assert_int_equal(directory_files(path), files);
        must_refuse(STATUS_MACHINE, path, "File too large", "make room",
                    load_keys(path, limits[l], ROWS, error));
        assert_int_equal(directory_files(path), files);
        must(read_all(path, "lane-for", error));
    }
    /* Files of no rows fit, the catalogue of 21 columns does not. */
    must_refuse(STATUS_MACHINE, "catalogue.new", "File too large", "make room",
                load_keys(path, 4096 + 32, 0, error));
    assert_int_equal(directory_files(path), files);
    must(read_all(path, "lane-for", error));
    must(encode_keys(path, RLIM_INFINITY, error));
    must(load_keys(path, RLIM_INFINITY, ROWS, error));
    must(database_check(path, 1, NULL, NULL, NULL, error));
    free(plain.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_database(a_killed_writer_changes_nothing),
        cmocka_unit_test(a_first_writer_that_was_killed_can_be_repeated),
        in_a_database(a_full_disk_leaves_nothing_half_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
