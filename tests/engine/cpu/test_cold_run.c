/* test_cold_run.c: a statement over files that are not in memory gives the same answer as over files that are, and tells
 * how many bytes came from the disk: those of its columns. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/disk/disk_reads.h"
#include "tests/support/not_run.h"
#include "tests/support/one_directory.h"
#include "tests/support/sql/sql_answer.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <unistd.h>

/* 4 MB to 12 MB a column in plain: several steps of a reader. */
#define ROWS 1500001u

static const char *const statements[] = {
    "select sum(s_price), count(s_amount) from sale where s_amount > 100",
    "select c_name, s_paid, sum(s_price), min(s_day) from sale, color where s_color = c_key and s_amount < "
    "300 group by "
    "c_name, s_paid order by c_name, s_paid",
    "select s_note, count(*), max(s_key) from sale group by s_note order by s_note",
    "select s_key, s_price from sale where s_day between '1991-12-01' and '1991-12-03' order by s_price "
    "desc, s_key limit 20",
    "select s_key from sale where s_amount = 77 limit 5",
};
#define STATEMENTS (sizeof statements / sizeof *statements)

static int drop_file(const char *file, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat;
    (void)walk;
    if (type != FTW_F)
        return 0;
    const int descriptor = open(file, O_RDONLY);
    assert_true(descriptor >= 0);
    (void)fsync(descriptor);
    (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    close(descriptor);
    return 0;
}

/* Files stay in memory while a program has their pages, so the plan's pages are given back first. */
static void drop(const struct plan *plan)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (uint32_t c = 0; plan && c < plan->column_count; c++)
        for (uint32_t s = 0; s < plan->columns[c].data->segment_count; s++) {
            const struct chunk_view *chunk = &plan->columns[c].data->segments[s].chunk;
            const uintptr_t begin = (uintptr_t)chunk->bytes & ~(page - 1),
                            end = (uintptr_t)chunk->bytes + chunk->size;
            assert_int_equal(madvise((void *)begin, end - begin, MADV_DONTNEED), 0);
        }
    assert_int_equal(nftw(path, drop_file, 16, FTW_PHYS), 0);
}

/* False where the file system keeps files in memory. */
static bool can_drop(void)
{
    char file[PATH_BYTES + 16];
    unsigned char resident = 0;
    snprintf(file, sizeof file, "%s/catalogue", path);
    drop(NULL);
    const int descriptor = open(file, O_RDONLY);
    assert_true(descriptor >= 0);
    void *const bytes = mmap(NULL, 1, PROT_READ, MAP_SHARED, descriptor, 0);
    assert_true(bytes != MAP_FAILED);
    assert_int_equal(mincore(bytes, 1, &resident), 0);
    munmap(bytes, 1);
    close(descriptor);
    return !(resident & 1);
}

static uint64_t column_bytes(const struct plan *plan)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < plan->column_count; c++)
        bytes += plan->columns[c].data->bytes;
    return bytes;
}

/* In a database of its own, so that the statement opens its columns. Returns the time in which readers read: on a busy machine
 * a statement may have read all of its columns before a reader gets its turn. */
static double try_statement(struct engine *engine, const char *sql, bool staged)
{
    struct database *database;
    struct sql_statement *statement;
    struct run_timing cold, warm, evicted;
    const struct plan *plan;
    size_t used;
    double reading_ms = 0;
    drop(NULL);
    must(database_open(path, &database, error));
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    sql_statement_set(statement, (struct sql_settings){.staged = staged});
    char *const first = statement_csv(statement, &cold), *const second = statement_csv(statement, &warm);
    must(sql_plan(statement, &plan, error));
    assert_in_range(cold.plan_reads.bytes, column_bytes(plan) / 2, UINT64_MAX);
    assert_true(cold.plan_reads.ms > 0 && cold.plan_reads.reading_ms <= cold.plan_reads.ms);
    assert_int_equal(warm.run_reads.bytes, 0);
    assert_string_equal(first, second);
    for (int round = 0; round < 3; round++) { /* scans of files run forwards and backwards in turn */
        drop(plan);
        char *const again = statement_csv(statement, &evicted);
        assert_string_equal(first, again);
        free(again);
        if (strstr(sql, "limit") || column_bytes(plan) < 4 * DISK_READS_LEAST)
            continue;
        assert_in_range(evicted.run_reads.bytes, column_bytes(plan) / 2, UINT64_MAX);
        reading_ms += evicted.run_reads.reading_ms;
    }
    free(first);
    free(second);
    sql_statement_free(statement);
    database_close(database);
    return reading_ms;
}

static void cold_answers_are_warm_answers(void **state)
{
    struct engine *engine;
    (void)state;
    for (unsigned threads = 1; threads < 4; threads += 2)
        for (int lane = 0; lane < 2; lane++) {
            database_make(path, lane ? "lane-for" : "plain", ROWS);
            if (!can_drop())
                not_run("TMPDIR is on no disk, so files cannot be dropped from memory");
            must(engine_open(&(struct engine_options){.device = "cpu", .threads = threads}, &engine, error));
            double reading_ms = 0;
            for (size_t s = 0; s < STATEMENTS; s++)
                for (int staged = 0; staged < 2; staged++)
                    reading_ms += try_statement(engine, statements[s], staged);
            assert_true(reading_ms > 0);
            engine_close(engine);
            directory_remove(path);
            directory_make(path);
        }
}

static void text_says_what_bounds(void **state)
{
    char text[DISK_READS_TEXT];
    struct disk_reads sum = {0};
    (void)state;
    assert_string_equal(disk_reads_text(&sum, text), "nothing from the disk");
    disk_reads_add(&sum, &(struct disk_reads){.bytes = 375600000, .ms = 213, .reading_ms = 200});
    assert_string_equal(disk_reads_text(&sum, text),
                        "375.6 MB from the disk in 0.213 s, 1.76 GB/s: bound by the disk");
    disk_reads_add(&sum, &(struct disk_reads){.bytes = 20000000000, .ms = 10000, .reading_ms = 5000});
    assert_string_equal(disk_reads_text(&sum, text), "20.4 GB from the disk in 10.213 s, 2.00 GB/s");
    assert_false(disk_reads_bound(&sum));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cold_answers_are_warm_answers, setup, teardown),
        cmocka_unit_test(text_says_what_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
