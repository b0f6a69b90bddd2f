/* test_database_writers.c: changes of a database beside other processes that change or read it, and in directories where
 * a catalogue is missing. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/clock.h"
#include "storage/database/database_files.h"
#include "tests/support/database_files.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* fork(); the child does not outlive a test that fails. */
static pid_t child_begin(void)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

/* ---- Without a catalogue ---- */

static void a_database_whose_catalogue_is_gone_is_kept(void **state)
{
    const char *path = *state;
    char catalogue[2 * PATH_BYTES], away[2 * PATH_BYTES], lock[2 * PATH_BYTES];
    struct database_writer *writer;
    snprintf(catalogue, sizeof catalogue, "%s/" CATALOGUE_FILE, path);
    snprintf(away, sizeof away, "%s/../away", path);
    snprintf(lock, sizeof lock, "%s/" LOCK_FILE, path);
    for (int locked = 1; locked >= 0; locked--) {
        const uint64_t files = directory_files(path);
        assert_int_equal(rename(catalogue, away), 0);
        must_refuse(STATUS_BAD_INPUT, path, "files of a database", "moved or lost",
                    database_writer_open(path, &writer, error));
        assert_int_equal(directory_files(path), files - 1);
        assert_int_equal(rename(away, catalogue), 0);
        must(read_all(path, "lane-for", error));
        if (locked)
            assert_int_equal(unlink(lock), 0);
    }
    database_make(path, "plain", ROWS);
    must(read_all(path, "plain", error));
}

/* A first change fails and cannot remove all that it wrote. */
static void what_a_first_change_leaves_is_in_nobodys_way(void **state)
{
    char path[PATH_BYTES], letter[2 * PATH_BYTES];
    struct database_writer *writer;
    (void)state;
    directory_make(path);
    must(database_writer_open(path, &writer, error));
    write_color(writer, "plain");
    snprintf(letter, sizeof letter, "%s/tables/color/letter", path);
    bytes_write(letter, "dear", 4);
    database_writer_abort(writer);
    assert_int_equal(access(letter, F_OK), 0);
    database_make(path, "plain", ROWS);
    must(read_all(path, "plain", error));
    snprintf(letter, sizeof letter, "%s/" FIRST_FILE, path);
    assert_int_equal(access(letter, F_OK), -1); /* now a missing catalogue is a lost one */
    directory_remove(path);
}

/* ---- Other writers ---- */

/* A process that has the writers' lock for `ms` milliseconds from the return on. */
static pid_t other_writer(const char *path, long ms)
{
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = child_begin();
    if (child == 0) {
        struct database_writer *writer;
        if (database_writer_open(path, &writer, NULL) != STATUS_OK || write(pipes[1], "x", 1) != 1)
            _exit(1);
        sleep_ms(ms);
        database_writer_abort(writer);
        _exit(0);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

static void must_end(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static enum status encode(const char *path, int column, const char *name, struct error *reason)
{
    struct database *database;
    struct codec_choice choice;
    enum codec_id codec;
    enum status status = database_open(path, &database, reason);
    if (status != STATUS_OK)
        return status;
    status = codec_choice_parse(name, &choice, reason);
    if (status == STATUS_OK)
        status = database_encode(database, &database_table_at(database, 1)->columns[column], &choice, 1,
                                 &codec, reason);
    database_close(database);
    return status;
}

static void a_change_waits_for_another_one(void **state)
{
    const char *path = *state;
    struct database_writer *writer;
    pid_t other = other_writer(path, 300);
    must(database_writer_open(path, &writer, error));
    database_writer_abort(writer);
    must_end(other);
    other = other_writer(path, 300);
    must(encode(path, SALE_KEY, "plain", error));
    must_end(other);
    other = other_writer(path, 300);
    must(database_index_create(path, "color", "c_name",
                               (struct index_wish){.format = INDEX_WAH64, .bins = INDEX_AUTO}, 1, NULL,
                               error));
    must_end(other);
}

static void a_first_change_waits_for_another_one(void **state)
{
    char path[PATH_BYTES];
    (void)state;
    directory_make(path);
    const pid_t other = other_writer(path, 300); /* then the directory that it made goes */
    database_make(path, "plain", ROWS);
    must_end(other);
    must(read_all(path, "plain", error));
    directory_remove(path);
}

static void who_is_waited_for_is_told(void **state)
{
    const char *path = *state;
    struct database_writer *writer;
    char process[32];
    struct stat lock;
    char name[2 * PATH_BYTES];
    const pid_t other = other_writer(path, 600000);
    snprintf(process, sizeof process, "process %ld (", (long)other);
    must_refuse(STATUS_BAD_INPUT, "another writer", process, "wait",
                database_writer_open(path, &writer, error));
    assert_int_equal(kill(other, SIGKILL), 0);
    assert_int_equal(waitpid(other, NULL, 0), other);
    must(database_writer_open(path, &writer, error));
    database_writer_abort(writer);
    snprintf(name, sizeof name, "%s/" LOCK_FILE, path);
    assert_int_equal(stat(name, &lock), 0);
    assert_int_equal(lock.st_size, 0);
}

static void two_processes_encode_the_same(void **state)
{
    const char *path = *state;
    static const char *const names[] = {"plain", "gpu-for", "smallest"};
    pid_t children[2];
    for (int child = 0; child < 2; child++)
        if ((children[child] = child_begin()) == 0) {
            bool fine = true;
            for (int n = 0; n < 3; n++)
                for (int c = 0; c < SALE_COLUMNS; c++)
                    fine &= encode(path, c, names[n], NULL) == STATUS_OK;
            _exit(!fine);
        }
    for (int child = 0; child < 2; child++)
        must_end(children[child]);
    must(read_all(path, "plain", error));
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

/* ---- Readers ---- */

#define READERS 4
#define CHANGES 200
#define SECONDS 20.0

/* Opens and closes the database until it is killed; the last reader of a state cleans up. */
static pid_t reader(const char *path)
{
    const pid_t child = child_begin();
    if (child == 0)
        for (;;) {
            struct database *database;
            if (database_open(path, &database, NULL) != STATUS_OK)
                _exit(1);
            database_close(database);
        }
    return child;
}

static void readers_do_not_make_a_writer_fail(void **state)
{
    const char *path = *state;
    pid_t readers[READERS];
    const double end = clock_seconds() + SECONDS;
    for (int r = 0; r < READERS; r++)
        readers[r] = reader(path);
    for (int c = 0; c < CHANGES && clock_seconds() < end; c++) {
        struct database_writer *writer;
        struct table_writer *table;
        must(database_writer_open(path, &writer, error));
        must(database_writer_table(writer, "other", color_columns, 1, 0, &table, error));
        must(database_writer_commit(writer, error));
    }
    for (int r = 0; r < READERS; r++) {
        int status;
        assert_int_equal(kill(readers[r], SIGKILL), 0);
        assert_int_equal(waitpid(readers[r], &status, 0), readers[r]);
        assert_true(WIFSIGNALED(status)); /* it never failed */
    }
    must(read_all(path, "lane-for", error));
}

#define NAME "a.b c" /* its directory is a%2Eb c */

static void write_named(const char *path)
{
    static const int32_t values[3] = {1, 2, 3};
    struct database_writer *writer;
    struct table_writer *table;
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, NAME, color_columns, 1, 3, &table, error));
    must(table_writer_segment(table, 0, 0, values, NULL, error));
    must(database_writer_commit(writer, error));
}

static void a_reader_keeps_the_files_of_a_table_of_any_name(void **state)
{
    const char *path = *state;
    struct database *database;
    struct column_data *data;
    const struct table *table;
    write_named(path);
    must(database_open(path, &database, error));
    write_named(path);
    must(database_table(database, NAME, &table, error));
    must(column_data_open(database, &table->columns[0], table->columns[0].own, 1, &data, error));
    database_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_database(a_database_whose_catalogue_is_gone_is_kept),
        cmocka_unit_test(what_a_first_change_leaves_is_in_nobodys_way),
        in_a_database(a_change_waits_for_another_one),
        cmocka_unit_test(a_first_change_waits_for_another_one),
        in_a_database(who_is_waited_for_is_told),
        in_a_database(two_processes_encode_the_same),
        in_a_database(readers_do_not_make_a_writer_fail),
        in_a_database(a_reader_keeps_the_files_of_a_table_of_any_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
