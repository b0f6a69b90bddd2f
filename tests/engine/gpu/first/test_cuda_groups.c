/*
 * test_cuda_groups.c: HAVING, ORDER BY and LIMIT over thousands of groups, of which a GPU gives the host those alone that may
 * be in the answer, or what is added up of them all: hashed groups of one and several words, and dense ones, with ties at the limit, NULL keys and results, sums
 * that leave 64 bits, 0 rows and some; first rows without groups; keys that stand in runs, of which warps merge the rows; groups that a table in the
 * second-level cache has no room for, whose rows are listed and sorted, or are in order as they are; and states that share words.
 * On a GPU, by both kernels, or on the emulated one of tests/emulator: TESSERA_LIBCUDA names it, and TESSERA_NVRTC its
 * compiler, as ctest does. Skipped without either, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/ahead.h"
#include "engine/library/tessera.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/gpu/on_a_gpu.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/not_run.h"

#define ROWS      17003u
#define RUN_ROWS  300007u /* so many that a hash table has a slot for each of a million keys */
#define STEP_ROWS 9001u
#define TILE      1024u

#define SHOPS 2000u

static const char schema[] =
    "CREATE TABLE shops (id INTEGER PRIMARY KEY, kind INTEGER, town INTEGER);"
    "CREATE TABLE events (dense INTEGER, wide BIGINT, part INTEGER, number INTEGER, maybe INTEGER, "
    "paid DECIMAL(18,2), big BIGINT, weight DOUBLE, day DATE, note VARCHAR, place INTEGER, "
    "shop INTEGER REFERENCES shops (id));"
    "CREATE TABLE runs (far INTEGER, near INTEGER, number INTEGER, maybe INTEGER);"
    "CREATE TABLE steps (up INTEGER, mixed INTEGER, number INTEGER, maybe INTEGER);";

static struct database *database;
static char path[PATH_BYTES];

/* Of `dense` there are 9,000 values and NULL, of `wide` some thousand in a range that hash tables have, both mostly with two
 * rows; counts tie, sums of `part` tie often. */
/* Places are from `first_place` on. */
static uint32_t first_place;

static void write_events(FILE *out)
{
    random_state = 20261123;
    for (uint32_t i = 0; i < ROWS; i++) {
        if (below(50))
            fprintf(out, "%u", below(9000));
        fprintf(out, ",%lld,%u,%d,", (long long)below(8000) * 1000003, below(40), (int)below(1000) - 500);
        if (below(3))
            fprintf(out, "%u", below(60));
        fprintf(out, ",%d.%02u,%lld,%u.%u,20%02u-%02u-%02u,note %u,%u,%u\n", (int)below(100000) - 50000,
                below(100), (i % 2 ? 1 : -1) * (long long)below(1u << 30) * 7000000007ll, below(900),
                below(8), 10 + below(10), 1 + below(12), 1 + below(28), below(6000), first_place + i,
                below(SHOPS));
    }
}

/* Shops of a kind have keys that follow each other when they are loaded, so that bits of a key tell of the kind. */
static void write_shops(FILE *out)
{
    for (uint32_t i = 0; i < SHOPS; i++)
        fprintf(out, "%u,%u,%u\n", i, i % 7, i % 700);
}

/* Keys ascend, in runs of 1 to 7 rows and across tiles; some are NULL. Those of `far` are 14 apart. */
static void write_runs(FILE *out)
{
    uint32_t key = 0, left = 0;
    for (uint32_t i = 0; i < RUN_ROWS; i++) {
        if (left == 0) {
            left = 1 + below(7);
            key++;
        }
        left--;
        if (key % 11)
            fprintf(out, "%u", key * 14);
        fprintf(out, ",%u,%d,", key, (int)below(1000) - 300);
        if (below(4))
            fprintf(out, "%u", below(500));
        fputs("\n", out);
    }
}

/* Keys of `up` ascend, far apart, in runs of some rows and one of three tiles; those of `mixed` do from tile to tile alone. */
static void write_steps(FILE *out)
{
    static int32_t up[STEP_ROWS], mixed[STEP_ROWS];
    int32_t key = -5000;
    for (uint32_t i = 0, left = 0; i < STEP_ROWS; i++) {
        if (left == 0) {
            left = key > 60000000 && key < 60090000 ? 3 * TILE : 1 + below(7);
            key += 1 + (int32_t)below(90000);
        }
        left--;
        const uint32_t first = i / TILE * TILE, other = first + below(i - first + 1);
        up[i] = key;
        mixed[i] = mixed[other];
        mixed[other] = key;
    }
    for (uint32_t i = 0; i < STEP_ROWS; i++) {
        fprintf(out, "%d,%d,%d,", up[i], mixed[i], (int)below(1000) - 300);
        if (below(4))
            fprintf(out, "%u", below(500));
        fputs("\n", out);
    }
}

static char files[4][PATH_BYTES + 16];
static const char *const names[] = {"shops", "events", "runs", "steps"};

static void make_database(void)
{
    static void (*const writers[])(FILE * out) = {write_shops, write_events, write_runs, write_steps};
    const char *const paths[] = {files[0], files[1], files[2], files[3]};
    uint64_t loaded;
    struct tessera_error failed;
    directory_make(path);
    for (uint32_t t = 0; t < 4; t++) {
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, names[t]);
        FILE *const out = fopen(files[t], "w");
        assert_non_null(out);
        writers[t](out);
        fclose(out);
    }
    if (tessera_load(path, schema, names, paths, 4, TESSERA_LOAD_NEW, &loaded, &failed))
        fail_msg("%s", failed.text);
    must(database_open(path, &database, error));
}

static const char *const keys[] = {"dense",           "wide", "dense, part", "wide, big, dense", "note",
                                   "day, part, dense"};

/* %s: a condition, and twice the keys. */
static const struct {
    const char *sql;
    bool few; /* no groups but those of the answer, and some, are copied */
} questions[] = {
    {"select %2$s, sum(number) s from events where %1$s group by %2$s order by s desc limit 10", true},
    {"select %2$s, count(*) n from events where %1$s group by %2$s order by n desc, %2$s limit 10 offset 5",
     true},
    {"select %2$s, count(*) n from events where %1$s group by %2$s order by n limit 7", true},
    {"select %2$s, min(maybe) from events where %1$s group by %2$s order by 2 nulls first, %2$s desc limit "
     "20",
     true},
    {"select %2$s, max(maybe) m, min(number) from events where %1$s group by %2$s order by m desc nulls "
     "last, 3, "
     "%2$s limit 20",
     true},
    {"select %2$s, avg(maybe) a, avg(paid) from events where %1$s group by %2$s order by a desc nulls last, "
     "3 limit 9",
     true},
    {"select %2$s, sum(paid) s from events where %1$s group by %2$s having count(*) > 3 and sum(paid) > 1000 "
     "order "
     "by s limit 5",
     true},
    {"select %2$s, count(*), sum(number) from events where %1$s group by %2$s having sum(number) > 1200 "
     "order by 3",
     true},
    {"select %2$s, sum(maybe) from events where %1$s group by %2$s having min(maybe) is null and max(number) "
     "in (3, "
     "70, 400)",
     true},
    {"select %2$s, sum(number) * 2 - min(part) x from events where %1$s group by %2$s order by x desc, %2$s "
     "limit 11",
     true},
    {"select %2$s, sum(number) from events where %1$s group by %2$s limit 12", false},
    {"select %2$s, count(distinct part) c from events where %1$s group by %2$s order by c desc, sum(paid) "
     "limit 6",
     true},
    {"select %2$s, sum(weight) w, bit_or(part) from events where %1$s group by %2$s order by w desc limit 6",
     false},
    {"select %2$s, sum(weight), bit_and(part) from events where %1$s group by %2$s order by max(weight) "
     "desc, 3, 2 "
     "limit 6",
     true},
    {"select distinct %2$s from events where %1$s order by %2$s desc limit 6", true},
    {"select %2$s, sum(big) s from events where %1$s group by %2$s order by sum(number), s limit 10", true},
};

static const char *const conditions[] = {"1 = 1",      "place < 0",    "place = 100",
                                         "place < 31", "place < 1023", "place <= 1025 and part <> 3"};

/* Measures of all values; %s: a condition. */
static const char *const of_values[] = {
    "select part, median(maybe), median(number), quantile_disc(place, 0.3), count(*) from events where %s "
    "group by part order by 1",
    "select count(distinct paid), sum(distinct maybe), avg(distinct number), count(*) from events where %s",
    "select dense, count(distinct maybe), sum(distinct maybe), avg(distinct maybe), median(maybe), count(*) "
    "from "
    "events where %s group by dense order by 1",
    "select wide, median(number), sum(distinct number) from events where %s group by wide order by 2 desc, 1 "
    "limit 20",
    "select part, percentile_cont(0.3) within group (order by number desc), percentile_disc(0.7) within "
    "group "
    "(order by maybe) from events where %s group by part order by 1",
    "select maybe, day, median(place), count(distinct part) from events where %s group by maybe, day order "
    "by 3, "
    "4, 1, 2 limit 30",
    "select part, median(maybe) m from events where %s group by part having median(number) > 0 and count(*) "
    "> 2 "
    "order by m, part",
    "select part, median(maybe), sum(number) from events where %s group by part order by 1",
    "select part, median(weight) from events where %s group by part order by 1",
    "select part, mode(maybe), median(maybe) from events where %s group by part order by 1",
    "select part, median(paid), count(*) from events where %s group by part order by 1",
    "select part, median(maybe), quantile_cont(maybe, 0.9), quantile_disc(maybe, 0.25) from events where %s "
    "group by part "
    "order by 1",
    "select part, maybe, quantile_disc(number, 0), quantile_disc(number, 1) from events where %s group by "
    "part, maybe "
    "order by 1, 2",
    "select median(paid), quantile_disc(paid, 0.01) from events where %s",
    "select day, median(place) from events where %s group by day order by 2 limit 50",
    "select dense, median(maybe), quantile_disc(maybe, 0.4) from events where %s group by dense order by 2 "
    "desc, 3, 1",
};

/* Aggregates over all groups: the first %s is a condition, the second the keys. */
static const struct {
    const char *sql;
    bool few;
} of_totals[] = {
    {"select count(*), max(n), sum(s) from (select %2$s, count(*) n, sum(number) s from events where %1$s "
     "group by %2$s having count(*) > 1) g",
     true},
    {"select count(*) from (select distinct %2$s from events where %1$s) g", true},
    {"select count(*) - 1, sum(m), min(m), avg(m), count(m) from (select min(maybe) m from events where %1$s "
     "group by %2$s) g",
     true},
    {"select sum(b), min(a), max(a), avg(b) from (select %2$s, sum(paid) a, sum(number) * 2 - min(part) b "
     "from events where %1$s group by %2$s) g",
     true},
    {"select sum(b), count(*) from (select sum(paid) * 2 - min(paid) b from events where %1$s group by %2$s) "
     "g",
     false},
    {"select bit_and(a), bit_or(a), bit_xor(a), max(d) from (select max(part) a, max(day) d from events "
     "where "
     "%1$s group by %2$s having sum(number) > 0) g",
     true},
    {"select sum(s) from (select sum(big) s from events where %1$s group by %2$s) g", false},
    {"select max(w), count(*) from (select max(weight) w from events where %1$s group by %2$s) g having "
     "count(*) > 5",
     true},
    {"select sum(w) from (select sum(weight) w from events where %1$s group by %2$s) g", false},
    {"select avg(a), count(*) from (select avg(paid) a from events where %1$s group by %2$s) g", false},
    {"select count(distinct n) from (select count(*) n from events where %1$s group by %2$s) g", false},
    {"select sum(n * 2), sum(case when n > 1 then n end) x, count(*) from (select count(*) n from events "
     "where "
     "%1$s group by %2$s) g",
     true},
    {"select max(note) from (select max(note) note, count(*) n from events where %1$s group by %2$s) g",
     false},
    {"select sum(n) from (select count(*) n from events where %1$s group by %2$s order by n desc limit 7) g",
     false},
    {"select max(n) from (select count(*) n from events where %1$s group by %2$s) g where n < 3", true},
    /* Values that might leave 64 bits, and do not; and some that do. */
    {"select sum(a * b - n), min(n - a * b), count(*) from (select sum(paid) a, sum(place) b, count(*) n "
     "from events "
     "where %1$s group by %2$s) g",
     true},
    {"select max(a * n), count(*) from (select max(big) a, count(*) n from events where %1$s group by %2$s) "
     "g",
     false},
};

static const char *const of_runs[] = {
    "select far, sum(number) s, count(*) from runs group by far order by s desc, far limit 10",
    "select far, count(maybe), sum(maybe), min(maybe), max(number), bit_and(number), bit_or(number), "
    "bit_xor(maybe) "
    "from runs group by far having count(*) = 7 and max(number) > 690 order by far",
    "select far, sum(maybe) from runs where number > 500 group by far order by 2 nulls first, 1 limit 15",
    "select near, sum(number) s, min(maybe), max(maybe), sum(maybe), count(*) from runs group by near order "
    "by s, near "
    "limit 12",
    "select near / 3, sum(number), bit_xor(number), count(maybe), max(maybe), min(number) from runs where "
    "maybe <> 7 "
    "group by 1 order by 3 desc, 1 limit 12",
    "select far, near, sum(number), count(*) from runs group by far, near order by 3 desc, near limit 9",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The first rows of an order, and no groups: of values at random and nearly in order, with NULLs, more than a sample's tile gives. */
static const char *const of_rows[] = {
    "select number, far, near from runs order by number desc, far, near limit 10",
    "select near, number, maybe from runs where number > 100 order by near, maybe nulls first, number limit "
    "40 offset 5",
    "select maybe, paid, place from events where part <> 3 order by maybe desc nulls last, paid, place limit "
    "2000",
    "select paid, place from events where place < 31 order by paid, place limit 100",
};

/* Groups of rows in order, on GPUs with a small cache, which the scan makes; and of a key that is so by its tiles alone, which are
 * listed then. Groups of listed rows: of keys in order (`far` and `near` have a million numbers), all rows and some of them; of others with one code and several, with NULLs, of one argument for several aggregates, and of values. Then states
 * that share words, with NULLs, too; of some no state tells which groups have rows. */
static const char *const of_many[] = {
    "select up, sum(number) s, count(*) from steps group by up order by s desc, up limit 10",
    "select up, min(maybe), max(number), count(maybe) from steps group by up order by up",
    "select mixed, sum(number), count(*) from steps group by mixed order by mixed",
    "select count(*) from (select distinct up from steps) g",
    "select far, near, number, count(*) n from runs group by 1, 2, 3 order by n desc, 1, 2, 3 limit 9",
    "select far * 3 k, sum(number), min(number), max(maybe), count(maybe), bit_and(number) from runs where "
    "number <> 7 group by 1 "
    "order by 2 desc, 1 limit 11",
    "select far * 3 k, max(number) m from runs group by 1 having count(*) = 7 order by m desc, k limit 11",
    "select count(*), max(n), sum(s) from (select far, maybe, count(*) n, sum(number) s from runs group by "
    "far, maybe) g",
    "select wide, sum(number), bit_xor(part), bit_or(maybe), min(maybe) from events group by wide order by "
    "2, 1 limit 30",
    "select dense, part, count(*), sum(maybe), count(maybe) from events where place <= 1025 group by 1, 2 "
    "order by 3 desc, 1, 2 "
    "limit 30",
    "select wide, count(*) n, sum(number) from events, shops where shop = id and kind = 3 group by wide "
    "order by n desc, 3, 1 limit 30",
    "select part, median(number * 1000 + part) from events where maybe < 40 group by part order by part",
    "select wide, sum(number), count(*) from events where number * part < -100000000 group by wide order by "
    "1",
    "select count(*), sum(s) from (select wide, sum(number) s from events where number * part < -100000000 "
    "group by wide) g",
    "select near, count(*), sum(number + 300) from runs group by near order by 3 desc, 1 limit 9",
    "select near, min(number), max(maybe), count(*), sum(maybe) from runs group by near order by 2, 1 limit "
    "9",
    "select near, min(maybe), max(maybe), sum(maybe), count(maybe) from runs where number > 100 group by "
    "near order by 4 desc, 1 "
    "limit 9",
    "select near, max(number), min(number), max(maybe), bit_or(maybe) from runs group by near having "
    "sum(maybe) is null order by 1 "
    "limit 9",
};

static char *answer_with(struct engine *engine, const char *sql, struct run_timing *timing)
{
    struct sql_statement *statement;
    struct rowset rows;
    struct error failed = {0};
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    char *text;
    if (sql_run(statement, &rows, timing, &failed) != STATUS_OK) {
        text = strdup(failed.text);
        text[strcspn(text, "(")] = '\0'; /* it tells of one of the groups, in no order */
    } else {
        text = rowset_csv(&rows);
        rowset_free(&rows);
    }
    sql_statement_free(statement);
    return text;
}

static void check_one(struct engine *cpu, struct engine *gpu, const char *sql, bool few)
{
    struct run_timing own = {0}, timing = {0};
    char *const right = answer_with(cpu, sql, &own), *const text = answer_with(gpu, sql, &timing);
    if (strcmp(text, right) != 0)
        fail_msg("%s:\n%s\nshould be\n%s", sql, text, right);
    if (few && timing.memory_bytes * 2 > own.memory_bytes)
        fail_msg("%s: %llu bytes of groups are copied, a CPU has %llu", sql,
                 (unsigned long long)timing.memory_bytes, (unsigned long long)own.memory_bytes);
    free(text);
    free(right);
}

static void check_answers(const char *device)
{
    const bool emulated = getenv("TESSERA_LIBCUDA"), compiles = !emulated || getenv("TESSERA_NVRTC");
    struct engine *cpu, *gpu;
    char sql[2048];
    make_database();
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    for (enum kernel_choice kernel = compiles ? KERNEL_SPECIALISED : KERNEL_GENERAL; kernel >= KERNEL_GENERAL;
         kernel--) {
        must(engine_open(&(struct engine_options){.device = device, .kernel = kernel}, &gpu, error));
        for (size_t r = 0; r < COUNT(of_runs); r++)
            check_one(cpu, gpu, of_runs[r], true);
        for (size_t r = 0; r < COUNT(of_rows); r++)
            check_one(cpu, gpu, of_rows[r], false);
        for (size_t m = 0; m < COUNT(of_many) && (kernel == KERNEL_SPECIALISED || !emulated); m++)
            check_one(cpu, gpu, of_many[m], false);
        if (kernel == KERNEL_SPECIALISED && emulated) { /* each takes a second to compile */
            engine_close(gpu);
            continue;
        }
        for (size_t q = 0; q < COUNT(questions); q++)
            for (size_t k = 0; k < COUNT(keys); k++)
                for (size_t w = 0; w < COUNT(conditions); w++) {
                    if (w > 0 && (q + k) % (COUNT(conditions) - 1) != w - 1)
                        continue;
                    if (kernel == KERNEL_SPECIALISED && (q + k) % 3)
                        continue; /* each is compiled */
                    snprintf(sql, sizeof sql, questions[q].sql, conditions[w], keys[k]);
                    check_one(cpu, gpu, sql, w == 0 && questions[q].few);
                }
        for (size_t v = 0; v < COUNT(of_values); v++)
            for (size_t w = 0; w < COUNT(conditions); w++) {
                snprintf(sql, sizeof sql, of_values[v], conditions[w]);
                check_one(cpu, gpu, sql, false);
            }
        for (size_t q = 0; q < COUNT(of_totals); q++)
            for (size_t k = 0; k < COUNT(keys); k++) {
                const size_t w = (q + k) % 3 ? 0 : 1 + (q + k) % (COUNT(conditions) - 1);
                if (kernel == KERNEL_SPECIALISED && (q + k) % 3 == 1)
                    continue;
                snprintf(sql, sizeof sql, of_totals[q].sql, conditions[w], keys[k]);
                check_one(cpu, gpu, sql, w == 0 && of_totals[q].few);
            }
        check_one(cpu, gpu, "select near / 7500, median(number) from runs group by 1 order by 1",
                  ahead_has("radix_sort", "sm_90")); /* else the build had no CUB */
        engine_close(gpu);
    }
    engine_close(cpu);
    database_close(database);
    directory_remove(path);
}

static void groups_are_those_of_the_cpu(void **state)
{
    (void)state;
    check_on_a_gpu(check_answers);
}

/* ---- Listed rows whose groups have no room ---- */

#define APPENDED   4u
#define ROOM_LEAST (2u << 20)
#define ROOM_STEP  (1u << 20)
#define ROOM_MOST  (14u << 20)

static void append_events(void)
{
    const char *const name = names[1], *const file = files[1];
    uint64_t loaded;
    struct tessera_error failed;
    database_close(database);
    for (uint32_t i = 0; i < APPENDED; i++) {
        FILE *const out = fopen(file, "w");
        assert_non_null(out);
        first_place += ROWS;
        write_events(out);
        fclose(out);
        if (tessera_load(path, NULL, &name, &file, 1, TESSERA_LOAD_APPEND, &loaded, &failed))
            fail_msg("%s", failed.text);
    }
    must(database_open(path, &database, error));
}

/* From no room to much: the statement is not run at all, then over a few segments at a time, and at last over all. */
static void check_room(const char *device)
{
    static const char sql[] = "select wide, place, sum(part), max(part), bit_or(maybe), count(maybe), "
                              "bit_xor(part), count(*), max(maybe), min(part) from events "
                              "group by 1, 2 order by 3 desc, 2 limit 20";
    struct engine *cpu, *gpu;
    uint32_t right = 0, refused = 0;
    char bytes[24];
    make_database();
    append_events();
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &cpu, error));
    must(engine_open(&(struct engine_options){.device = device, .kernel = KERNEL_SPECIALISED}, &gpu, error));
    char *const expected = answer_with(cpu, sql, NULL);
    for (uint32_t room = ROOM_LEAST; room <= ROOM_MOST; room += ROOM_STEP) {
        snprintf(bytes, sizeof bytes, "%u", room);
        setenv("EMULATED_GPU_MEMORY", bytes, 1);
        char *const text = answer_with(gpu, sql, NULL);
        if (strstr(text, "GPU 0")) {
            refused++;
        } else {
            assert_string_equal(text, expected);
            right++;
        }
        free(text);
    }
    unsetenv("EMULATED_GPU_MEMORY");
    assert_true(right > 0 && refused > 0);
    free(expected);
    engine_close(gpu);
    engine_close(cpu);
    database_close(database);
    directory_remove(path);
}

static void groups_without_room_are_made_of_fewer_segments(void **state)
{
    (void)state;
    if (!getenv("TESSERA_LIBCUDA") || !getenv("TESSERA_NVRTC"))
        not_run("the memory of a real GPU is not made small here");
    check_on_a_gpu(check_room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_those_of_the_cpu),
                                       cmocka_unit_test(groups_without_room_are_made_of_fewer_segments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
