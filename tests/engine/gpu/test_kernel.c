/*
 * test_kernel.c: statements become GPU kernels that compile for every architecture, without a GPU: the 13 SSB
 * queries in SQL, every operation of expressions, every kind of aggregate and of answer. What they answer is for
 * test_cuda_sql.c. Skipped where NVRTC is not installed, unless TESSERA_REQUIRE_NVRTC is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/data/load.h"
#include "ssb/queries/queries.h"
#include "storage/base/memory.h"
#include "tests/support/sql/star_plan.h"
#include "tests/support/sql/sql_star.h"
#include "engine/gpu/index.h"
#include "engine/gpu/stage.h"
#include "tests/support/gpu/query_compile.h"

static const char *const statements[] = {
    "select count(*) from sales",
    "explain analyze select shop, count(*), sum(paid), min(pieces), max(at), avg(paid) from sales where "
    "pieces > 0 "
    "and online group by shop",
    "select sum(big), sum(big - 1), count(distinct big), count(distinct note) from sales",
    "select note, count(distinct product), count(big) from sales group by note",
    "select at, note, sum(pieces), count(distinct paid) from sales group by at, note",
    "select big, at, sum(pieces), count(distinct paid), avg(big) from sales group by big, at, note",
    "select pieces, count(distinct big) from sales group by pieces",
    "select shop, at, paid from sales where note like '%a%' or note is null or paid < 3.5",
    "select shop from sales where pieces / 2 = 1 or pieces % 3 = 1 or -pieces = 2",
    "select extract(year from day), extract(month from at), sum(case when online then paid else 0 end) from "
    "sales "
    "group by extract(year from day), extract(month from at)",
    "select count(*) from sales where day + interval '1' month > date '2024-03-01' and at > timestamp "
    "'2024-01-01 "
    "00:00:00' and upper(note) in ('PLAIN', 'MIXED', 'A_B') and pieces in (1, 3, 10, 12)",
    "select g.kind, count(*) from sales left join products g on g.id = gift and g.kind = 'tea' group by "
    "g.kind",
    "select r.label, p.kind, sum(paid) from sales join shops s on s.name = shop join regions r on r.id = "
    "s.region "
    "join products p on p.id = product where p.since > date '1999-01-01' group by r.label, p.kind",
    "select count(*) from sales where not (pieces > 1 and paid > 1.00) or (online and pieces is not null)",
    "select cast(at as date), count(*) from sales group by cast(at as date)",
    "select count(*) from sales where paid / 3 > 1.5",
    "explain analyze select sum(paid) from sales where pieces not in (1, 3, 10, 12) and paid < 2.00 and "
    "product = 3 and "
    "pieces > 0 and pieces + 1 < 11",
    "select shop, sum(pieces) from sales where pieces in (1, 3, 10, 12) and day in (date '2024-01-01', date "
    "'2024-01-03') "
    "group by shop",
    "select count(*) from sales where paid / 3 in (0.5, 1, 0, 4e0) or big % -1 = 1 or big / 3 = 1 or pieces "
    "% -1 = 1",
    "select count(*) from sales where big not in (-9223372036854775808, 7, 9000000000000000000, null, "
    "pieces)",
    "select abs(abs(abs(abs(pieces)))), count(*) from sales where abs(abs(abs(abs(big % 1000)))) > 1 group "
    "by 1",
    "select count(*) from sales where pieces > ?",
    "select people, count(*) from visits group by people having count(*) > 0",
    "select kind, count(*) from products where since > date '1999-01-01' group by kind",
    "select round(paid), greatest(pieces, 2), sign(paid), count(*) from sales where sqrt(pieces) > 1 and "
    "power(paid, "
    "2) < 9 and exp(pieces) > 1 and log10(paid) < 2 and log2(paid) < 4 and ln(paid) > -3 and round(paid / 3, "
    "2) > "
    "0.3 and floor(paid / 2) < ceil(paid / 2) and trunc(paid / 2) < 100 group by 1, 2, 3",
    "select date_trunc('month', day), date_trunc('hour', at), cast(paid / 3 as decimal(8,2)), cast(paid / 3 "
    "as "
    "integer), make_date(pieces, 1, 1), count(*) from sales where extract(isoyear from at) > 2000 and "
    "week(day) < 9 "
    "and isodow(day) < 6 and last_day(day) > day and date_diff('hour', at, day) < 9 group by 1, 2, 3, 4, 5",
    "select shop || '-' || note, strftime(day, '%Y-%m'), cast(pieces as varchar), count(*) from sales where "
    "note ~ "
    "'^[a-z]' and note ilike 'p%' and online is not true and pieces is distinct from 3 and try_cast(note as "
    "double) "
    "is null group by 1, 2, 3",
    "select pieces & 3, pieces | 8, bit_count(big), count(*) from sales where xor(pieces, big) > 0 and "
    "~pieces < 9 "
    "and big >> 3 > 0 and pieces << 40 > 9 and gcd(pieces, 12) > 1 and lcm(pieces, 4) < 99 and hash(pieces, "
    "shop, "
    "paid) % 2 = 0 and sin(paid) < 2 and cos(paid) < 2 and tan(paid) < 9 and asin(paid / 20e0) < 2 and "
    "acos(paid / "
    "20e0) < 4 and atan(paid) < 2 and atan2(paid, pieces) < 4 and cbrt(paid) < 3 and degrees(paid) < 1000 "
    "and "
    "radians(paid) < 9 and log(2, paid) < 9 group by 1, 2, 3",
    "select century(at), concat_ws('-', shop, note), translate(note, 'a', 'b'), ascii(shop), count(*) from "
    "sales "
    "where initcap(note) <> 'X' and levenshtein(shop, 'tea') < 9 and hash(paid / 3) > 9 and hash(day) > 9 "
    "and "
    "hash(at, online) > 9 and yearweek(day) > 9 and millisecond(at) > 9 and epoch_ms(at) > 9 and "
    "to_timestamp(pieces) "
    "< at group by 1, 2, 3, 4",
    "select shop, big from sales where pieces > 0 order by big desc nulls last, at limit 10",
    "select shop from sales order by paid * pieces, shop limit 3 offset 4",
    "select pieces from sales where note like '%a%' order by note nulls first, paid desc limit 70",
    "select shop from sales left join products g on g.id = gift and g.kind = 'tea' join products p on p.id = "
    "product where pieces > 0 order by g.kind, p.since desc, big, shop, at limit 9",
    "select shop, approx_count_distinct(note), approx_count_distinct(paid / 3.0) from sales group by shop",
    "select shop, bit_and(pieces), bit_or(big), bit_xor(pieces * 3) from sales group by shop",
    "select bit_and(pieces), bit_or(big), bit_xor(pieces) from sales",
    "select product, big, bit_and(pieces), bit_or(big), bit_xor(pieces) from sales group by product, big, at",
    "select approx_quantile(big, 0.5), approx_quantile(paid / 3.0, 0.9), approx_count_distinct(at) from "
    "sales",
};
#define STATEMENTS (sizeof statements / sizeof *statements)

struct compilation {
    struct database *database;
    const char *sql, *codec;
    const struct compile_target *gpu;
};

static enum status compile(void *context, uint64_t item, unsigned thread, struct error *why)
{
    const struct compilation *compilation = (const struct compilation *)context + item;
    (void)thread;
    return compile_statement(compilation->database, compilation->sql, NULL, 0, compilation->codec,
                             compilation->gpu, why);
}

/* Encodings that are missing are made by one thread: a writer at a time. */
static void bind_first(struct database *database, const char *sql, const char *codec)
{
    struct plan *plan;
    enum sql_explain explain;
    must(plan_statement(database, sql, codec, &plan, &explain, error));
    plan_free(plan);
}

static void every_statement_compiles(void **state)
{
    (void)state;
    need_compile_targets();
    struct compilation compilations[STATEMENTS + COMPILE_TARGETS_MAX];
    size_t count = 0;
    for (size_t s = 0; s < STATEMENTS; s++) {
        bind_first(star_database, statements[s], NULL);
        compilations[count++] = (struct compilation){star_database, statements[s], NULL,
                                                     compile_targets[s % compile_target_count]};
    }
    for (size_t g = 0; g < compile_target_count; g++)
        compilations[count++] = (struct compilation){star_database, statements[4], NULL, compile_targets[g]};
    must(parallel_for(0, count, compile, compilations, error));
}

static void every_codec_compiles(void **state)
{
    (void)state;
    need_compile_targets();
    static const char sql[] =
        "select shop, p.kind, sum(paid), count(big) from sales join products p on p.id = product "
        "where pieces > 0 and p.kind = 'tea' and note like '%a%' group by shop, p.kind";
    struct compilation compilations[CODEC_COUNT];
    uint32_t count = 0;
    for (uint32_t c = 0; c < CODEC_COUNT; c++) {
        const char *const name = c ? codec_by_id(c)->name : NULL;
        if (c && codec_needs_levels(codec_by_id(c)))
            continue;
        bind_first(star_database, sql, name);
        compilations[count++] = (struct compilation){star_database, sql, name, compile_sm_90};
    }
    must(parallel_for(0, count, compile, compilations, error));
}

/* 64-bit columns are no exception. */
static void columns_are_read_in_the_codec_that_is_asked_for(void **state)
{
    (void)state;
    static const char sql[] = "select sum(pieces), sum(big) from sales";
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        struct plan *plan;
        bool wide = false;
        if (codec_needs_levels(codec_by_id(id)))
            continue;
        must(star_plan(star_database, sql,
                       &(struct sql_options){.codec = codec_by_id(id)->name, .threads = 1}, &plan, error));
        for (uint32_t c = 0; c < plan->column_count; c++) {
            assert_string_equal(plan->columns[c].data->codec->name, codec_by_id(id)->name);
            wide |= plan->columns[c].column->value_bytes == 8;
        }
        assert_true(wide);
        plan_free(plan);
    }
}

/* Rows are listed if a list takes a quarter of the memory for statements at most. */
static void check_list_has_room(const struct plan *plan, const struct kernel_target *target, bool used)
{
    struct kernel_target less = *target;
    struct kernel kernel;
    for (uint32_t missing = 0; missing < 2; missing++) {
        less.memory_bytes = plan->scan.kept_rows * 2 * sizeof(uint64_t) * 4 - missing;
        must(kernel_make(plan, false, &less, &kernel, error));
        assert_int_equal(kernel.list.used, used && !missing);
        kernel_free(&kernel);
    }
}

/* Rows whose groups a cache has no room for are listed, where there is a sort; of slots in global memory states share words. */
static void many_groups_are_listed_or_share_words(void **state)
{
    (void)state;
    need_compile_targets();
    static const struct {
        const char *sql, *listed, *joint;
    } cases[] = {
        {"select pieces * 1000003, sum(pieces), min(pieces), count(paid), bit_xor(pieces) from sales group "
         "by 1",
         "list_groups(", NULL},
        {"select pieces * 1000003, at, count(*) from sales group by 1, 2", NULL, NULL}, /* two words */
        {"select big % 2000, count(*), count(pieces), min(pieces), max(at) from sales group by 1", NULL,
         "joint_add(0, slot, ((uint64_t)1) << 0 | ("},
        {"select big % 2000, max(pieces), min(pieces), sum(paid) from sales group by 1", NULL,
         "joint_raise(0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t t = 0; t < compile_target_count; t++) {
            struct plan *plan;
            struct kernel kernel;
            enum sql_explain explain;
            must(plan_statement(star_database, cases[i].sql, NULL, &plan, &explain, error));
            must(kernel_make(plan, false, &compile_targets[t]->target, &kernel, error));
            assert_int_equal(kernel.list.used, cases[i].listed && compile_targets[t]->target.sorts);
            check_list_has_room(plan, &compile_targets[t]->target, kernel.list.used);
            assert_true(!kernel.list.used || strstr(kernel.source, cases[i].listed));
            assert_int_equal(kernel.joint.used, cases[i].joint != NULL);
            assert_true(!cases[i].joint || strstr(kernel.source, cases[i].joint));
            must(compile_source("groups", kernel.source, compile_targets[t]->arch, NULL, error));
            kernel_free(&kernel);
            plan_free(plan);
        }
}

/* Decoded first: the scan knows of plain values only, and another source has the decoders. */
static void staged_statements_compile(void **state)
{
    (void)state;
    need_compile_targets();
    static const char sql[] = "select shop, sum(paid), sum(big) from sales where pieces > 0 group by shop";
    struct plan *plan;
    struct kernel kernel;
    struct cuda_stage stage = {0};
    must(star_plan(star_database, sql, &(struct sql_options){.codec = "gpu-dfor,paid=plain", .threads = 1},
                   &plan, error));
    plan->staged = true;
    must(kernel_make(plan, false, &compile_sm_90->target, &kernel, error));
    must(cuda_stage_write(plan, &kernel, &stage, error));
    assert_int_equal(stage.count, kernel.shape.column_count - 1);
    assert_null(strstr(kernel.source, "gpu_dfor"));
    assert_non_null(strstr(stage.source, "decode_gpu_dfor<int64_t>"));
    assert_null(strstr(stage.source, "plain"));
    assert_int_equal(plan_staged_bytes(plan, 0, 0) % (TILE_ROWS * sizeof(int32_t)), 0);
    must(compile_source("a staged scan", kernel.source, compile_sm_90->arch, NULL, error));
    must(compile_source("stages", stage.source, compile_sm_90->arch, NULL, error));
    cuda_stage_free(NULL, &stage);
    kernel_free(&kernel);
    plan_free(plan);
}

/* Without being asked for; on a CPU only codecs of blocks, because it decodes the tiles of others inline. */
static void codecs_that_no_kernel_decodes_are_staged(void **state)
{
    (void)state;
    need_compile_targets();
    static const char sql[] = "select shop, sum(paid), sum(big) from sales where pieces > 0 group by shop";
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        struct plan *plan;
        struct kernel kernel;
        struct cuda_stage stage = {0};
        enum sql_explain explain;
        if (!codec_is_staged(codec, true) || !codec->holds_int64)
            continue;
        must(plan_statement(star_database, sql, codec->name, &plan, &explain, error));
        assert_true(plan_stages_any(plan, true) && plan_staged_reads(plan, true) > 0);
        assert_int_equal(plan_stages_any(plan, false), codec->decode_block != NULL);
        assert_int_equal(plan_staged_reads(plan, false) > 0, codec->decode_block != NULL);
        must(kernel_make(plan, false, &compile_sm_90->target, &kernel, error));
        must(cuda_stage_write(plan, &kernel, &stage, error));
        assert_int_equal(stage.count, kernel.shape.column_count);
        assert_null(strstr(kernel.source, codec->gpu.decoder));
        assert_non_null(strstr(stage.source, codec->gpu.decoder));
        must(compile_source("passes", stage.source, compile_sm_90->arch, NULL, error));
        cuda_stage_free(NULL, &stage);
        kernel_free(&kernel);
        plan_free(plan);
    }
}

/* As it runs. */
static void the_benchmark_compiles(void **state)
{
    (void)state;
    need_compile_targets();
    char path[PATH_BYTES];
    directory_make(path);
    const struct ssb_load_options options = {.data = {.scale_factor = 0.01}, .directory = path};
    struct compilation compilations[SSB_QUERIES];
    struct database *database;
    must(ssb_load(&options, NULL, error));
    must(database_open(path, &database, error));
    for (size_t q = 0; q < SSB_QUERIES; q++)
        compilations[q] = (struct compilation){database, ssb_queries[q]->sql, NULL,
                                               compile_targets[q % compile_target_count]};
    compile_optimised = true;
    must(parallel_for(0, SSB_QUERIES, compile, compilations, error));
    compile_optimised = false;
    database_close(database);
    directory_remove(path);
}

/* As if indexes kept every twentieth row of a plan. */
static void add_index_step(struct plan *plan)
{
    must(memory_grow(&plan->steps, (plan->step_count + 1) * sizeof *plan->steps, "a plan", error));
    memmove(plan->steps + 1, plan->steps, plan->step_count * sizeof *plan->steps);
    plan->steps[0] = (struct plan_step){.kind = STEP_INDEX, .share = 0.05};
    plan->step_count++;
}

static void scans_begin_with_the_mask_of_indexes(void **state)
{
    (void)state;
    need_compile_targets();
    static const struct {
        const char *sql;
        bool leaves; /* tiles that the mask leaves without rows */
    } cases[] = {{"select count(*) from sales", true},
                 {"select shop from sales where pieces > 0", false},
                 {"select shop, p.kind, sum(paid) from sales join products p on p.id = product "
                  "where pieces > 0 and p.kind = 'tea' and note like '%a%' group by shop, p.kind",
                  true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan *plan;
        struct kernel kernel;
        enum sql_explain explain;
        must(plan_statement(star_database, cases[i].sql, NULL, &plan, &explain, error));
        add_index_step(plan);
        must(kernel_make(plan, false, &compile_sm_90->target, &kernel, error));
        assert_non_null(strstr(kernel.source, "keep &= index_mask(t)"));
        assert_int_equal(strstr(kernel.source, "TILE_BEFORE") != NULL, cases[i].leaves);
        for (uint32_t c = 0; c < kernel.shape.column_count; c++) /* 51 rows of a tile are read one by one */
            assert_false(kernel.layout.preload[c]);
        kernel_free(&kernel);
        for (size_t t = 0; t < compile_target_count; t++)
            must(compile_plan(plan, true, compile_targets[t], cases[i].sql, error));
        plan_free(plan);
    }
}

static void kernels_of_masks_compile(void **state)
{
    (void)state;
    need_compile_targets();
    for (size_t t = 0; t < compile_target_count; t++)
        must(compile_source("masks", cuda_index_source, compile_targets[t]->arch, NULL, error));
}

/* Numbers of a statement are not in its kernels: others take the same from the cache. */
static void numbers_are_no_part_of_the_source(void **state)
{
    (void)state;
    static const char *const like[] = {
        "select shop, sum(paid * 2) from sales where pieces between 1 and 3 or paid > 7 "
        "group by shop",
        "select shop, sum(paid * 3) from sales where pieces between 0 and 2 or paid > 5 "
        "group by shop"};
    struct kernel kernels[2];
    for (size_t i = 0; i < 2; i++) {
        struct plan *plan;
        enum sql_explain explain;
        must(plan_statement(star_database, like[i], NULL, &plan, &explain, error));
        must(kernel_make(plan, false, &compile_sm_90->target, &kernels[i], error));
        plan_free(plan);
    }
    assert_string_equal(kernels[0].source, kernels[1].source);
    kernel_free(&kernels[0]);
    kernel_free(&kernels[1]);
}

/* ---- Columns whose decoders have no room in a block's shared memory ---- */

static uint32_t crowded(const struct plan *plan)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < plan->column_count; c++)
        count += plan->columns[c].crowded;
    return count;
}

static struct plan *plan_of(const char *sql, const char *codec)
{
    struct plan *plan;
    enum sql_explain explain;
    must(plan_statement(star_database, sql, codec, &plan, &explain, error));
    return plan;
}

/* A GPU whose blocks have `bytes`, fitted anew. */
static void fit(struct plan *plan, uint64_t bytes)
{
    struct kernel_target target = compile_sm_90->target;
    target.shared_block = bytes;
    for (uint32_t c = 0; c < plan->column_count; c++)
        plan->columns[c].crowded = false;
    must(kernel_fit(plan, &target, error));
}

static enum status make_for(const struct plan *plan, uint64_t bytes, struct kernel *kernel, struct error *why)
{
    struct kernel_target target = compile_sm_90->target;
    target.shared_block = bytes;
    return kernel_make(plan, false, &target, kernel, why);
}

static const char many_columns[] =
    "select shop, pieces, sum(paid), sum(big), max(at), min(day), count(distinct note) from sales "
    "where pieces > 0 group by shop, pieces";

/* Whether each column that is marked is needed: without it the kernel does not fit. */
static bool is_least(struct plan *plan, uint64_t bytes)
{
    bool least = true;
    for (uint32_t c = 0; c < plan->column_count; c++) {
        struct kernel kernel;
        if (!plan->columns[c].crowded)
            continue;
        plan->columns[c].crowded = false;
        if (make_for(plan, bytes, &kernel, NULL) == STATUS_OK) {
            kernel_free(&kernel);
            least = false;
        }
        plan->columns[c].crowded = true;
    }
    return least;
}

/* However little a block has, the statement gets a kernel that fits it; no column more than that needs is decoded first. */
static void every_statement_fits_every_block(void **state)
{
    (void)state;
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        if (codec_needs_levels(codec_by_id(id)))
            continue;
        struct plan *plan = plan_of(many_columns, codec_by_id(id)->name);
        for (uint64_t bytes = UINT64_C(1) << 20;; bytes = bytes > 1000 ? bytes * 3 / 4 : 0) {
            struct kernel kernel;
            struct error why = {0};
            fit(plan, bytes);
            assert_true(bytes < UINT64_C(1) << 20 || crowded(plan) == 0);
            assert_true(is_least(plan, bytes));
            if (make_for(plan, bytes, &kernel, &why) != STATUS_OK)
                fail_msg("%s, %llu bytes: %s", codec_by_id(id)->name, (unsigned long long)bytes, why.text);
            assert_true(kernel.layout.shared_bytes <= bytes);
            kernel_free(&kernel);
            if (bytes == 0)
                break;
        }
        const bool decoded = codec_by_id(id)->gpu.random_access || codec_is_staged(codec_by_id(id), true);
        assert_true(decoded || crowded(plan) > 0); /* of a block that has nothing */
        plan_free(plan);
    }
}

/* Those that are, are plain values to the scan, and another source has their decoders; the rest is decoded inline. */
static void columns_without_room_are_decoded_before_the_scan(void **state)
{
    (void)state;
    need_compile_targets();
    struct plan *plan = plan_of(many_columns, "pfor-diff");
    struct cuda_stage stage = {0};
    struct kernel kernel;
    struct error why = {0};
    must(make_for(plan, UINT64_C(1) << 20, &kernel, error));
    const uint64_t half = kernel_layout_least(&kernel.shape) / 2;
    kernel_free(&kernel);
    assert_int_equal(make_for(plan, half, &kernel, &why), STATUS_MACHINE);
    fit(plan, half);
    assert_in_range(crowded(plan), 1, plan->column_count - 1);
    must(make_for(plan, half, &kernel, error));
    must(cuda_stage_write(plan, &kernel, &stage, error));
    assert_int_equal(stage.count, crowded(plan));
    assert_true(plan_stages_any(plan, true) && !plan_stages_any(plan, false));
    assert_non_null(strstr(kernel.source, "decode_pfor_diff"));
    assert_non_null(strstr(kernel.source, "decode_plain"));
    assert_non_null(strstr(stage.source, "decode_pfor_diff"));
    must(compile_source("a scan", kernel.source, compile_sm_90->arch, NULL, error));
    must(compile_source("stages", stage.source, compile_sm_90->arch, NULL, error));
    cuda_stage_free(NULL, &stage);
    kernel_free(&kernel);
    plan_free(plan);
}

/* The first to go is the one that costs least for what it frees: of two that free enough, the narrow one; the wide one if
 * that alone does not. */
static void columns_are_decoded_first_in_the_order_of_their_costs(void **state)
{
    (void)state;
    struct plan *plan = plan_of("select sum(pieces), sum(big) from sales", "pfor-diff");
    const uint32_t narrow = plan->columns[0].column->value_bytes == 4 ? 0 : 1, wide = 1 - narrow;
    struct kernel kernel;
    must(make_for(plan, UINT64_C(1) << 20, &kernel, error));
    const uint64_t enough = kernel_layout_least(&kernel.shape);
    kernel_free(&kernel);
    assert_true(plan->columns[narrow].column->value_bytes == 4 &&
                plan->columns[wide].column->value_bytes == 8);
    fit(plan, enough);
    assert_int_equal(crowded(plan), 0);
    fit(plan, enough - 1);
    assert_true(plan->columns[narrow].crowded && !plan->columns[wide].crowded);
    fit(plan, enough - WORK_TILES * TILE_ROWS * 8);
    assert_true(plan->columns[wide].crowded && !plan->columns[narrow].crowded);
    fit(plan, 0);
    assert_int_equal(crowded(plan), 2);
    plan_free(plan);
}

/* Sums of groups that a block has no room for are in global memory: they are no reason to decode a column first. */
static void sums_without_room_are_in_global_memory(void **state)
{
    (void)state;
    struct plan *plan = plan_of("select shop, pieces, sum(paid) from sales group by shop, pieces", "plain");
    struct kernel kernel;
    must(make_for(plan, UINT64_C(1) << 20, &kernel, error));
    assert_int_equal(kernel.place, STATES_SHARED);
    kernel_free(&kernel);
    must(make_for(plan, 0, &kernel, error));
    assert_int_equal(kernel.place, STATES_GLOBAL);
    kernel_free(&kernel);
    plan_free(plan);
}

/* The kernel finds the first of an order also where ORDER BY's columns have no room, and the kernel that counts fits. */
static void an_order_whose_columns_have_no_room_is_found_by_the_kernel(void **state)
{
    (void)state;
    struct plan *plan =
        plan_of("select shop from sales where pieces > 0 order by paid desc, big limit 3", "gpu-dfor");
    assert_int_equal(plan->first.term_count, 2);
    for (uint64_t bytes = compile_sm_90->target.shared_block; bytes > 1000; bytes = bytes * 3 / 4) {
        struct kernel_target target = compile_sm_90->target;
        struct kernel kernel;
        fit(plan, bytes);
        target.shared_block = bytes;
        must(kernel_make(plan, false, &target, &kernel, error));
        assert_true(kernel.first && strstr(kernel.source, "q->sums.first.take"));
        kernel_free(&kernel);
        must(kernel_make(plan, true, &target, &kernel, error));
        kernel_free(&kernel);
    }
    assert_int_equal(crowded(plan), 2); /* the filter's column needs no shared memory in this codec */
    plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_compiles),
        cmocka_unit_test(every_codec_compiles),
        cmocka_unit_test(columns_are_read_in_the_codec_that_is_asked_for),
        cmocka_unit_test(many_groups_are_listed_or_share_words),
        cmocka_unit_test(staged_statements_compile),
        cmocka_unit_test(codecs_that_no_kernel_decodes_are_staged),
        cmocka_unit_test(the_benchmark_compiles),
        cmocka_unit_test(scans_begin_with_the_mask_of_indexes),
        cmocka_unit_test(kernels_of_masks_compile),
        cmocka_unit_test(every_statement_fits_every_block),
        cmocka_unit_test(columns_without_room_are_decoded_before_the_scan),
        cmocka_unit_test(columns_are_decoded_first_in_the_order_of_their_costs),
        cmocka_unit_test(sums_without_room_are_in_global_memory),
        cmocka_unit_test(an_order_whose_columns_have_no_room_is_found_by_the_kernel),
        cmocka_unit_test(numbers_are_no_part_of_the_source)};
    return cmocka_run_group_tests(tests, star_open, star_close);
}
