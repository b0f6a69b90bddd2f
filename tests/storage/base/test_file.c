/* test_file.c: opening, writing and locking files among things that are none. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/file.h"
#include "tests/support/one_directory.h"

#include <sys/wait.h>

static char name[PATH_BYTES + 16], other[PATH_BYTES + 16];

static int make_place(void **state)
{
    setup(state);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(name, sizeof name, "%s/file", path);
    snprintf(other, sizeof other, "%s/other", path);
    alarm(60); /* nothing here waits */
    return 0;
}

static void assert_text(const char *file, const char *text)
{
    char bytes[64];
    uint64_t size;
    int descriptor;
    must(file_open(file, &descriptor, &size, NULL, error));
    assert_int_equal(size, strlen(text));
    assert_int_equal(read(descriptor, bytes, sizeof bytes), size);
    assert_memory_equal(bytes, text, size);
    close(descriptor);
}

static void only_files_are_read(void **state)
{
    int descriptor;
    uint64_t size;
    bool missing;
    (void)state;
    must_refuse(STATUS_BAD_INPUT, name, "No such file", "",
                file_open(name, &descriptor, &size, &missing, error));
    assert_true(missing);
    must_refuse(STATUS_BAD_INPUT, path, "it is a directory", "",
                file_open(path, &descriptor, &size, &missing, error));
    assert_false(missing);
    must_refuse(STATUS_BAD_INPUT, "/dev/null", "it is a device", "",
                file_open("/dev/null", &descriptor, &size, NULL, error));
    assert_int_equal(mkfifo(name, 0666), 0);
    must_refuse(STATUS_BAD_INPUT, name, "it is a FIFO", "", file_open(name, &descriptor, &size, NULL, error));
    assert_int_equal(descriptor, -1);
    must(file_write_whole(other, "text", 4, error));
    assert_int_equal(unlink(name), 0);
    assert_int_equal(symlink(other, name), 0);
    assert_text(name, "text");
}

static void what_is_in_the_way_is_replaced_not_followed(void **state)
{
    (void)state;
    must(file_write_whole(other, "other", 5, error));
    assert_int_equal(symlink(other, name), 0);
    must(file_write_whole(name, "name", 4, error));
    assert_text(name, "name");
    assert_text(other, "other");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkfifo(name, 0666), 0);
    must(file_write_whole(name, "again", 5, error));
    assert_text(name, "again");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkdir(name, 0777), 0);
    must_refuse(STATUS_BAD_INPUT, name, "cannot create", "", file_write_whole(name, "x", 1, error));
}

static void what_was_created_is_opened_again_if_it_is_still_there(void **state)
{
    int descriptor;
    (void)state;
    must(file_create(name, &descriptor, error));
    close(descriptor);
    must(file_open_again(name, &descriptor, error));
    must(file_write(name, descriptor, "text", 4, 2, error));
    close(descriptor);
    must(file_write_whole(other, "other", 5, error));
    assert_int_equal(unlink(name), 0);
    assert_int_equal(symlink(other, name), 0);
    must_refuse(STATUS_BAD_INPUT, name, "symbolic link", "", file_open_again(name, &descriptor, error));
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkfifo(name, 0666), 0);
    must_refuse(STATUS_BAD_INPUT, name, "it is a FIFO", "", file_open_again(name, &descriptor, error));
}

/* Whether another process gets the lock. */
static bool other_process_locks(void)
{
    int status, descriptor;
    pid_t child = fork();
    if (child == 0)
        _exit(file_lock(name, &descriptor, NULL) == STATUS_OK ? descriptor >= 0 : 2);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status);
}

static void a_lock_is_held_by_one(void **state)
{
    int descriptor;
    (void)state;
    must(file_lock(name, &descriptor, error));
    assert_true(descriptor >= 0);
    assert_false(other_process_locks());
    assert_int_equal(unlink(name), 0);
    assert_true(other_process_locks()); /* a new file of that name */
    close(descriptor);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(symlink(other, name), 0);
    must_refuse(STATUS_BAD_INPUT, name, "symbolic link", "", file_lock(name, &descriptor, error));
    assert_int_equal(access(other, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_files_are_read, make_place, teardown),
        cmocka_unit_test_setup_teardown(what_is_in_the_way_is_replaced_not_followed, make_place, teardown),
        cmocka_unit_test_setup_teardown(what_was_created_is_opened_again_if_it_is_still_there, make_place,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_lock_is_held_by_one, make_place, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
