/*
 * test_cuda_ranges.c: statements over clustered rows on a GPU whose memory the columns do not fit: it keeps ranges of tiles, or
 * streams them. Answers are those of a CPU, and what is copied to the GPU is no more than the tiles need. Runs on the emulated
 * GPU, which counts bytes, and on real ones.
 *
 * The table has three segments of 30,000 rows in 15 cells of two tiles, which each segment has.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/memory/columns_internal.h"
#include "engine/gpu/run_internal.h"
#include "engine/run/engine_internal.h"
#include "tests/support/not_run.h"
#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"
#include "tests/support/sql/sql_answer.h"

#include <dlfcn.h>

static struct engine *cpu;
static struct database *database;

static enum status open_gpu(const char *memory, enum late_transfer late, struct engine **gpu,
                            struct error *why)
{
    return engine_open(
        &(struct engine_options){
            .device = "cuda", .threads = 2, .kernel = KERNEL_GENERAL, .gpu_memory = memory, .late = late},
        gpu, why);
}

static int make_database(void **state)
{
    static struct program_run run;
    struct error why = {0};
    struct engine *gpu;
    if (open_gpu(NULL, LATE_AUTO, &gpu, &why) != STATUS_OK)
        return getenv("TESSERA_REQUIRE_GPU") ? 1 : 0;
    engine_close(gpu);
    setup(state);
    run_shell(
        "mkdir $D.csv && cd $D.csv && (echo id,region,city; for i in $(seq 0 89); do echo "
        "$i,region$((i % 5)),city$((i % 30)); done) >shop.csv && for part in 1 2 3; do seq $part 3 90000 | "
        "awk 'BEGIN { print \"shop,kind,number,paid,price,big\" } { print $1 * 7 % 90 \",\" $1 * 5 % 3 \",\" "
        "$1 % 13 \",\" ($1 % 11 ? $1 * 37 % 1000 : \"\") \",\" $1 * 31 % 5000 / 100 \",\" $1 * 4000000007 % "
        "8000000000 }' "
        ">sales$part.csv; done && echo 'CREATE TABLE shop (id INTEGER PRIMARY KEY, region TEXT, city TEXT); "
        "CREATE TABLE sales (shop INTEGER REFERENCES shop, kind INTEGER, number INTEGER, paid INTEGER, price "
        "DECIMAL(10,2), big BIGINT);' >s.sql && rm -rf $D && $T load --db $D --schema s.sql --cluster-by "
        "shop,kind:2 shop=shop.csv sales=sales1.csv && $T load --db $D --append sales=sales2.csv && $T load "
        "--db $D --append sales=sales3.csv && rm -rf $D.csv",
        &run);
    if (run.exit_code)
        fail_msg("%s", run.errors);
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    return 0;
}

static int remove_database(void **state)
{
    if (!cpu)
        return 0;
    engine_close(cpu);
    database_close(database);
    return teardown(state);
}

/* The bytes that were copied to the emulated GPU, of which TESSERA_LIBCUDA is the name; 0: it is a real one. */
static uint64_t copied(void)
{
    void *const library = getenv("TESSERA_LIBCUDA") ? dlopen(getenv("TESSERA_LIBCUDA"), RTLD_NOW) : NULL;
    const uint64_t *const count = library ? dlsym(library, "emulator_copied_bytes") : NULL;
    assert_true(count || !library);
    return count ? *count : 0;
}

static const char *const statements[] = {
    "select count(*), sum(paid), sum(price), min(big), max(big), count(paid) from sales where kind = 2",
    "select s.city, count(*), sum(paid), max(big) from sales, shop s where shop = s.id and s.region = "
    "'region2' and kind >= 1 group by s.city order by 1",
    "select number, sum(price), sum(number) from sales, shop s where shop = s.id and s.city = 'city7' group "
    "by number order by 1",
    "select number, paid, big, price from sales where kind = 1 and number = 7 and paid > 950 order by big",
    "select big, paid from sales where kind = 0 and paid is null order by big desc limit 7",
    "select paid, count(*) from sales where kind = 0 and number = 3 group by paid order by paid",
};
#define STATEMENTS (sizeof statements / sizeof *statements)

/* Runs it twice: the second time with what the first one has kept. *moved: what the second run moved. */
static char *answer_of(struct engine *engine, const char *text, const char *codec, uint64_t *moved)
{
    struct sql_statement *statement;
    struct run_timing timing = {0};
    struct rowset rows;
    size_t used;
    char *answers[2];
    must(sql_prepare(engine, database, text, strlen(text), codec, &statement, &used, error));
    for (int i = 0; i < 2; i++) {
        must(sql_run(statement, &rows, &timing, error));
        answers[i] = rowset_csv(&rows);
        rowset_free(&rows);
    }
    assert_string_equal(answers[1], answers[0]);
    free(answers[1]);
    sql_statement_free(statement);
    *moved = timing.moved_bytes;
    return answers[0];
}

static void answers_are_the_cpu_s(void **state)
{
    static const char *const codecs[] = {NULL, "lane-delta", "gpu-for"}; /* the last one is not cut */
    static const struct {
        const char *memory;
        enum late_transfer late;
    } cases[] = {{"300K", LATE_AUTO}, {"0", LATE_OFF}};
    (void)state;
    need_gpu(cpu);
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct engine *gpu;
            must(open_gpu(cases[i].memory, cases[i].late, &gpu, error));
            for (size_t s = 0; s < STATEMENTS; s++) {
                uint64_t moved;
                char *const expected = sql_answer(cpu, database, statements[s]), *const got = answer_of(
                                                                                     gpu, statements[s],
                                                                                     codecs[c], &moved);
                if (strcmp(got, expected) != 0)
                    fail_msg("%s, %s, --gpu-memory %s: %s\nand not %s", statements[s],
                             codecs[c] ? codecs[c] : "own", cases[i].memory, got, expected);
                if (strcmp(cases[i].memory, "0") == 0)
                    assert_true(moved > 0);
                free(expected);
                free(got);
            }
            engine_close(gpu);
        }
}

/* The bytes that the GPU keeps of columns: of cuts, or of whole chunks. */
static uint64_t kept(struct engine *gpu, bool cuts)
{
    uint64_t bytes = 0;
    for (struct entry *entry = gpu->members[0].device->columns->entries; entry; entry = entry->next)
        bytes += entry->kind == ENTRY_CHUNKS && cuts == (entry->ranges != NULL) ? entry->column.bytes : 0;
    return bytes;
}

/* kind = 2 leaves a third of the tiles, and five runs in each segment: one of each region. */
static void only_the_tiles_are_copied_and_kept(void **state)
{
    static const char wide[] = "select sum(big), sum(paid) from sales where kind = 2";
    struct engine *gpu;
    uint64_t moved, before;
    (void)state;
    need_gpu(cpu);

    must(open_gpu("2G", LATE_AUTO, &gpu, error)); /* has room for whole columns, which all statements share */
    before = copied();
    free(answer_of(gpu, wide, "plain", &moved));
    const uint64_t whole = kept(gpu, false), whole_copied = copied() - before;
    assert_int_equal(kept(gpu, true), 0);
    assert_int_equal(moved, 0);
    engine_close(gpu);
    assert_true(whole > 90000 * (8 + 4 + 4)); /* big, paid and kind */

    must(open_gpu("800K", LATE_AUTO, &gpu, error));
    before = copied();
    free(answer_of(gpu, wide, "plain", &moved));
    print_message("%.1f MB copied for %.1f MB of cuts; whole columns: %.1f MB for %.1f\n",
                  (double)(copied() - before) / 1e6, (double)kept(gpu, true) / 1e6,
                  (double)whole_copied / 1e6, (double)whole / 1e6);
    assert_int_equal(moved, 0);
    assert_int_equal(kept(gpu, false), 0);
    assert_in_range(kept(gpu, true), whole * 30 / 100, whole * 40 / 100);
    if (copied())
        assert_in_range(copied() - before, kept(gpu, true) - 10000, whole_copied * 40 / 100);

    before = copied();
    free(answer_of(gpu, "select count(*), max(big) from sales where kind = 2", "plain", &moved));
    assert_int_equal(moved, 0); /* the same ranges of the same columns */
    assert_true(copied() - before < 100000);
    engine_close(gpu);
}

/* Statements with other ranges take turns, and make room for each other when they are repeated. */
static void repeated_ranges_take_the_place_of_others(void **state)
{
    static const char *const asked[] = {"select sum(big), sum(paid) from sales where kind = 2",
                                        "select sum(big), sum(paid) from sales where kind = 1",
                                        "select sum(big), sum(price) from sales where kind = 0"};
    struct engine *gpu;
    uint64_t moved = 1;
    (void)state;
    need_gpu(cpu);
    must(open_gpu("800K", LATE_AUTO, &gpu, error));
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *const expected = sql_answer(cpu, database, asked[i]);
        for (int turn = 0; turn < 4; turn++) {
            char *const got = answer_of(gpu, asked[i], "plain", &moved);
            assert_string_equal(got, expected);
            free(got);
            assert_true(kept(gpu, true) < 800u << 10);
        }
        free(expected);
        assert_int_equal(moved, 0);
    }
    assert_int_equal(kept(gpu, false), 0);
    engine_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_cpu_s),
        cmocka_unit_test(only_the_tiles_are_copied_and_kept),
        cmocka_unit_test(repeated_ranges_take_the_place_of_others),
    };
    return cmocka_run_group_tests(tests, make_database, remove_database);
}
