/* test_file_map.c: which file an address belongs to, while it is mapped. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/file.h"
#include "storage/base/file_map.h"
#include "tests/support/one_directory.h"

#define FILES 20
#define BYTES 10000u

static struct file_map maps[FILES];
static char names[FILES][PATH_BYTES + 16];

static void map(int f)
{
    uint64_t size;
    int descriptor;
    must(file_open(names[f], &descriptor, &size, NULL, error));
    must(file_map_open(names[f], descriptor, size, &maps[f], error));
    close(descriptor);
}

static void an_address_names_its_file(void **state)
{
    static char bytes[BYTES];
    (void)state;
    assert_int_equal(mkdir(path, 0777), 0);
    for (int f = 0; f < FILES; f++) {
        snprintf(names[f], sizeof names[f], "%s/%d", path, f);
        must(file_write_whole(names[f], bytes, BYTES, error));
    }
    for (int round = 0; round < 3; round++) {
        for (int f = 0; f < FILES; f++)
            map(f);
        for (int f = 0; f < FILES; f++) {
            assert_int_equal(maps[f].size, BYTES);
            assert_ptr_equal(file_map_path(maps[f].bytes), names[f]);
            assert_ptr_equal(file_map_path(maps[f].bytes + BYTES - 1), names[f]);
        }
        const uint8_t *gone = maps[round].bytes;
        file_map_close(&maps[round]);
        assert_null(file_map_path(gone));
        for (int f = 0; f < FILES; f++)
            file_map_close(&maps[f]); /* one twice: it is zero */
        assert_null(file_map_path(gone));
        assert_null(maps[0].bytes);
    }
    assert_null(file_map_path(bytes));
    assert_null(file_map_path(NULL));
}

/* A file that is mapped twice has two addresses for each place; one that has taken its name is another file. */
static void places_of_a_file_are_the_same(void **state)
{
    static char bytes[BYTES];
    (void)state;
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(names[0], sizeof names[0], "%s/0", path);
    must(file_write_whole(names[0], bytes, BYTES, error));
    map(0);
    struct file_map twice = maps[0];
    map(0);
    assert_ptr_not_equal(twice.bytes, maps[0].bytes);
    assert_true(file_map_same(twice.bytes, maps[0].bytes));
    assert_true(file_map_same(twice.bytes + 4000, maps[0].bytes + 4000));
    assert_false(file_map_same(twice.bytes, maps[0].bytes + 1));
    assert_false(file_map_same(twice.bytes, bytes));
    assert_int_equal(unlink(names[0]), 0);
    must(file_write_whole(names[0], bytes, BYTES, error));
    file_map_close(&maps[0]);
    map(0);
    assert_false(file_map_same(twice.bytes, maps[0].bytes));
    file_map_close(&twice);
    file_map_close(&maps[0]);
    assert_false(file_map_same(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_address_names_its_file, setup, teardown),
        cmocka_unit_test_setup_teardown(places_of_a_file_are_the_same, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
