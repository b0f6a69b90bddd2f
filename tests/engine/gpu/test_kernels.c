/*
 * test_kernels.c: every query's kernel compiles for every architecture and codec, without a GPU, and within
 * the registers that its launch bounds leave. Skipped where NVRTC is not installed, unless
 * TESSERA_REQUIRE_NVRTC is set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/plan/query_bind.h"
#include "engine/gpu/sectors.h"
#include "engine/gpu/kernel_plan.h"
#include "ssb/data/load.h"
#include "ssb/queries/queries.h"
#include "tests/support/need_nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *arch;
    struct kernel_target target;
} gpus[] = {
    {"sm_75", {65536, 65536, 1024}}, {"sm_80", {166912, 167936, 2048}}, {"sm_90", {232448, 233472, 2048}}};

static const char *const codecs[] = {"plain",      "nsf",      "gpu-for",  "gpu-dfor",   "gpu-rfor",
                                     "lane-delta", "rank-rle", "lane-for", "lane-slice", "auto"};

static char directory[256], nulls_directory[256];
static struct database *database, *nulls; /* the second with NULL keys: its date table is cut */

static bool make(const struct ssb_load_options *wanted, char *path, size_t bytes, struct database **opened)
{
    const char *folder = getenv("TMPDIR");
    struct ssb_load_options options = *wanted;
    struct error error = {0};
    snprintf(path, bytes, "%s/tessera-kernels-XXXXXX", folder ? folder : "/tmp");
    options.directory = path;
    if (mkdtemp(path) && ssb_load(&options, NULL, &error) == STATUS_OK &&
        database_open(path, opened, &error) == STATUS_OK)
        return true;
    fprintf(stderr, "%s\n", error.text);
    return false;
}

static int load(void **state)
{
    (void)state;
    const struct ssb_load_options full = {.data = {.scale_factor = 0.01}};
    const struct ssb_load_options cut = {.data = {.scale_factor = 0.01, .dates = SSB_DATES_CLASSIC},
                                         .dangling_null = true};
    return make(&full, directory, sizeof directory, &database) &&
                   make(&cut, nulls_directory, sizeof nulls_directory, &nulls)
               ? 0
               : 1;
}

static int unload(void **state)
{
    char command[640];
    (void)state;
    database_close(database);
    database_close(nulls);
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", directory, nulls_directory);
    return system(command);
}

struct compilation {
    const struct bound_query *bound;
    const char *codec;
    size_t gpu;
    const char *const *options;
};

static enum status compile(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct compilation *compilation = (const struct compilation *)context + item;
    struct kernel_plan plan;
    (void)thread;
    RETURN_IF_ERROR(kernel_plan_make(compilation->bound, &gpus[compilation->gpu].target, &plan, error));
    struct nvrtc_request request = {.name = compilation->bound->query->name,
                                    .source = plan.source,
                                    .arch = gpus[compilation->gpu].arch,
                                    .options = compilation->options};
    void *cubin;
    size_t bytes;
    char *log = NULL;
    enum status status = nvrtc_compile(&request, &cubin, &bytes, &log, error);
    if (status == STATUS_OK)
        free(cubin);
    else
        fprintf(stderr, "%s, %s, %s:\n%s\n%s\n", compilation->bound->query->name, compilation->codec,
                gpus[compilation->gpu].arch, plan.source, log ? log : "");
    free(log);
    kernel_plan_free(&plan);
    return status;
}

static void every_query_compiles_for_every_architecture(void **state)
{
    (void)state;
    need_nvrtc();
    static struct bound_query bound[SSB_QUERIES];
    struct compilation compilations[SSB_QUERIES * 3];
    struct error error = {0};
    for (size_t i = 0; i < SSB_QUERIES * 3; i++) {
        size_t query = i / 3;
        if (i % 3 == 0 &&
            bound_query_open(database, ssb_queries[query], "auto", 1, &bound[query], &error) != STATUS_OK)
            fail_msg("%s", error.text);
        compilations[i] = (struct compilation){&bound[query], "auto", i % 3, NULL};
    }
    enum status status = parallel_for(0, SSB_QUERIES * 3, compile, compilations, &error);
    for (size_t q = 0; q < SSB_QUERIES; q++)
        bound_query_close(&bound[q]);
    if (status != STATUS_OK)
        fail_msg("%s", error.text);
}

/* As it is, and counting what it reads. */
static void every_codec_compiles(void **state)
{
    (void)state;
    need_nvrtc();
    enum { CODECS = sizeof codecs / sizeof *codecs };
    static struct bound_query bound[CODECS];
    struct compilation compilations[2 * CODECS];
    struct error error = {0};
    for (size_t i = 0; i < CODECS; i++) {
        if (bound_query_open(database, &q42, codecs[i], 1, &bound[i], &error) != STATUS_OK)
            fail_msg("%s", error.text);
        compilations[2 * i] = (struct compilation){&bound[i], codecs[i], 2, NULL};
        compilations[2 * i + 1] = (struct compilation){&bound[i], codecs[i], 2, cuda_sectors_options};
    }
    enum status status = parallel_for(0, 2 * CODECS, compile, compilations, &error);
    for (size_t i = 0; i < CODECS; i++)
        bound_query_close(&bound[i]);
    if (status != STATUS_OK)
        fail_msg("%s", error.text);
}

static void null_keys_compile(void **state)
{
    (void)state;
    need_nvrtc();
    static const char *const some[] = {"auto", "gpu-rfor", "plain"};
    static struct bound_query bound[3];
    struct compilation compilations[3];
    struct error error = {0};
    for (size_t i = 0; i < 3; i++) {
        if (bound_query_open(nulls, &q21, some[i], 1, &bound[i], &error) != STATUS_OK)
            fail_msg("%s", error.text);
        bool nullable = false;
        for (uint32_t c = 0; c < bound[i].column_count; c++)
            nullable |= bound[i].columns[c].nullable;
        assert_true(nullable); /* the order date: else this tests nothing */
        compilations[i] = (struct compilation){&bound[i], some[i], 2, NULL};
    }
    enum status status = parallel_for(0, 3, compile, compilations, &error);
    for (size_t i = 0; i < 3; i++)
        bound_query_close(&bound[i]);
    if (status != STATUS_OK)
        fail_msg("%s", error.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_query_compiles_for_every_architecture),
        cmocka_unit_test(every_codec_compiles),
        cmocka_unit_test(null_keys_compile),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
