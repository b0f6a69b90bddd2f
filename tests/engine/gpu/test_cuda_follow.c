/*
 * test_cuda_follow.c: an engine that stays open while its database is changed (engine_follow). After each kind of change it
 * answers as a CPU does that sees the new state only, and segments whose files are the same stay in the GPU's memory. Runs
 * on the emulated GPU, and on real ones.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/run_internal.h"
#include "engine/run/engine_internal.h"
#include "tests/support/not_run.h"
#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"
#include "tests/support/sql/sql_answer.h"

static struct engine *gpu, *cpu;
static struct database *database;
static struct program_run run;

static int open_engines(void **state)
{
    struct error why = {0};
    (void)state;
    if (engine_open(&(struct engine_options){.device = "cuda", .threads = 2, .kernel = KERNEL_GENERAL}, &gpu,
                    &why) != STATUS_OK)
        return getenv("TESSERA_REQUIRE_GPU") ? 1 : 0;
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    return 0;
}

static int close_engines(void **state)
{
    (void)state;
    engine_close(gpu);
    engine_close(cpu);
    return 0;
}

static void change(const char *format, const char *sql)
{
    char shell[4096];
    snprintf(shell, sizeof shell, format, sql);
    run_shell(shell, &run);
    if (run.exit_code)
        fail_msg("%s: %s", shell, run.errors);
}

static const struct column *column(const char *name)
{
    const struct table *table;
    must(database_table(database, "sales", &table, error));
    for (uint32_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].schema.name, name) == 0)
            return &table->columns[c];
    fail_msg("no column %s", name);
    return NULL;
}

/* How many segments of the column the GPU keeps. */
static uint32_t kept(const char *name)
{
    struct cuda_columns *const columns = gpu->members[0].device->columns;
    struct cuda_wish wish = {0};
    struct column_data *data;
    uint32_t count = 0;
    const struct column *const of = column(name);
    must(column_data_open(database, of, of->own, 1, &data, error));
    wish.data = data;
    cuda_columns_lock(columns);
    must(cuda_columns_open(columns, &wish, 1, &(struct device_share){0}, error));
    for (uint32_t s = 0; s < data->segment_count; s++)
        count += wish.column->segments[s] != CHUNK_ELSEWHERE;
    cuda_columns_unlock(columns);
    cuda_columns_close(columns, &wish, 1);
    return count;
}

static uint32_t segments(void)
{
    return column("pieces")->table->segment_count;
}

static void answers_agree(void)
{
    static const char *const asked[] = {
        "select count(*), count(paid), sum(pieces), sum(paid), min(paid), max(pieces) from sales",
        "select s.city, count(*), sum(paid) from sales, shop s where shop = s.id group by s.city order by 1",
        "select pieces, count(*), sum(paid) from sales where paid > 200 group by pieces order by 1"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char *const expected = sql_answer(cpu, database, asked[i]), *const got =
                                                                        sql_answer(gpu, database, asked[i]);
        assert_string_equal(got, expected);
        free(got);
        free(expected);
    }
}

/* Opens what has become of the database, and lets the GPU follow. */
static void follow(void)
{
    struct database *now;
    must(database_open(path, &now, error));
    engine_follow(gpu, database, now);
    database_close(database);
    database = now;
}

#define SQL "$T sql --device cpu --db $D \"%s\""

static void an_engine_follows_its_database(void **state)
{
    (void)state;
    need_gpu(gpu);
    change(
        "rm -rf $D $D.csv; mkdir $D.csv; cd $D.csv; (echo id,city; for i in $(seq 9); do echo $i,city$((i %% "
        "4)); done) >shop.csv; seq 0 2999 | awk 'BEGIN { print \"shop,pieces,paid\" } { print $1 %% 9 + 1 "
        "\",\" $1 %% 7 \",\" ($1 %% 11 ? $1 * 37 %% 1000 : \"\") }' >sales.csv; echo '%s' >s.sql; $T load "
        "--db $D --schema s.sql shop=shop.csv sales=sales.csv",
        "CREATE TABLE shop (id INTEGER PRIMARY KEY, city TEXT); CREATE TABLE sales (shop INTEGER REFERENCES "
        "shop, pieces INTEGER, paid INTEGER);");
    must(database_open(path, &database, error));
    assert_int_equal(kept("paid"), 0);
    answers_agree();
    const uint32_t first = segments();
    assert_int_equal(kept("paid"), first);

    change(SQL, "insert into sales select shop, pieces + 1, paid from sales where pieces < 3");
    follow();
    assert_int_equal(segments(), first + 1);
    assert_int_equal(kept("paid"), first); /* the rows that came were not uploaded yet */
    assert_int_equal(kept("pieces"), first);
    answers_agree();
    assert_int_equal(kept("paid"), first + 1);

    change(SQL,
           "insert into shop values (10, 'Rome'); insert into sales values (10, 100, 5000), (10, 7, null)");
    follow();
    assert_int_equal(kept("paid"), first + 1);
    answers_agree();

    change(SQL, "delete from sales where pieces = 4");
    follow();
    answers_agree();
    change(SQL, "delete from sales where shop = 10");
    follow();
    answers_agree();
    follow(); /* nothing has changed */
    assert_int_equal(kept("paid"), segments());
    answers_agree();

    change("$T compact --db $D %s", "sales");
    follow();
    answers_agree();

    /* other data under the same names, whose files have the same names, too */
    change("rm -rf $D; cd $D.csv; sed -i 's/,[1-4],/,5,/' sales.csv; $T load --db $D --schema s.sql "
           "shop=shop.csv "
           "sales=sales.csv%s; rm -rf $D.csv",
           "");
    follow();
    assert_int_equal(kept("pieces"), 0);
    answers_agree();
    database_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_engine_follows_its_database, setup, teardown),
    };
    return cmocka_run_group_tests(tests, open_engines, close_engines);
}
