/*
 * test_text_pipe.c: reading a FIFO that has nothing to read waits for its writer, and can be cancelled.
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

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static void *cancel_soon(void *unused)
{
    (void)unused;
    usleep(100000);
    cancel_request();
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
    cancel_reset();
    assert_int_equal(error.status, STATUS_INTERRUPTED);
    if (took < 0.1 || took > 2) /* 0.15 on a machine that has nothing else to do */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_for_a_pipe_can_be_cancelled),
        cmocka_unit_test(a_late_writer_is_waited_for),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
