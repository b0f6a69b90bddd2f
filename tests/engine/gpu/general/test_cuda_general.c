/*
 * test_cuda_general.c: the general kernel answers as the CPU does: for every codec that it decodes, kind of step, expression,
 * place of states and aggregate, and tables of 1 to 3000 rows. On a GPU, or on the emulated one of tests/emulator, which has
 * the same kernel and no other: TESSERA_LIBCUDA names it, as ctest does. Skipped without either, unless TESSERA_REQUIRE_GPU is
 * set. What the kernel does not cover is told; kept statements share a module; and on a GPU a prepared statement gets its own kernel
 * when that is compiled.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/answer/output.h"
#include "engine/gpu/general/program.h"
#include "engine/library/tessera.h"
#include "tests/support/gpu/compile_targets.h"
#include "tests/support/gpu/on_a_gpu.h"
#include "tests/support/sql/sql_answer.h"

#include <dlfcn.h>
#include <unistd.h>

static const char schema[] =
    "CREATE TABLE shops (id INTEGER PRIMARY KEY, region VARCHAR, city VARCHAR, size INTEGER, opened DATE);"
    "CREATE TABLE goods (id INTEGER PRIMARY KEY, class VARCHAR, price DECIMAL(10,2), weight DOUBLE);"
    "CREATE TABLE sales (shop INTEGER REFERENCES shops (id), good INTEGER REFERENCES goods (id), day DATE,"
    " at TIMESTAMP, number INTEGER, paid DECIMAL(18,2), big BIGINT, part DOUBLE, note VARCHAR, flag INTEGER,"
    " maybe INTEGER, runs INTEGER);";

static uint32_t seed = 7;
static uint32_t below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 4) * limit >> 28);
}

static void write_shops(FILE *out)
{
    for (uint32_t i = 0; i < 90; i++)
        fprintf(out, "%u,region %u,city %u,%u,20%02u-%02u-%02u\n", i * 3 + 5, i % 5, i % 30, below(1000),
                10 + below(10), 1 + below(12), 1 + below(28));
}

static void write_goods(FILE *out)
{
    for (uint32_t i = 0; i < 300; i++)
        if (i % 7 == 0)
            fprintf(out, "%u,class %u,%u.%02u,\n", i, i % 12, below(500), below(100));
        else
            fprintf(out, "%u,class %u,%u.%02u,%u.%u\n", i, i % 12, below(500), below(100), below(90),
                    below(10));
}

/* The first `alike` sales are of shops of region 2. */
static void write_sales(FILE *out, uint32_t rows, uint32_t alike)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (i < alike)
            fprintf(out, "%u", (below(18) * 5 + 2) * 3 + 5);
        else if (below(9))
            fprintf(out, "%u", below(90) * 3 + 5);
        fprintf(out, ",%u,2021-%02u-%02u,2021-03-%02u %02u:%02u:%02u,%d,%d.%02u,", below(300), 1 + below(12),
                1 + below(28), 1 + below(28), below(24), below(60), below(60), (int)below(200) - 60,
                (int)below(2000000) - 900000, below(100));
        fprintf(out, "%lld,%s%u.%u,note %u,%u,",
                (long long)below(1u << 30) * 4000000007ll - 1000000000000000ll, below(2) ? "-" : "",
                below(1000), below(8), below(40), below(2));
        if (below(3))
            fprintf(out, "%u", below(50));
        fprintf(out, ",%u\n", i / 37);
    }
}

/* Steps: none, ranges, conditions that no step decides, semi-joins by range, bitmap and levels, rows without a match. */
static const char *const conditions[] = {
    "1 = 1",
    "number between 3 and 40",
    "number < 0 and maybe > 10 and runs >= 20",
    "maybe is null or number + maybe > 60",
    "region = 'region 2'",
    "region in ('region 1', 'region 4') and class <> 'class 3'",
    "size between 200 and 700 and price > 100",
    "city = 'city 7' and region = 'region 2' and flag = 1",
    "class = 'class 5' and weight > 20.5",
    "note like '%7' and extract(month from day) in (2, 3, 11)",
    "part > 12.5 and part * 2 < 900",
    "big > 0 and big % 7 = 3",
    "number > 1000",
};

/* What is asked of the rows that pass; %s is the condition. */
static const char *const questions[] = {
    "select count(*) from sales left join shops on shop = shops.id join goods on good = goods.id where %s",
    "select count(*), count(maybe), sum(number), min(number), max(paid), sum(paid), avg(maybe), sum(big / "
    "1000000), "
    "sum(part), min(part), max(day), bit_and(number), bit_or(flag + 4), bit_xor(number), count(distinct "
    "maybe), count(distinct big) from sales left join shops on shop = shops.id join goods on good = goods.id "
    "where %s",
    "select region, class, count(*), sum(paid * number), max(big), count(distinct number), min(weight), "
    "sum(part) from sales left join shops on shop = shops.id join goods on good = goods.id where %s group by "
    "region, class order by 1 nulls first, 2",
    "select day, note, maybe, count(*), sum(number * 3 - maybe), max(at), count(distinct good), "
    "bit_or(number) from sales left join shops on shop = shops.id join goods on good = goods.id where %s "
    "group by day, note, maybe order by 1, 2, 3 nulls first",
    "select paid, big, at, part, count(*), sum(runs) from sales left join shops on shop = shops.id join "
    "goods "
    "on good = goods.id where %s group by paid, big, at, part order by 1, 2, 3, 4, 6",
    "select case when number > 20 then 'high' when number > 0 then city end as k, extract(year from opened) "
    "as "
    "y, date_trunc('month', at) as m, sum(coalesce(maybe, -1)), sum(price / 4), avg(part + weight), "
    "sum(cast(part as integer)), max(day + interval '1' month) from sales left join shops on shop = shops.id "
    "join goods on good = goods.id where %s group by 1, 2, 3 order by 1 nulls first, 2 nulls first, 3",
    "select number, paid, city, note, at from sales left join shops on shop = shops.id join goods on good = "
    "goods.id where %s order by paid, big, number limit 40",
};

static const char *const codecs[] = {NULL,        "plain",    "nsf",        "gpu-for", "lane-delta",
                                     "lane-pfor", "rank-rle", "lane-slice", "lane-for"};
enum { LANE_DELTA = 4 };
static const uint32_t sizes[] = {1, 1025, 3000};
static const char *const names[] = {"shops", "goods", "sales"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct database *database;
static char path[PATH_BYTES];

static void make_database_of(uint32_t rows, uint32_t alike)
{
    static char files[3][PATH_BYTES + 16];
    const char *paths[3];
    uint64_t loaded;
    struct tessera_error failed;
    directory_make(path);
    for (uint32_t t = 0; t < 3; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, names[t]);
        paths[t] = files[t];
        FILE *const out = fopen(files[t], "w");
        assert_non_null(out);
        t == 0 ? write_shops(out) : t == 1 ? write_goods(out) : write_sales(out, rows, alike);
        fclose(out);
    }
    if (tessera_load(path, schema, names, paths, 3, TESSERA_LOAD_NEW, &loaded, &failed))
        fail_msg("%s", failed.text);
    must(database_open(path, &database, error));
}

static void make_database(uint32_t rows)
{
    make_database_of(rows, 0);
}

static void free_database(void)
{
    database_close(database);
    directory_remove(path);
}

static char *answer_with(struct engine *engine, const char *sql, const char *codec, struct run_timing *timing)
{
    struct sql_statement *statement;
    struct rowset rows;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), codec, &statement, &used, error));
    struct error failed = {0};
    if (sql_run(statement, &rows, timing, &failed) != STATUS_OK)
        fail_msg("%s, %s: %s", codec ? codec : "own", sql, failed.text);
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    sql_statement_free(statement);
    return text;
}

static void same_answers(struct engine *cpu, struct engine *gpu, const char *sql, const char *codec)
{
    struct run_timing timing = {0};
    char *const right = answer_with(cpu, sql, codec, NULL), *const text =
                                                                answer_with(gpu, sql, codec, &timing);
    if (strcmp(text, right) != 0)
        fail_msg("%s, %s:\n%s\nshould be\n%s", codec ? codec : "own", sql, text, right);
    if (timing.kernel == KERNEL_SPECIALISED)
        fail_msg("%s, %s: the general kernel does not cover it: %s", codec ? codec : "own", sql,
                 timing.kernel_why);
    free(text);
    free(right);
}

static void check_answers(const char *device)
{
    struct engine *cpu, *gpu;
    char sql[2048];
    for (size_t s = 0; s < COUNT(sizes); s++) {
        make_database(sizes[s]);
        must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
        must(engine_open(&(struct engine_options){.device = device, .kernel = KERNEL_GENERAL}, &gpu, error));
        for (size_t c = 0; c < COUNT(codecs); c++)
            for (size_t q = 0; q < COUNT(questions); q++)
                for (size_t w = 0; w < COUNT(conditions); w++) {
                    /* with one codec all pairs, with the others each question and each condition */
                    if (c > 1 && (q + w) % COUNT(questions) != c % COUNT(questions))
                        continue;
                    if (c == LANE_DELTA && q != 0 && q != 6)
                        continue; /* its columns need 4 or 8 KiB of shared memory for each of eight warps */
                    snprintf(sql, sizeof sql, questions[q], conditions[w]);
                    same_answers(cpu, gpu, sql, codecs[c]);
                }
        engine_close(gpu);
        engine_close(cpu);
        free_database();
    }
}

static void the_general_kernel_answers_as_the_cpu(void **state)
{
    (void)state;
    check_on_a_gpu(check_answers);
}

/* ---- Columns that the host alone reads ---- */

/* Rows in an order: the general kernel gives their numbers, so that no column of these is decoded before the scan, as it is for a
 * kernel of their own. */
static void check_host_columns(const char *device)
{
    static const char *const asked[] = {
        "select number, big from sales order by number, big limit 9",
        "select big, day from sales where flag = 1 order by big, day limit 9"};
    static const char *const staged[] = {"deflate,flag=lane-for,part=plain", "rle,flag=lane-for,part=plain"};
    struct engine *cpu, *gpu;
    make_database(3000);
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device, .kernel = KERNEL_GENERAL}, &gpu, error));
    for (size_t q = 0; q < COUNT(asked); q++)
        for (size_t c = 0; c < COUNT(staged); c++)
            same_answers(cpu, gpu, asked[q], staged[c]);
    engine_close(gpu);
    engine_close(cpu);
    free_database();
}

static void columns_that_the_host_alone_reads(void **state)
{
    (void)state;
    check_on_a_gpu(check_host_columns);
}

/* ---- Keys whose first planes are apart ---- */

#define KEYS "shop=lane-levels"

static void planes_are_apart(struct engine *engine)
{
    static const char sql[] =
        "select count(*) from sales join shops on shop = shops.id where region = 'region 1'";
    struct sql_statement *statement;
    const struct plan *plan;
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), KEYS, &statement, &used, error));
    must(sql_plan(statement, &plan, error));
    const struct column_data *const data = plan->columns[0].data;
    assert_string_equal(data->codec->name, "lane-levels");
    assert_false(data->segments[0].chunk.regular);
    sql_statement_free(statement);
}

/* Of 18 tiles two have rows that differ in the first planes; one of them has rows of the other kind, too. */
static void check_keys(const char *device)
{
    struct engine *cpu, *gpu;
    char sql[2048];
    make_database_of(18 * TILE_ROWS - 100, 16 * TILE_ROWS + 10);
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device, .kernel = KERNEL_GENERAL}, &gpu, error));
    planes_are_apart(cpu);
    for (size_t q = 0; q < COUNT(questions); q++)
        for (size_t w = q % 2; w < COUNT(conditions); w += 2) {
            snprintf(sql, sizeof sql, questions[q], conditions[w]);
            same_answers(cpu, gpu, sql, KEYS);
            char *const with = answer_with(cpu, sql, KEYS, NULL), *const without =
                                                                      answer_with(cpu, sql, "plain", NULL);
            assert_string_equal(with, without);
            free(with);
            free(without);
        }
    engine_close(gpu);
    engine_close(cpu);
    free_database();
}

static void keys_with_planes_apart(void **state)
{
    (void)state;
    check_on_a_gpu(check_keys);
}

/* ---- What is not covered ---- */

static void what_is_not_covered_is_told(void **state)
{
    static const struct {
        const char *sql, *codec, *why;
    } cases[] = {{"select sum(sin(part)) from sales", NULL, "sin"},
                 {"select sum(number) from sales", "gpu-dfor", "column number is in gpu-dfor"},
                 {"select sum(number) from sales", "rle", "column number is decoded before the scan"},
                 {"select sum(number) from sales where flag = 1", NULL, ""}};
    struct engine *engine;
    (void)state;
    make_database(100);
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sql_statement *statement;
        const struct plan *plan;
        struct kernel *kernel = calloc(1, sizeof *kernel);
        struct general general;
        size_t used;
        must(sql_prepare(engine, database, cases[i].sql, strlen(cases[i].sql), cases[i].codec, &statement,
                         &used, error));
        must(sql_plan(statement, &plan, error));
        must(general_make(plan, &compile_sm_90->target, kernel, &general, error));
        assert_int_equal(general.covered, !cases[i].why[0]);
        if (!strstr(general.why, cases[i].why))
            fail_msg("%s: %s", cases[i].sql, general.why);
        general_free(&general);
        kernel_free(kernel);
        free(kernel);
        sql_statement_free(statement);
    }
    engine_close(engine);
    free_database();
}

/* ---- Modules ---- */

#define KEPT 12u

/* How often a module was loaded; only the emulated GPU counts. */
static uint64_t loads(void)
{
    void *const library = getenv("TESSERA_LIBCUDA") ? dlopen(getenv("TESSERA_LIBCUDA"), RTLD_NOW) : NULL;
    const uint64_t *const count = library ? dlsym(library, "emulator_module_loads") : NULL;
    assert_true(count || !library);
    return count ? *count : 0;
}

static void write_kept(uint32_t k, char sql[2048])
{
    static const char *const kinds[] = {
        "select sum(number), count(*) from sales where number < %u",
        "select note, sum(paid) from sales where number < %u group by note order by 1",
        "select number, paid from sales where number < %u and flag = 1 order by 2, 1 limit 5"};
    snprintf(sql, 2048, kinds[k % COUNT(kinds)], 20 + 5 * k);
}

struct kept {
    struct sql_statement *statement;
    const struct plan *plan;
    struct prepared_plan *prepared;
    char *right;
};

static void keep(struct engine *cpu, struct engine *gpu, const char *sql, struct kept *kept)
{
    struct run_timing timing = {0};
    size_t used;
    kept->right = answer_with(cpu, sql, NULL, NULL);
    must(sql_prepare(gpu, database, sql, strlen(sql), NULL, &kept->statement, &used, error));
    must(sql_plan(kept->statement, &kept->plan, error));
    must(engine_prepare(gpu, kept->plan, false, &kept->prepared, error));
    must(engine_load(kept->prepared, &timing, error));
}

static void check_kept(const struct kept *kept)
{
    static const struct device_request all = {.segments = NULL};
    struct partial partial = {0};
    struct run_timing timing = {0};
    struct rowset rows;
    must(engine_run(kept->prepared, &all, &partial, &timing, error));
    must(answer_rows(kept->plan, &partial, 1, &rows, error));
    partial_free(&partial);
    char *const text = rowset_csv(&rows);
    rowset_free(&rows);
    assert_string_equal(text, kept->right);
    free(text);
}

/* All are loaded before the first one runs, and then they run by turns: those of one kind have one module, in which each must
 * find its arguments. */
static void check_lending(const char *device)
{
    struct engine *cpu, *gpu;
    struct kept kept[KEPT];
    char sql[2048];
    make_database(3000);
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device, .kernel = KERNEL_GENERAL}, &gpu, error));
    const uint64_t before = loads();
    for (uint32_t k = 0; k < KEPT; k++) {
        write_kept(k, sql);
        keep(cpu, gpu, sql, &kept[k]);
    }
    for (uint32_t i = 0; i < 10 * KEPT; i++)
        check_kept(&kept[i < KEPT ? i : below(KEPT)]);
    if (before)
        assert_true(loads() - before <= 3);
    for (uint32_t k = 0; k < KEPT; k++) {
        engine_release(kept[k].prepared);
        sql_statement_free(kept[k].statement);
        free(kept[k].right);
    }
    engine_close(gpu);
    engine_close(cpu);
    free_database();
}

static void kept_statements_lend_their_modules(void **state)
{
    (void)state;
    check_on_a_gpu(check_lending);
}

/* ---- Tiers ---- */

static void check_tiers(const char *device)
{
    /* Its columns are loaded, and its kernel is compiled, before the other's compilation begins. */
    static const char
        warm[] = "select note, max(number + flag) from sales group by note",
        sql[] = "select note, sum(number * 17 + flag), count(*) from sales group by note order by 1";
    struct engine *engine;
    struct sql_statement *statement;
    char *first = NULL;
    size_t used, runs = 0;
    struct run_timing timing = {0};
    if (getenv("TESSERA_LIBCUDA")) {
        print_message("the emulated GPU has no kernels of statements\n");
        return;
    }
    make_database(3000);
    setenv("TESSERA_KERNEL_CACHE", "", 1);
    must(engine_open(&(struct engine_options){.device = device}, &engine, error));
    must(sql_prepare(engine, database, warm, strlen(warm), NULL, &statement, &used, error));
    must(sql_measure(statement, &timing, error));
    sql_statement_free(statement);
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    do {
        struct rowset rows;
        must(sql_run(statement, &rows, &timing, error));
        char *const text = rowset_csv(&rows);
        rowset_free(&rows);
        if (!first) {
            first = strdup(text);
            assert_int_equal(timing.kernel, KERNEL_GENERAL);
        }
        assert_string_equal(text, first);
        free(text);
        usleep(10000);
    } while (timing.kernel == KERNEL_GENERAL && ++runs < 3000);
    assert_int_equal(timing.kernel, KERNEL_SPECIALISED);
    free(first);
    sql_statement_free(statement);
    engine_close(engine);
    free_database();
}

static void a_statement_gets_its_own_kernel(void **state)
{
    (void)state;
    check_on_a_gpu(check_tiers);
}

int main(void)
{
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver's own cache of what NVRTC compiles */
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_covered_is_told),
                                       cmocka_unit_test(the_general_kernel_answers_as_the_cpu),
                                       cmocka_unit_test(columns_that_the_host_alone_reads),
                                       cmocka_unit_test(keys_with_planes_apart),
                                       cmocka_unit_test(kept_statements_lend_their_modules),
                                       cmocka_unit_test(a_statement_gets_its_own_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
