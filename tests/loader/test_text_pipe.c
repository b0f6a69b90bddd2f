/*
 * test_text_pipe.c: reading a FIFO that has nothing to read waits for its writer, and can be cancelled; what comes byte by
 * byte is read as a file is.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/clock.h"
#include "storage/base/parallel.h"
#include "tests/support/one_directory.h"
#include "tests/support/text_rows.h"

#include <bzlib.h>
#include <fcntl.h>
#include <lzma.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* All tests run in it. */
static struct execution execution;

static void *cancel_soon(void *unused)
{
    (void)unused;
    usleep(100000);
    execution_stop(&execution);
    return NULL;
}

/* Reading the FIFO ends soon after it was cancelled from another thread, and no signal woke it. */
static void assert_cancelled(const char *fifo)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    struct error error = {0};
    pthread_t thread;
    const double begin = clock_seconds();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    char *const rows = read_all(&fifo, 1, &plain, &error);
    const double took = clock_seconds() - begin;
    assert_int_equal(pthread_join(thread, NULL), 0);
    execution_resume(&execution);
    assert_int_equal(error.status, STATUS_INTERRUPTED);
    if (took < 0.1)
        fail_msg("it took %.2f s", took);
    free(rows);
}

static void waiting_for_a_pipe_can_be_cancelled(void **state)
{
    char fifo[PATH_BYTES + 64];
    (void)state;
    snprintf(fifo, sizeof fifo, "%.*s/fifo", (int)(strlen(path) - 3), path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_cancelled(fifo); /* that nobody opened to write */
    const int reader = open(fifo, O_RDONLY | O_NONBLOCK), writer = open(fifo, O_WRONLY);
    assert_true(reader >= 0 && writer >= 0);
    assert_cancelled(fifo); /* that nobody writes to */
    assert_int_equal(write(writer, "1,2,3\n4,", 8), 8);
    assert_cancelled(fifo); /* that was begun */
    assert_int_equal(close(reader), 0);
    assert_int_equal(close(writer), 0);
    assert_int_equal(unlink(fifo), 0);
}

/* A FIFO whose writer comes late is no empty file. */
static void *write_late(void *fifo)
{
    usleep(100000);
    const int writer = open(fifo, O_WRONLY);
    for (int row = 0; row < 3; row++) {
        usleep(20000);
        if (write(writer, "1,2,3\n", 6) != 6)
            break;
    }
    close(writer);
    return NULL;
}

static void a_late_writer_is_waited_for(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO, .delimiter = ','};
    char fifo[PATH_BYTES + 64];
    const char *const file = fifo;
    pthread_t thread;
    (void)state;
    snprintf(fifo, sizeof fifo, "%.*s/fifo", (int)(strlen(path) - 3), path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_late, fifo), 0);
    char *const rows = read_all(&file, 1, &plain, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(rows, "1/2/3;1/2/3;1/2/3;");
    free(rows);
    assert_int_equal(unlink(fifo), 0);
}

struct slow_bytes {
    const char *fifo, *bytes;
    size_t count;
};

static void *write_slowly(void *context)
{
    const struct slow_bytes *slow = context;
    const int writer = open(slow->fifo, O_WRONLY);
    for (size_t b = 0; b < slow->count && write(writer, slow->bytes + b, 1) == 1; b++)
        usleep(1000);
    close(writer);
    return NULL;
}

/* What a file is stands in its first bytes, which may come one by one. */
static void packed_text_comes_byte_by_byte(void **state)
{
    static const char text[] = "1,2,3\n4,5,6\n";
    const struct text_options plain = {.header = TEXT_HEADER_NO, .delimiter = ','};
    char fifo[PATH_BYTES + 64], xz[256], zstd[256], bzip2[256];
    const char *const file = fifo;
    size_t xz_bytes = 0;
    unsigned bzip2_bytes = sizeof bzip2;
    (void)state;
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, (const uint8_t *)text,
                                             sizeof text - 1, (uint8_t *)xz, &xz_bytes, sizeof xz),
                     LZMA_OK);
    assert_int_equal(BZ2_bzBuffToBuffCompress(bzip2, &bzip2_bytes, (char *)text, sizeof text - 1, 1, 0, 0),
                     BZ_OK);
    const struct slow_bytes packed[] = {
        {fifo, xz, xz_bytes},
        {fifo, bzip2, bzip2_bytes},
        {fifo, zstd, ZSTD_compress(zstd, sizeof zstd, text, sizeof text - 1, 1)},
        {fifo, text, sizeof text - 1},
        {fifo, text, 6},
    };
    snprintf(fifo, sizeof fifo, "%.*s/fifo", (int)(strlen(path) - 3), path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    for (size_t p = 0; p < sizeof packed / sizeof *packed; p++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, write_slowly, (void *)&packed[p]), 0);
        char *const rows = read_all(&file, 1, &plain, NULL);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_non_null(rows);
        assert_string_equal(rows, packed[p].count == 6 ? "1/2/3;" : "1/2/3;4/5/6;");
        free(rows);
    }
    assert_int_equal(unlink(fifo), 0);
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_a_pipe_can_be_cancelled),
        cmocka_unit_test(a_late_writer_is_waited_for),
        cmocka_unit_test(packed_text_comes_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
