/*
 * test_sql_fuzz.c: answers to random queries (fuzz_query.h) over random star schemas (fuzz_star.h) equal SQLite's, value
 * by value, whether bitmap indexes decide conditions or not. Every column of the answer is ordered by, so answers are
 * compared row by row. Refusals count only if their reason is one that is documented. A query that fails is shrunk part by
 * part and printed.
 *
 * Without arguments it asks the same QUERIES every time, some 15 s. `test_sql_fuzz SECONDS SEED DEVICE` does more of the
 * same; a SEED of 0 takes it from the clock, and each failure prints the seed that makes it again. DEVICE: as
 * TESSERA_TEST_DEVICE says (cpu), or cuda, or several (`cpu,cpu`), or `compile`, which answers on the CPU and also compiles
 * each query's kernels for a GPU.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/fuzz/fuzz_query.h"
#include "tests/fuzz/fuzz_reached.h"

#define QUERIES      1500u /* of a run that is not told how long */
#define STAR_QUERIES 60u   /* asked of each star */

static uint64_t seed = 20261121;
static double seconds; /* 0: QUERIES */

/* ---- Shrinking ---- */

/* Takes the i-th thing away that can be; false if there are not so many. */
static bool shrink_once(struct query *query, uint32_t i)
{
    struct term *const lists[] = {query->where, query->groups, query->aggregates};
    uint32_t *const counts[] = {&query->where_count, &query->group_count, &query->aggregate_count};
    for (uint32_t list = 0; list < 3; list++)
        for (uint32_t at = 0; at < *counts[list]; at++) {
            if (i-- == 0) {
                memmove(&lists[list][at], &lists[list][at + 1], (*counts[list] - at - 1) * sizeof **lists);
                (*counts[list])--;
                query->rollup &= query->group_count && query->aggregate_count;
                return query->group_count + query->aggregate_count > 0;
            }
            for (uint32_t inner = 0; inner < 2; inner++)
                if (lists[list][at].inner[inner] && i-- == 0) {
                    lists[list][at] = *lists[list][at].inner[inner];
                    return true;
                }
        }
    for (uint32_t j = 0; j < query->join_count; j++)
        if (i-- == 0) {
            memmove(&query->joins[j], &query->joins[j + 1],
                    (query->join_count - j - 1) * sizeof *query->joins);
            query->join_count--;
            return true;
        }
    if (query->has_having && i-- == 0)
        return !(query->has_having = false);
    if (query->rollup && i-- == 0)
        return !(query->rollup = false);
    if (query->distinct && i-- == 0)
        return !(query->distinct = false);
    if (query->parameters && i-- == 0)
        return !(query->parameters = false);
    if (query->limit < 0 || i)
        return false;
    query->limit = -1;
    return true;
}

/* Takes away whatever can be while the answers differ. */
static void shrink(struct engine *engine, struct database *database, sqlite3 *sqlite, struct query *query,
                   const char *codec)
{
    const size_t used = text_used;
    for (uint32_t i = 0; i < 200; i++) {
        struct query less = *query;
        text_used = used;
        if (shrink_once(&less, i) && try_query(engine, database, sqlite, &less, codec) == DIFFERENT &&
            !strstr(difference, "SQLite does not take it") && !strstr(difference, "refused")) {
            *query = less;
            i = UINT32_MAX;
        }
    }
    text_used = used;
    (void)try_query(engine, database, sqlite, query, codec);
}

static void report(const char *codec, enum plan_index_use index, uint64_t star, uint32_t number)
{
    static const char *const uses[] = {"auto", "on", "off"};
    print_message("codec %s, index %s\n", codec ? codec : "own", uses[index]);
    for (uint32_t t = 0; t < fuzz_table_count; t++) {
        print_message("%s: %u rows;", fuzz_tables[t].name, fuzz_tables[t].rows);
        for (uint32_t c = 0; c < fuzz_tables[t].column_count; c++) {
            const struct fuzz_column *column = &fuzz_tables[t].columns[c];
            const struct column_schema schema = {
                .type = column->type, .precision = column->precision, .scale = column->scale};
            char type[32];
            print_message(" %s %s%s", column->name, column_type_text(&schema, type),
                          column->references < 0 ? "" : form(" -> %s", fuzz_tables[column->references].name));
        }
        print_message("\n");
    }
    print_message("%s\nSQLite: %s\n", ours, theirs);
    fail_msg("seed %llu, star %llu, query %u: %s", (unsigned long long)seed, (unsigned long long)star, number,
             difference);
}

/* "key=lane-levels,..." for the foreign keys to tables with levels; NULL if there are none. */
static const char *level_keys(const struct database *database)
{
    static char text[4096];
    size_t length = 0;
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *table = database_table_at(database, t);
        for (uint32_t c = 0; c < table->column_count; c++) {
            const struct column *column = &table->columns[c];
            if (column->references && column->references->table->levels)
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%s=lane-levels",
                                           length ? "," : "", column->schema.name);
            assert_true(length < sizeof text);
        }
    }
    return length ? text : NULL;
}

static void random_queries_answer_as_sqlite_does(void **state)
{
    const char *codecs[CODEC_COUNT + 2] = {NULL, NULL, "smallest"}; /* the columns' own twice as often */
    static const char *const budgets[] = {NULL, "0", "4K", "64K"};  /* of columns on a GPU */
    uint32_t codec_count = 3;
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        if (!codec_needs_levels(codec_by_id(id)))
            codecs[codec_count++] = codec_by_id(id)->name;
    static struct query query;
    struct engine *engine;
    uint64_t compared = 0, refused = 0, stars = 0;
    const double begin = clock_seconds();
    (void)state;
    do {
        char path[PATH_BYTES];
        struct database *database;
        random_state = seed + 0x9e3779b97f4a7c15ull * ++stars;
        sqlite3 *sqlite = make_star(path, &database);
        make_functions(sqlite);
        fuzz_functions_register(sqlite);
        must(engine_open(
            &(struct engine_options){.device = strcmp(fuzz_device, "compile") ? fuzz_device : "cpu",
                                     .threads = 2,
                                     .gpu_memory = budgets[below(4)],
                                     .late = (enum late_transfer)below(3),
                                     .memory = getenv("TESSERA_TEST_MEMORY")},
            &engine, error));
        for (uint32_t q = 0; q < STAR_QUERIES; q++) {
            const char *const codec = chance(30) ? level_keys(database) : codecs[below(codec_count)];
            make_query(&query);
            const enum verdict verdict = try_query(engine, database, sqlite, &query, codec);
            compared += verdict == SAME;
            if (verdict == SAME)
                reached_add(database, ours);
            refused += verdict == REFUSED;
            if (verdict != DIFFERENT)
                continue;
            shrink(engine, database, sqlite, &query, codec);
            report(codec, query.index, stars, q);
        }
        engine_close(engine);
        database_close(database);
        sqlite3_close(sqlite);
        directory_remove(path);
    } while (seconds > 0 ? clock_seconds() - begin < seconds : stars * STAR_QUERIES < QUERIES);
    print_message("seed %llu: %llu stars (%u dimensions with levels), %llu queries alike (%llu with rows), "
                  "%llu refused for a "
                  "documented reason\n",
                  (unsigned long long)seed, (unsigned long long)stars, fuzz_leveled,
                  (unsigned long long)compared, (unsigned long long)with_rows, (unsigned long long)refused);
    assert_true(compared > refused);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_queries_answer_as_sqlite_does)};
    fuzz_indexed = true;
    fuzz_hierarchies = 60;
    fuzz_arguments(argc, argv, &seconds, &seed);
    if (strcmp(fuzz_device, "compile") == 0)
        setenv("TESSERA_KERNEL_CACHE", "", 1); /* nobody asks for these kernels again */
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (seconds > 0)
        reached_print();
    return failed;
}
