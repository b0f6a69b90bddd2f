/*
 * test_nvrtc.c: compiling CUDA C++ at run time, without a GPU. Skipped where NVRTC is not installed, unless
 * TESSERA_REQUIRE_NVRTC is set (TESSERA_CUDA=ON sets it).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/embedded.h"
#include "engine/cuda/kernel_cache.h"
#include "engine/cuda/nvrtc.h"
#include "tests/support/not_run.h"
#include "tests/support/run_program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const archs[] = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};
#define ARCHS (sizeof archs / sizeof *archs)

static void need_nvrtc(void)
{
    int major, minor;
    struct error error = {0};
    if (nvrtc_version(&major, &minor, &error) == STATUS_OK) {
        assert_true(major > 11 || (major == 11 && minor >= 2));
        assert_non_null(nvrtc_path());
        return;
    }
    assert_int_equal(error.status, STATUS_MACHINE);
    if (getenv("TESSERA_REQUIRE_NVRTC"))
        fail_msg("%s", error.text);
    not_run("NVRTC was not found, so no kernel is compiled");
}

static void compiles_for_every_architecture_that_ci_covers(void **state)
{
    (void)state;
    need_nvrtc();
    for (size_t i = 0; i < ARCHS; i++) {
        struct nvrtc_request request = {
            .source = "extern \"C\" __global__ void twice(int *x) { x[threadIdx.x] *= 2; }",
            .arch = archs[i]};
        void *cubin;
        size_t bytes;
        char *log;
        struct error error = {0};
        if (!nvrtc_knows(archs[i]))
            continue;
        if (nvrtc_compile(&request, &cubin, &bytes, &log, &error) != STATUS_OK)
            fail_msg("%s", error.text);
        assert_null(log);
        assert_true(bytes > 64);
        assert_memory_equal(cubin, "\177ELF", 4);
        free(cubin);
    }
}

static void headers_come_from_memory_and_integer_types_are_there(void **state)
{
    (void)state;
    need_nvrtc();
    const struct embedded_file headers[] = {
        {"part/inner.h", "#pragma once\n#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n"
                         "struct inner { uint32_t a; int64_t b; bool c; };\n"},
        {"part/outer.h", "#pragma once\n#include \"part/inner.h\"\n"},
        {NULL, NULL},
    };
    const char *const options[] = {"-DFACTOR=3", NULL};
    struct nvrtc_request request = {
        .source =
            "#include \"part/outer.h\"\n"
            "static_assert(sizeof(int8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(int32_t) == 4, \"\");\n"
            "static_assert(sizeof(uint64_t) == 8 && sizeof(uintptr_t) == sizeof(void *), \"\");\n"
            "static_assert(sizeof(size_t) == 8 && NULL == 0 && INT32_MIN < 0 && INT64_MIN < 0, \"\");\n"
            "static_assert(UINT32_MAX == 0xffffffff && UINT64_MAX + 1 == 0, \"\");\n"
            "extern \"C\" __global__ void kernel(inner *x) { x->b = FACTOR * x->a; }\n",
        .headers = headers,
        .options = options,
        .arch = "sm_80"};
    void *cubin;
    size_t bytes;
    struct error error = {0};
    if (nvrtc_compile(&request, &cubin, &bytes, NULL, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    free(cubin);
}

static void the_embedded_tile_dialect_is_found_by_include(void **state)
{
    (void)state;
    need_nvrtc();
    struct nvrtc_request request = {
        .source = "#if !__has_include(\"operators/dialect/tile.h\")\n#error missing\n#endif\n"
                  "extern \"C\" __global__ void kernel() {}\n",
        .arch = "sm_90"};
    void *cubin;
    size_t bytes;
    struct error error = {0};
    if (nvrtc_compile(&request, &cubin, &bytes, NULL, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    free(cubin);
}

static void wrong_source_gives_the_first_error_and_the_log(void **state)
{
    (void)state;
    need_nvrtc();
    struct nvrtc_request request = {.name = "q99.cu",
                                    .source =
                                        "extern \"C\" __global__ void kernel() {\n  undeclared = 1;\n}\n",
                                    .arch = "sm_90"};
    void *cubin;
    size_t bytes;
    char *log;
    struct error error = {0};
    assert_int_equal(nvrtc_compile(&request, &cubin, &bytes, &log, &error), STATUS_BAD_INPUT);
    assert_null(cubin);
    assert_non_null(log);
    assert_non_null(strstr(log, "undeclared"));
    assert_non_null(strstr(error.text, "kernel 'q99.cu' does not compile for sm_90: q99.cu(2): error"));
    assert_null(strchr(error.text, '\n'));
    free(log);
    assert_int_equal(nvrtc_compile(&request, &cubin, &bytes, NULL, NULL), STATUS_BAD_INPUT);
}

static void an_unknown_architecture_or_option_is_told(void **state)
{
    (void)state;
    need_nvrtc();
    assert_true(nvrtc_knows("sm_90") && nvrtc_knows("sm_90a") && !nvrtc_knows("sm_1"));
    const char *const options[] = {"--no-such-option", NULL};
    const struct nvrtc_request requests[] = {{.source = "", .arch = "sm_1"},
                                             {.source = "", .arch = "sm_90", .options = options}};
    for (size_t i = 0; i < 2; i++) {
        void *cubin;
        size_t bytes;
        char *log;
        struct error error = {0};
        assert_int_equal(nvrtc_compile(&requests[i], &cubin, &bytes, &log, &error), STATUS_MACHINE);
        assert_null(cubin);
        assert_null(log);
        assert_non_null(strstr(error.text, i == 0 ? "does not know sm_1;" : "NVRTC_ERROR"));
    }
}

static void the_user_s_options_are_taken_and_are_part_of_the_key(void **state)
{
    (void)state;
    need_nvrtc();
    const struct nvrtc_request request = {
        .source = "#if SIZE != 4\n#error no size\n#endif\nextern \"C\" __global__ void kernel() {}\n",
        .arch = "sm_90"};
    struct kernel_binary binary;
    struct error error = {0};
    assert_int_equal(kernel_cache_get(&request, &binary, NULL, &error), STATUS_BAD_INPUT);
    setenv("TESSERA_NVRTC_OPTIONS", " -lineinfo  -DSIZE=4 ", 1);
    if (kernel_cache_get(&request, &binary, NULL, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    kernel_binary_free(&binary);
    setenv("TESSERA_NVRTC_OPTIONS", "-DSIZE=5", 1);
    assert_int_equal(kernel_cache_get(&request, &binary, NULL, &error), STATUS_BAD_INPUT);
    static char far_too_long[600];
    memset(far_too_long, 'x', sizeof far_too_long - 1);
    setenv("TESSERA_NVRTC_OPTIONS", far_too_long, 1);
    assert_int_equal(kernel_cache_get(&request, &binary, NULL, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "TESSERA_NVRTC_OPTIONS has more than 511 characters"));
    unsetenv("TESSERA_NVRTC_OPTIONS");
}

static void a_wrong_library_is_a_sentence(void **state)
{
    (void)state;
    static struct program_run run;
    run_shell("TESSERA_NVRTC=/no/such/libnvrtc.so $T devices", &run);
    assert_int_equal(run.exit_code, 0);
    assert_true(strstr(run.output, "TESSERA_NVRTC names '/no/such/libnvrtc.so'") != NULL ||
                strstr(run.output, "no GPU support") != NULL);
}

static void embedded_files_are_whole(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct embedded_file *file = embedded_files; file->name; file++, count++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", TESSERA_SOURCE, file->name);
        FILE *source = fopen(path, "rb");
        assert_non_null(source);
        size_t length = strlen(file->text);
        char *text = malloc(length + 2);
        assert_non_null(text);
        assert_int_equal(fread(text, 1, length + 2, source), length);
        fclose(source);
        assert_memory_equal(text, file->text, length);
        free(text);
        if (count > 0)
            assert_true(strcmp(file[-1].name, file->name) < 0);
    }
    assert_true(count > 13); /* at least the queries and the dialect */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedded_files_are_whole),
        cmocka_unit_test(compiles_for_every_architecture_that_ci_covers),
        cmocka_unit_test(headers_come_from_memory_and_integer_types_are_there),
        cmocka_unit_test(the_embedded_tile_dialect_is_found_by_include),
        cmocka_unit_test(wrong_source_gives_the_first_error_and_the_log),
        cmocka_unit_test(an_unknown_architecture_or_option_is_told),
        cmocka_unit_test(the_user_s_options_are_taken_and_are_part_of_the_key),
        cmocka_unit_test(a_wrong_library_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
