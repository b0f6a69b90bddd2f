/*
 * test_kernel_cache.c: a kernel is compiled once; whatever changes its machine code changes its key; damage
 * is noticed; a folder that cannot be used costs nothing but time. Skipped where NVRTC is not installed,
 * unless TESSERA_REQUIRE_NVRTC is set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/kernel_cache.h"
#include "tests/support/gpu/need_nvrtc.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[128]; /* of the test; the cache is folder/a/b */

static const struct embedded_file headers[] = {{"one.h", "#define ONE 1\n"}, {NULL, NULL}};
static const struct nvrtc_request request = {
    .name = "kernel.cu",
    .source = "#include \"one.h\"\nextern \"C\" __global__ void kernel(int *x) { *x = ONE; }\n",
    .headers = headers,
    .arch = "sm_80"};

/* Files in the cache; the path of the last one. */
static unsigned entries(char path[600])
{
    char cache[300];
    snprintf(cache, sizeof cache, "%s/a/b", folder);
    DIR *directory = opendir(cache);
    unsigned count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.') {
            snprintf(path, 600, "%s/%s", cache, entry->d_name);
            count++;
        }
    if (directory)
        closedir(directory);
    return count;
}

static int set_up(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/test_kernel_cache.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    char cache[300];
    snprintf(cache, sizeof cache, "%s/a/b", folder);
    return setenv("TESSERA_KERNEL_CACHE", cache, 1);
}

static int tear_down(void **state)
{
    (void)state;
    char path[600];
    while (entries(path) > 0)
        unlink(path);
    snprintf(path, sizeof path, "%s/a/b", folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/a", folder);
    rmdir(path);
    return rmdir(folder);
}

static struct kernel_binary get(const struct nvrtc_request *wanted)
{
    struct kernel_binary binary;
    struct error error = {0};
    if (kernel_cache_get(wanted, &binary, NULL, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(binary.cubin, "\177ELF", 4);
    assert_int_equal(binary.from_cache, binary.compile_ms == 0);
    return binary;
}

static void the_second_time_it_comes_from_the_folder(void **state)
{
    (void)state;
    need_nvrtc();
    char path[600];
    struct kernel_binary first = get(&request), second = get(&request);
    assert_false(first.from_cache);
    assert_true(second.from_cache);
    assert_int_equal(first.cubin_bytes, second.cubin_bytes);
    assert_memory_equal(first.cubin, second.cubin, first.cubin_bytes);
    assert_int_equal(entries(path), 1); /* and no temporary file left */
    kernel_binary_free(&first);
    kernel_binary_free(&second);
    kernel_binary_free(&second);
}

static void whatever_changes_the_code_changes_the_key(void **state)
{
    (void)state;
    need_nvrtc();
    const struct embedded_file other_text[] = {{"one.h", "#define ONE 2\n"}, {NULL, NULL}};
    const struct embedded_file other_name[] = {{"one.h", "#define ONE 1\n"}, {"two.h", ""}, {NULL, NULL}};
    const char *const options[] = {"-DTESSERA_TWO", NULL};
    const char *const split[] = {"-DTESSERA_T", "-DWO", NULL};
    struct nvrtc_request variants[] = {request, request, request, request, request, request};
    variants[0].headers = other_text;
    variants[1].headers = other_name;
    variants[2].options = options;
    variants[3].options = split;
    variants[4].arch = "sm_90";
    variants[5].source = "#include \"one.h\"\nextern \"C\" __global__ void kernel(int *x) { *x = ONE; } \n";
    struct kernel_binary binary = get(&request);
    kernel_binary_free(&binary);
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
            binary = get(&variants[i]);
            assert_int_equal(binary.from_cache, again);
            kernel_binary_free(&binary);
        }
    char path[600];
    assert_int_equal(entries(path), 7);
}

static void a_damaged_entry_is_compiled_again(void **state)
{
    (void)state;
    need_nvrtc();
    struct kernel_binary whole = get(&request);
    char path[600];
    assert_int_equal(entries(path), 1);
    struct stat entry;
    assert_int_equal(stat(path, &entry), 0);
    const long sizes[] = {0, 1, 23, 24, 100, (long)entry.st_size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(truncate(path, sizes[i]), 0);
        struct kernel_binary binary = get(&request);
        assert_false(binary.from_cache);
        kernel_binary_free(&binary);
    }
    const long places[] = {0, 8, 16, 23, 24, 1000, (long)entry.st_size - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, places[i], SEEK_SET);
        int byte = fgetc(file);
        fseek(file, places[i], SEEK_SET);
        fputc(byte ^ 0x40, file);
        fclose(file);
        struct kernel_binary binary = get(&request);
        assert_false(binary.from_cache);
        assert_int_equal(binary.cubin_bytes, whole.cubin_bytes);
        assert_memory_equal(binary.cubin, whole.cubin, whole.cubin_bytes);
        kernel_binary_free(&binary);
        binary = get(&request); /* replaced by a good one */
        assert_true(binary.from_cache);
        kernel_binary_free(&binary);
    }
    kernel_binary_free(&whole);
}

static void assert_not_found(void)
{
    struct kernel_binary binary;
    bool found;
    assert_int_equal(kernel_cache_find(&request, &binary, &found, NULL), STATUS_OK);
    assert_false(found);
}

static void no_byte_of_an_entry_may_be_another_or_missing(void **state)
{
    (void)state;
    need_nvrtc();
    struct kernel_binary whole = get(&request);
    struct stat entry;
    char path[600];
    bool found;
    assert_int_equal(entries(path), 1);
    assert_int_equal(stat(path, &entry), 0);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    setvbuf(file, NULL, _IONBF, 0);
    for (long at = 0; at < (long)entry.st_size; at++) {
        fseek(file, at, SEEK_SET);
        const int byte = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(byte ^ 1 << at % 8, file);
        assert_not_found();
        fseek(file, at, SEEK_SET);
        fputc(byte, file);
    }
    fclose(file);
    kernel_binary_free(&whole);
    assert_int_equal(kernel_cache_find(&request, &whole, &found, NULL), STATUS_OK);
    assert_true(found); /* as it was */
    for (off_t size = entry.st_size; size-- > 0;) {
        assert_int_equal(truncate(path, size), 0);
        assert_not_found();
    }
    kernel_binary_free(&whole);
}

static void no_folder_and_a_useless_folder_only_cost_time(void **state)
{
    (void)state;
    need_nvrtc();
    const char *const folders[] = {"", "/proc/no/such/folder", "/dev/null"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        setenv("TESSERA_KERNEL_CACHE", folders[i], 1);
        for (int again = 0; again < 2; again++) {
            struct kernel_binary binary = get(&request);
            assert_false(binary.from_cache);
            kernel_binary_free(&binary);
        }
    }
}

static void wrong_source_is_told_and_not_kept(void **state)
{
    (void)state;
    need_nvrtc();
    struct nvrtc_request wrong = request;
    wrong.source = "nonsense";
    struct kernel_binary binary;
    char *log, path[600];
    assert_int_equal(kernel_cache_get(&wrong, &binary, &log, NULL), STATUS_BAD_INPUT);
    assert_non_null(log);
    free(log);
    assert_null(binary.cubin);
    assert_int_equal(entries(path), 0);
    kernel_binary_free(&binary);
}

int main(void)
{
#define EACH_IN_ITS_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH_IN_ITS_FOLDER(the_second_time_it_comes_from_the_folder),
        EACH_IN_ITS_FOLDER(whatever_changes_the_code_changes_the_key),
        EACH_IN_ITS_FOLDER(a_damaged_entry_is_compiled_again),
        EACH_IN_ITS_FOLDER(no_byte_of_an_entry_may_be_another_or_missing),
        EACH_IN_ITS_FOLDER(no_folder_and_a_useless_folder_only_cost_time),
        EACH_IN_ITS_FOLDER(wrong_source_is_told_and_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
