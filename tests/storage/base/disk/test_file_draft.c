/* test_file_draft.c: a file that is written beside the one that it replaces: what stands where before, meanwhile and after,
 * for files, links, pipes and drafts that a dead process left. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/disk/file_draft.h"
#include "tests/support/one_directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char file[PATH_BYTES + 32], partial[PATH_BYTES + 48];

static void name_files(void)
{
    snprintf(file, sizeof file, "%.*sout", (int)(strlen(path) - strlen("db")), path);
    snprintf(partial, sizeof partial, "%s.partial", file);
    unlink(file);
    unlink(partial);
}

static void put(const char *name, const char *text)
{
    FILE *const out = fopen(name, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void has(const char *name, const char *text)
{
    char bytes[64] = "";
    FILE *const in = fopen(name, "r");
    assert_non_null(in);
    bytes[fread(bytes, 1, sizeof bytes - 1, in)] = '\0';
    fclose(in);
    assert_string_equal(bytes, text);
}

static void begin(struct file_draft *draft, const char *text)
{
    struct error error;
    if (file_draft_open(file, draft, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(write(draft->descriptor, text, strlen(text)), strlen(text));
}

static void a_file_is_new_when_it_is_kept(void **state)
{
    struct file_draft draft;
    struct error error;
    (void)state;
    name_files();
    begin(&draft, "one");
    assert_int_equal(access(file, F_OK), -1);
    assert_int_equal(file_draft_keep(&draft, &error), STATUS_OK);
    has(file, "one");
    begin(&draft, "two");
    has(file, "one");
    file_draft_drop(&draft);
    has(file, "one");
    assert_int_equal(access(partial, F_OK), -1);
    put(partial, "what a process that was killed has left");
    begin(&draft, "3");
    assert_int_equal(file_draft_keep(&draft, &error), STATUS_OK);
    has(file, "3");
    assert_int_equal(access(partial, F_OK), -1);
}

static void one_draft_at_a_time(void **state)
{
    struct file_draft draft, other;
    struct error error;
    (void)state;
    name_files();
    begin(&draft, "one");
    assert_int_equal(file_draft_open(file, &other, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "is being written by somebody else"));
    assert_int_equal(file_draft_keep(&draft, &error), STATUS_OK);
    has(file, "one");
    begin(&other, "two");
    file_draft_drop(&other);
}

static void permissions_stay(void **state)
{
    struct file_draft draft;
    struct error error;
    struct stat there;
    (void)state;
    name_files();
    put(file, "old");
    assert_int_equal(chmod(file, 0600), 0);
    begin(&draft, "new");
    assert_int_equal(stat(partial, &there), 0);
    assert_int_equal(there.st_mode & 0777, 0600);
    assert_int_equal(file_draft_keep(&draft, &error), STATUS_OK);
    has(file, "new");
    assert_int_equal(stat(file, &there), 0);
    assert_int_equal(there.st_mode & 0777, 0600);
}

static void links_folders_and_pipes(void **state)
{
    char link_name[PATH_BYTES + 64], bytes[8] = "";
    struct file_draft draft;
    struct error error;
    struct stat there;
    (void)state;
    name_files();
    put(file, "old");
    snprintf(link_name, sizeof link_name, "%s-link", file);
    assert_int_equal(symlink("out", link_name), 0);
    assert_int_equal(file_draft_open(link_name, &draft, &error), STATUS_OK);
    assert_int_equal(write(draft.descriptor, "new", 3), 3);
    assert_int_equal(file_draft_keep(&draft, &error), STATUS_OK);
    has(file, "new");
    assert_int_equal(lstat(link_name, &there), 0);
    assert_true(S_ISLNK(there.st_mode));
    assert_int_equal(file_draft_open("/tmp", &draft, &error), STATUS_BAD_INPUT);
    assert_int_equal(file_draft_open("/nowhere/x", &draft, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere/x cannot be written"));
    unlink(link_name);
    assert_int_equal(mkfifo(link_name, 0600), 0);
    const int reader = open(link_name, O_RDONLY | O_NONBLOCK);
    assert_int_equal(file_draft_open(link_name, &draft, &error), STATUS_OK);
    assert_int_equal(write(draft.descriptor, "piped", 5), 5);
    assert_int_equal(file_draft_keep(&draft, &error), STATUS_OK);
    assert_int_equal(read(reader, bytes, sizeof bytes), 5);
    assert_string_equal(bytes, "piped");
    close(reader);
    unlink(link_name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_new_when_it_is_kept),
        cmocka_unit_test(one_draft_at_a_time),
        cmocka_unit_test(permissions_stay),
        cmocka_unit_test(links_folders_and_pipes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
