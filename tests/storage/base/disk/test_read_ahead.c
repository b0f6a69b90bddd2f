/* test_read_ahead.c: a reader reads each step once, in order, a bounded number before the scan, and can be stopped at any
 * time; and bytes that come from the disk are counted. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/file_map.h"
#include "storage/base/disk/read_ahead.h"
#include "storage/base/disk/disk_reads.h"
#include "tests/support/not_run.h"
#include "tests/support/one_directory.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEPS       1000u
#define PATIENCE_MS 60e3 /* a busy disk takes its time */

#define NO_DISK "TMPDIR is on no disk, so files cannot be dropped from memory"

/* ---- Steps ---- */

/* A page of a file that is in no memory, so that readers start. */
static struct file_map map;
static char name[PATH_BYTES + 16];

/* Makes a file, maps it and drops it from memory; false where the file system keeps files in memory. */
static bool map_cold(uint64_t bytes)
{
    unsigned char *content = malloc(bytes), resident = 1;
    assert_non_null(content);
    for (uint64_t i = 0; i < bytes; i++)
        content[i] = (unsigned char)(i * 2654435761u >> 13);
    assert_int_equal(mkdir(path, 0777) == 0 || access(path, X_OK) == 0, 1);
    snprintf(name, sizeof name, "%s/file", path);
    (void)unlink(name);
    must(file_write_whole(name, content, bytes, error));
    free(content);
    int descriptor;
    uint64_t size;
    must(file_open(name, &descriptor, &size, NULL, error));
    assert_int_equal(fsync(descriptor), 0);
    assert_int_equal(posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
    must(file_map_open(name, descriptor, size, &map, error));
    close(descriptor);
    assert_int_equal(mincore((void *)(uintptr_t)map.bytes, 1, &resident), 0);
    return !(resident & 1);
}

struct steps {
    atomic_uint seen[STEPS], highest;
};

/* Gives a page that is not in memory for the search, and none for reading, so that it stays so. */
static void take_step(const void *context, uint64_t step, bool few, read_ahead_visit *visit, void *result)
{
    (void)few;
    struct steps *steps = (struct steps *)(uintptr_t)context;
    if (step == 0)
        visit(result, map.bytes, 0); /* nothing */
    atomic_fetch_add(&steps->seen[step], 1);
    unsigned highest = atomic_load(&steps->highest);
    while (highest < step && !atomic_compare_exchange_weak(&steps->highest, &highest, (unsigned)step)) {
    }
}

static void steps_of_memory_start_nothing(void **state)
{
    static struct steps steps;
    (void)state;
    assert_null(read_ahead_start(STEPS, 4, take_step, &steps));
    assert_null(read_ahead_start(0, 1, take_step, &steps));
    for (unsigned s = 0; s < STEPS; s++)
        assert_in_range(steps.seen[s], s == 0 || s == STEPS - 1, 1); /* the search tests some */
    static char memory[3 * READ_AHEAD_STEP_BYTES];
    memset(memory, 1, sizeof memory);
    assert_null(read_ahead_bytes(memory, sizeof memory, 1));
    assert_null(read_ahead_bytes(memory, 0, 1));
    assert_null(read_ahead_bytes(NULL, 0, 1));
    read_ahead_reach(NULL, 7);
    read_ahead_reach_byte(NULL, 7);
    read_ahead_stop(NULL);
}

/* The page is absent in step 0, which ends the search. */
static void visit_cold_page(const void *context, uint64_t step, bool few, read_ahead_visit *visit,
                            void *result)
{
    (void)few;
    take_step(context, step, few, visit, result);
    if (step == 0)
        visit(result, map.bytes, 1);
}

static void wait_for(const atomic_uint *highest, unsigned step)
{
    for (const double until = clock_ms() + PATIENCE_MS; atomic_load(highest) < step && clock_ms() < until;)
        usleep(100);
}

static void steps_are_read_once_and_not_too_early(void **state)
{
    static const uint64_t aheads[] = {1, 2, 7, STEPS, 5 * STEPS};
    (void)state;
    for (size_t a = 0; a < sizeof aheads / sizeof *aheads; a++) {
        static struct steps steps;
        memset(&steps, 0, sizeof steps);
        if (!map_cold(10000))
            not_run(NO_DISK);
        struct read_ahead *reader = read_ahead_start(STEPS, aheads[a], visit_cold_page, &steps);
        assert_non_null(reader);
        for (uint64_t reached = 0; reached < STEPS; reached += 13) {
            const uint64_t last = reached + aheads[a] < STEPS ? reached + aheads[a] - 1 : STEPS - 1;
            read_ahead_reach(reader, reached);
            read_ahead_reach(reader, reached / 2); /* a slower thread of the scan */
            wait_for(&steps.highest, (unsigned)last);
            assert_int_equal(steps.highest, last);
        }
        read_ahead_reach(reader, STEPS);
        read_ahead_stop(reader);
        for (unsigned s = 0; s < STEPS; s++) /* step 0 by the search, too; a scan far ahead drops some */
            assert_in_range(steps.seen[s], aheads[a] < 13 ? 0 : 1, s == 0 ? 2 : 1);
        file_map_close(&map);
    }
}

static void a_reader_stops_at_once(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        static struct steps steps;
        memset(&steps, 0, sizeof steps);
        if (!map_cold(10000))
            not_run(NO_DISK);
        struct read_ahead *reader = read_ahead_start(STEPS, 3, visit_cold_page, &steps);
        assert_non_null(reader);
        read_ahead_stop(reader);
        assert_in_range(steps.highest, 0, 2);
        file_map_close(&map);
    }
}

/* ---- Files ---- */

static bool all_resident(uint64_t from, uint64_t size)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char *resident = calloc(1, size / page + 2);
    const uint64_t begin = from / page * page;
    bool all = true;
    assert_non_null(resident);
    assert_int_equal(mincore((void *)(uintptr_t)(map.bytes + begin), from + size - begin, resident), 0);
    for (uint64_t p = 0; p < (from + size - begin + page - 1) / page; p++)
        all &= resident[p] & 1;
    free(resident);
    return all;
}

static void parts_of_files_are_read_at_odd_places(void **state)
{
    static const uint64_t step = READ_AHEAD_STEP_BYTES,
                          sizes[] =
                              {1, 4095, 4096, 4097, 3 * step - 1, 3 * step, 3 * step + 1, 7 * step + 12345},
                          starts[] = {0, 1, 4095, 4096, 99999};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
            if (starts[s] >= sizes[i])
                continue;
            if (!map_cold(sizes[i]))
                not_run(NO_DISK);
            const struct disk_reads before = disk_reads_now();
            const uint64_t bytes = sizes[i] - starts[s];
            struct read_ahead *reader = read_ahead_bytes(map.bytes + starts[s], bytes, bytes);
            assert_non_null(reader);
            for (const double until = clock_ms() + PATIENCE_MS;
                 !all_resident(starts[s], bytes) && clock_ms() < until;)
                usleep(100);
            assert_true(all_resident(starts[s], bytes));
            read_ahead_reach_byte(reader, bytes - 1);
            read_ahead_stop(reader);
            const struct disk_reads after = disk_reads_now();
            assert_true(after.bytes - before.bytes >= bytes / 2);
            assert_true(after.reading_ms > before.reading_ms || bytes < step);
            assert_null(read_ahead_bytes(map.bytes + starts[s], bytes, bytes)); /* all is in memory now */
            file_map_close(&map);
        }
}

/* Systems tell only those who may write a file what of it is in memory. */
static void files_of_others_are_read_too(void **state)
{
    (void)state;
    if (geteuid() != 0)
        not_run("only the superuser can become another user");
    if (!map_cold(5 * READ_AHEAD_STEP_BYTES))
        not_run(NO_DISK);
    const struct disk_reads before = disk_reads_now();
    assert_int_equal(seteuid(65534), 0);
    struct read_ahead *reader = read_ahead_bytes(map.bytes, map.size, map.size);
    assert_int_equal(seteuid(0), 0);
    assert_non_null(reader);
    for (const double until = clock_ms() + PATIENCE_MS; !all_resident(0, map.size) && clock_ms() < until;)
        usleep(100);
    read_ahead_stop(reader);
    assert_in_range(disk_reads_since(&before).bytes, map.size / 2, UINT64_MAX);
    file_map_close(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_memory_start_nothing),
        cmocka_unit_test_setup_teardown(steps_are_read_once_and_not_too_early, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reader_stops_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_of_files_are_read_at_odd_places, setup, teardown),
        cmocka_unit_test_setup_teardown(files_of_others_are_read_too, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
