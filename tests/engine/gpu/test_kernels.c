/*
 * test_kernels.c: kernels of every query, and of every codec for every architecture, compile without a GPU and within the
 * registers that their launch bounds leave. Skipped where NVRTC is not installed, unless
 * TESSERA_REQUIRE_NVRTC is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/data/load.h"
#include "ssb/queries/queries.h"
#include "tests/support/database_cases.h"
#include "tests/support/gpu/query_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_CODECS (CODEC_COUNT - 1u) /* at most */
#define MIXED         3u                 /* codecs in a kernel that has several */

/* All codecs that hold any column. Those whose values are fetched from shared memory stand apart: two of them in a kernel
 * of three are too much for the smallest GPU. Staged ones are plain values to a kernel. */
static const char *codecs[KERNEL_CODECS];
static uint32_t codec_count;

static void order_codecs(void)
{
    uint32_t staged = 0, others = 0;
    const char *sorted[2][KERNEL_CODECS];
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *const codec = codec_by_id(id);
        if (codec_needs_levels(codec))
            continue;
        if (codec->gpu.random_access || codec_is_staged(codec, true))
            sorted[1][others++] = codec->name;
        else
            sorted[0][staged++] = codec->name;
    }
    codec_count = staged + others;
    for (uint32_t i = 0, s = 0, o = 0; i < codec_count; i++)
        codecs[i] = s < staged && (i % MIXED == 0 || o == others) ? sorted[0][s++] : sorted[1][o++];
}

static char directory[256], nulls_directory[256], levels_directory[256], clustered_directory[256];
/* The second with NULL keys: its date table is cut. The last one's rows are clustered. */
static struct database *database, *nulls, *levels, *clustered;

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
    const struct ssb_load_options full = {.data = {.scale_factor = 0.2}}; /* every brand and city is there */
    const struct ssb_load_options cut = {.data = {.scale_factor = 0.01, .dates = SSB_DATES_CLASSIC},
                                         .dangling_null = true};
    const struct ssb_load_options by_levels = {
        .data = {.scale_factor = 0.2},
        .dimension_order = DIMENSION_LEVELS,
        .codecs = "lo_custkey=lane-levels,lo_partkey=lane-levels,lo_suppkey=lane-levels,"
                  "lo_orderdate=lane-levels"};
    struct ssb_load_options by_cells = by_levels;
    by_cells.cluster_by = "auto";
    return make(&full, directory, sizeof directory, &database) &&
                   make(&by_cells, clustered_directory, sizeof clustered_directory, &clustered) &&
                   make(&cut, nulls_directory, sizeof nulls_directory, &nulls) &&
                   make(&by_levels, levels_directory, sizeof levels_directory, &levels)
               ? 0
               : 1;
}

static int unload(void **state)
{
    char command[1152];
    (void)state;
    database_close(database);
    database_close(nulls);
    database_close(levels);
    database_close(clustered);
    snprintf(command, sizeof command, "rm -rf '%s' '%s' '%s' '%s'", directory, nulls_directory,
             levels_directory, clustered_directory);
    return system(command);
}

struct compilation {
    const struct plan *plan;
    const char *codec;
    const struct compile_target *gpu;
    const char *const *options;
};

static enum status compile(void *context, uint64_t item, unsigned thread, struct error *why)
{
    const struct compilation *compilation = (const struct compilation *)context + item;
    char name[128];
    (void)thread;
    snprintf(name, sizeof name, "%s, %s", compilation->plan->kernel.kernel->name, compilation->codec);
    return compile_kernel(compilation->plan, false, compilation->options, compilation->gpu, name, why);
}

/* Compiles them on all cores, then frees what they were made of. */
static void compile_all(struct compilation *compilations, size_t count, struct plan **plans,
                        size_t plan_count)
{
    struct error why = {0};
    const enum status status = parallel_for(0, count, compile, compilations, &why);
    for (size_t i = 0; i < plan_count; i++)
        plan_free(plans[i]);
    if (status != STATUS_OK)
        fail_msg("%s", why.text);
}

static struct plan *bind(struct database *from, const struct ssb_query *query, const char *codec)
{
    struct plan *plan;
    enum sql_explain explain;
    must(plan_statement(from, query->sql, codec, &plan, &explain, error));
    must(plan_use_kernel(plan, &query->kernel, error));
    assert_ptr_equal(plan->kernel.kernel, &query->kernel);
    return plan;
}

/* For Hopper, and for one of the other architectures. */
static void every_query_compiles(void **state)
{
    (void)state;
    need_compile_targets();
    struct plan *plans[SSB_QUERIES];
    struct compilation compilations[2 * SSB_QUERIES];
    for (size_t q = 0; q < SSB_QUERIES; q++) {
        plans[q] = bind(database, ssb_queries[q], "auto");
        compilations[2 * q] = (struct compilation){plans[q], "auto", compile_sm_90, NULL};
        compilations[2 * q + 1] =
            (struct compilation){plans[q], "auto", compile_targets[1 + q % (compile_target_count - 1)], NULL};
    }
    compile_all(compilations, 2 * SSB_QUERIES, plans, SSB_QUERIES);
}

/* A filter, a filter that is also a group, and a sum of Q2.1 in as many codecs, from the n-th on. */
static void mixed(size_t n, char spec[128])
{
    static const char *const columns[] = {"lo_suppkey", "lo_orderdate", "lo_revenue"};
    size_t used = 0;
    for (size_t c = 0; c < MIXED; c++)
        used += (size_t)snprintf(spec + used, 128 - used, "%s%s=%s", c ? "," : "", columns[c],
                                 codecs[(n + c) % codec_count]);
}

/* Every codec for every architecture, each time in another place of the query; on the first one also counting what is
 * read. */
static void every_codec_compiles_for_every_architecture(void **state)
{
    (void)state;
    need_compile_targets();
    order_codecs();
    struct plan *plans[KERNEL_CODECS];
    static char specs[KERNEL_CODECS][128];
    struct compilation compilations[KERNEL_CODECS * (1 + COMPILE_TARGETS_MAX)];
    size_t count = 0;
    for (size_t n = 0; n < codec_count; n++) {
        mixed(n, specs[n]);
        plans[n] = bind(database, &q21, specs[n]);
    }
    for (size_t g = 0; g < compile_target_count; g++)
        for (size_t first = 0; first < codec_count; first += MIXED) {
            const size_t n = (first + g) % codec_count;
            compilations[count++] = (struct compilation){plans[n], specs[n], compile_targets[g], NULL};
            if (g == 0)
                compilations[count++] =
                    (struct compilation){plans[n], specs[n], compile_targets[g], cuda_sectors_options};
        }
    compile_all(compilations, count, plans, codec_count);
}

/* The slowest kernels that there are: gpu-dfor takes 2 s here and 10 s for the six columns of Q4.2. */
static void every_codec_compiles_in_all_places(void **state)
{
    (void)state;
    need_compile_targets();
    order_codecs();
    struct plan *plans[KERNEL_CODECS];
    struct compilation compilations[KERNEL_CODECS];
    for (size_t i = 0; i < codec_count; i++) {
        plans[i] = bind(database, &q11, codecs[i]);
        compilations[i] = (struct compilation){plans[i], codecs[i], compile_sm_90, NULL};
    }
    compile_all(compilations, codec_count, plans, codec_count);
}

static void null_keys_compile(void **state)
{
    (void)state;
    need_compile_targets();
    static const char *const some[] = {"auto", "gpu-rfor", "plain"};
    struct plan *plans[3];
    struct compilation compilations[3];
    for (size_t i = 0; i < 3; i++) {
        plans[i] = bind(nulls, &q21, some[i]);
        bool nullable = false;
        for (uint32_t c = 0; c < plans[i]->column_count; c++)
            nullable |= plans[i]->columns[c].nullable;
        assert_true(nullable); /* the order date: else this tests nothing */
        compilations[i] = (struct compilation){plans[i], some[i], compile_sm_90, NULL};
    }
    compile_all(compilations, 3, plans, 3);
}

/* Keys of the 13 queries are tested by their planes alone, so no kernel makes a bitmap. */
static void levels_compile(void **state)
{
    (void)state;
    need_compile_targets();
    struct plan *plans[SSB_QUERIES];
    struct compilation compilations[SSB_QUERIES];
    for (size_t q = 0; q < SSB_QUERIES; q++) {
        struct kernel kernel;
        plans[q] = bind(levels, ssb_queries[q], NULL);
        compilations[q] =
            (struct compilation){plans[q], "levels", compile_targets[q % compile_target_count], NULL};
        must(kernel_make(plans[q], false, &compile_sm_90->target, &kernel, error));
        assert_non_null(strstr(kernel.source, "tile_test<"));
        assert_null(strstr(kernel.source, "match_rows"));
        kernel_free(&kernel);
    }
    compile_all(compilations, SSB_QUERIES, plans, SSB_QUERIES);
}

/* Keys that stand in runs, as an order's; of others, or with states of more than 64 bits, each row adds its own. */
static void rows_of_a_run_are_merged(void **state)
{
    static const struct {
        const char *sql;
        bool merged;
    } cases[] = {
        {"select lo_orderkey, count(*), sum(lo_revenue), min(lo_tax), max(lo_tax) from lineorder group by "
         "lo_orderkey",
         true},
        {"select lo_orderkey, sum(case when lo_tax > 3 then lo_revenue end), bit_and(lo_tax), "
         "bit_xor(lo_tax), "
         "bit_or(lo_tax) from lineorder where lo_tax > 1 group by lo_orderkey",
         true},
        {"select lo_custkey, count(*), sum(lo_revenue), min(lo_tax), max(lo_tax), sum(lo_tax), "
         "sum(lo_quantity), "
         "sum(lo_discount) from lineorder group by lo_custkey",
         true},
        {"select lo_partkey, count(*), sum(lo_revenue), min(lo_tax), max(lo_tax), sum(lo_tax), "
         "sum(lo_quantity), "
         "sum(lo_discount) from lineorder group by lo_partkey",
         false},
        {"select lo_orderkey, count(distinct lo_tax) from lineorder group by lo_orderkey", false},
        {"select lo_orderkey, sum(lo_revenue * 1000000007 * lo_tax) from lineorder group by lo_orderkey",
         false},
    };
    (void)state;
    need_compile_targets();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan *plan;
        struct kernel kernel;
        enum sql_explain explain;
        must(plan_statement(database, cases[i].sql, NULL, &plan, &explain, error));
        must(kernel_make(plan, false, &compile_sm_90->target, &kernel, error));
        if ((strstr(kernel.source, "lane_run") != NULL) != cases[i].merged)
            fail_msg("%s", cases[i].sql);
        must(compile_source(cases[i].sql, kernel.source, compile_sm_90->arch, NULL, error));
        kernel_free(&kernel);
        plan_free(plan);
    }
}

static bool source_has(const struct plan *plan, const char *text)
{
    struct kernel kernel;
    must(kernel_make(plan, false, &compile_sm_90->target, &kernel, error));
    const bool has = strstr(kernel.source, text) != NULL;
    kernel_free(&kernel);
    return has;
}

/* Of the 13 queries these keep many rows of the tiles that they read if rows are clustered; so do others of a larger table.
 * Lanes take their own rows then, and lines of the summed columns are copied to shared memory. */
static bool keeps_many(const struct ssb_query *query)
{
    return query == &q21 || query == &q31 || query == &q41 || query == &q42;
}

static bool copies_lines(const struct plan *plan)
{
    struct kernel kernel;
    uint32_t lines = 0;
    must(kernel_make(plan, false, &compile_sm_90->target, &kernel, error));
    for (uint32_t c = 0; c < kernel.shape.column_count; c++)
        lines += kernel.layout.copied[c];
    const bool split = kernel.layout.split;
    kernel_free(&kernel);
    return split && lines > 0;
}

static void clustered_queries_compile(void **state)
{
    (void)state;
    need_compile_targets();
    struct plan *plans[SSB_QUERIES];
    struct compilation compilations[2 * SSB_QUERIES];
    size_t count = 0;
    for (size_t q = 0; q < SSB_QUERIES; q++) {
        struct plan *const in_order = bind(levels, ssb_queries[q], NULL);
        plans[q] = bind(clustered, ssb_queries[q], NULL);
        if (source_has(plans[q], "#define TILE_MANY 1\n") != keeps_many(ssb_queries[q]) ||
            copies_lines(plans[q]) != keeps_many(ssb_queries[q]) || source_has(in_order, "TILE_MANY"))
            fail_msg("%s", ssb_queries[q]->kernel.name);
        plan_free(in_order);
        for (size_t g = 0; g < 2 && keeps_many(ssb_queries[q]); g++)
            compilations[count++] = (struct compilation){plans[q], "clustered", compile_targets[g], NULL};
    }
    compile_all(compilations, count, plans, SSB_QUERIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_query_compiles),
        cmocka_unit_test(every_codec_compiles_for_every_architecture),
        cmocka_unit_test(every_codec_compiles_in_all_places),
        cmocka_unit_test(null_keys_compile),
        cmocka_unit_test(levels_compile),
        cmocka_unit_test(rows_of_a_run_are_merged),
        cmocka_unit_test(clustered_queries_compile),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
