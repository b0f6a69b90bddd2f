/*
 * test_changes_fuzz.c: random appends, inserts, deletes and compactions of a star schema (tests/support/changes/world.h), others among
 * them while a table is compacted, and new indexes and encodings, give the
 * answers that SQLite gives after the same changes, and are refused where it refuses them; so does a reader that opened a state
 * before later changes. Environment:
 *
 *     TESSERA_CHANGES            the number of changes
 *     TESSERA_CHANGES_SEED       the first random number
 *     TESSERA_CHANGES_DEVICE     which device answers; a CPU if it is not set
 *     TESSERA_TEST_KERNEL        if it is set, the general kernel answers, without indexes; with TESSERA_LIBCUDA also that of
 *                                the emulated GPU (tests/emulator)
 *     TESSERA_CHANGES_PROCESSES  if it is set, each change is made by the program, which is killed at random moments, or
 *                                one of its calls fails; and a reader in another process looks at each state that it sees
 *                                (tests/support/changes/processes.h)
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/change/change.h"
#include "engine/library/replace.h"
#include "loader/table/table_loader.h"
#include "tests/support/one_directory.h"

#include "tests/support/changes/processes.h"
#include "tests/support/changes/questions.h"

#define CHANGES    60u
#define COMPARE_AT 10u

/* ---- Changes within this process ---- */

/* A GPU knows columns by their addresses, so an engine goes with its database. */
static struct engine *open_engine(void)
{
    const char *const device = getenv("TESSERA_CHANGES_DEVICE");
    struct engine *engine;
    must(engine_open(
        &(struct engine_options){.device = device ? device : "cpu",
                                 .kernel = getenv("TESSERA_TEST_KERNEL") ? KERNEL_GENERAL : KERNEL_AUTO,
                                 .threads = 2},
        &engine, error));
    return engine;
}

/* Runs a statement that changes tables. */
static enum status run_statement(const char *sql, uint64_t *rows, struct error *why)
{
    struct engine *const engine = open_engine();
    struct change_task task = {.engine = engine};
    struct change_report report = {0};
    struct sql_change change;
    size_t used;
    must(database_open(path, &task.database, error));
    must(sql_change_parse(sql, strlen(sql), &change, &used, error));
    const enum status status = change_run(&task, &change, &report, why);
    sql_change_free(&change);
    engine_close(engine);
    database_close(task.database);
    *rows = report.rows;
    return status;
}

/* The rows of a table's file as INSERT INTO ... VALUES, all of them texts, or NULL where they are empty. */
static enum status insert(enum world_table table, const struct change *change, struct error *why)
{
    char file[PATH_BYTES], *sql, line[512];
    size_t bytes;
    uint64_t rows = 0;
    world_file(table, file);
    FILE *const in = fopen(file, "r"), *const out = open_memstream(&sql, &bytes);
    assert_non_null(in);
    fprintf(out, "INSERT INTO %s ", world_tables[table].name);
    if (change->condition[0])
        fprintf(out, "REPLACE WHERE %s ", change->condition);
    while (fgets(line, sizeof line, in)) {
        fputs(rows++ ? ",\n(" : "VALUES (", out);
        line[strcspn(line, "\n")] = '\0';
        const char *at = line;
        for (size_t length; length = strcspn(at, ","), true; at += length + 1) {
            fprintf(out, length ? "'%.*s'" : "NULL", (int)length, at);
            if (!at[length])
                break;
            fputs(", ", out);
        }
        putc(')', out);
    }
    if (!rows)
        fprintf(out, "SELECT * FROM %s WHERE false", world_tables[table].name);
    fclose(in);
    fclose(out);
    const enum status status = rows || change->condition[0] ? run_statement(sql, &rows, why) : STATUS_OK;
    if (status == STATUS_OK)
        assert_int_equal(rows, change->rows);
    free(sql);
    return status;
}

static enum status append(const struct change *change, bool first, struct error *why)
{
    static const char *const levels[] = {WORLD_LEVELS};
    char files[WORLD_TABLES][PATH_BYTES];
    const char *paths[WORLD_TABLES];
    struct schema_script schema;
    struct load_report report;
    struct load_replacement replacement = {0};
    struct load_input inputs[WORLD_TABLES];
    struct load_options options = {.directory = path,
                                   .inputs = inputs,
                                   .levels = levels,
                                   .level_count = first,
                                   .indexes = first ? WORLD_INDEXES : NULL,
                                   .cluster_by = first && chance(70) ? WORLD_CLUSTERING : NULL,
                                   .threads = 1 + below(3),
                                   .append = !first};
    for (int t = 0; t < WORLD_TABLES; t++) {
        if (!change->appends[t])
            continue;
        world_file((enum world_table)t, files[t]);
        paths[t] = files[t];
        inputs[options.input_count++] =
            (struct load_input){.table = world_tables[t].name, .paths = &paths[t], .path_count = 1};
    }
    if (!first && options.input_count == 1 && chance(50))
        for (int t = 0; t < WORLD_TABLES; t++)
            if (change->appends[t])
                return insert((enum world_table)t, change, why);
    must(schema_script_parse("world.sql", world_schema, strlen(world_schema), &schema, error));
    if (change->condition[0]) {
        must(replace_conditions.open("sales", change->condition, options.threads, 0, &replacement, error));
        options.replacement = &replacement;
    }
    const enum status status = tables_load(&schema, &options, &report, NULL, why);
    if (status == STATUS_OK)
        assert_int_equal(report.rows + report.replaced, change->rows);
    replace_conditions.close(&replacement);
    schema_script_free(&schema);
    return status;
}

static enum status delete_rows(const struct change *change, struct error *why)
{
    char sql[640];
    uint64_t rows;
    snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s", world_tables[change->table].name, change->condition);
    const enum status status = run_statement(sql, &rows, why);
    if (status == STATUS_OK && (int64_t)rows != change->rows)
        fail_msg("%s: %llu rows were deleted, SQLite deletes %lld", change->condition,
                 (unsigned long long)rows, (long long)change->rows);
    return status;
}

static void ignore(void *context, const struct table *before, const struct table *after)
{
    (void)context;
    assert_true(after->rows <= before->rows);
}

/* What is changed here while a table is compacted, after its first columns. */
struct meanwhile {
    sqlite3 *sqlite;
    uint32_t changes;
};

static void change_here(sqlite3 *sqlite, struct change *change);

static void change_meanwhile(struct progress *progress, const char *what, const char *unit, uint64_t done,
                             uint64_t total)
{
    struct meanwhile *const meanwhile = progress->context;
    struct change change;
    (void)what;
    (void)unit;
    (void)done;
    (void)total;
    if (meanwhile->changes == 0)
        return;
    meanwhile->changes--;
    make_change(meanwhile->sqlite, &change);
    while (change.kind == CHANGE_COMPACT) { /* of which there is one at a time */
        end_change(meanwhile->sqlite, false);
        make_change(meanwhile->sqlite, &change);
    }
    change_here(meanwhile->sqlite, &change);
}

/* On this thread, if something is changed meanwhile. */
static enum status compact(sqlite3 *sqlite, const struct change *change, struct error *why)
{
    struct meanwhile meanwhile = {.sqlite = sqlite, .changes = below(3)};
    struct progress progress = {.report = change_meanwhile, .context = &meanwhile};
    const bool changes = chance(70);
    return database_compact(path, change->table < WORLD_TABLES ? world_tables[change->table].name : NULL,
                            changes ? 1 : 2, ignore, NULL, changes ? &progress : NULL, why);
}

/* Another index of a column of sales than it has, or none, or its first one. Appends continue indexes. */
static void change_index(void)
{
    static const char *const columns[] = {"number", "pieces", "note", "shop", "weight"};
    const char *const column = columns[below(sizeof columns / sizeof *columns)];
    struct index_wish wish = {.format = (enum index_format)(1 + below(3)),
                              .bins = (enum index_bins)below(INDEX_BINS_COUNT)};
    struct error why;
    if (wish.bins == INDEX_VALUES && column == columns[0])
        wish.bins = INDEX_AUTO;
    if (wish.bins == INDEX_WIDTH || wish.bins == INDEX_DEPTH)
        wish.count = 1 + below(40);
    const enum status dropped = database_index_drop(path, "sales", column, &why);
    if (dropped != STATUS_OK || chance(80))
        must(database_index_create(path, "sales", column, wish, 2, NULL, error));
}

/* A further encoding of a column, which appends continue. */
static void encode_column(void)
{
    static const char *const codecs[] = {"plain", "lane-for", "nsf", "gpu-star"};
    struct database *database;
    const struct table *table;
    struct codec_choice choice;
    enum codec_id id;
    must(database_open(path, &database, error));
    must(database_table(database, "sales", &table, error));
    must(codec_choice_parse(codecs[below(4)], &choice, error));
    must(database_encode(database, &table->columns[below(8)], &choice, 1, &id, error));
    database_close(database);
}

/* Makes the change in the database that was made in SQLite, and ends that one's. */
static void change_here(sqlite3 *sqlite, struct change *change)
{
    struct error why = {0};
    enum status status;
    if (chance(10))
        change_index();
    if (chance(10))
        encode_column();
    if (change->kind == CHANGE_COMPACT)
        end_change(sqlite, true);
    status = change->kind == CHANGE_APPEND   ? append(change, false, &why)
             : change->kind == CHANGE_DELETE ? delete_rows(change, &why)
                                             : compact(sqlite, change, &why);
    if ((status == STATUS_OK) == change->refused)
        fail_msg("SQLite %s it: %s %s", change->refused ? "refuses" : "does", change->condition, why.text);
    if (change->kind != CHANGE_COMPACT)
        end_change(sqlite, !change->refused);
}

/* ---- Comparison ---- */

static void compare(struct engine *engine, struct database *database, sqlite3 *sqlite)
{
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
        answers_as_sqlite(engine, database, sqlite, questions[q]);
}

static void check_state(sqlite3 *sqlite)
{
    struct engine *const engine = open_engine();
    struct database *database;
    must(database_open(path, &database, error));
    compare(engine, database, sqlite);
    engine_close(engine);
    database_close(database);
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

/* A reader and what it must see, whatever is changed after it has opened the database. */
struct reader {
    struct engine *engine;
    struct database *database;
    sqlite3 *sqlite;
};

static void reader_open(struct reader *reader, sqlite3 *sqlite)
{
    reader->engine = open_engine();
    must(database_open(path, &reader->database, error));
    assert_int_equal(sqlite3_open(":memory:", &reader->sqlite), SQLITE_OK);
    sqlite3_backup *const copy = sqlite3_backup_init(reader->sqlite, "main", sqlite, "main");
    assert_non_null(copy);
    sqlite3_backup_step(copy, -1);
    assert_int_equal(sqlite3_backup_finish(copy), SQLITE_OK);
}

static void reader_close(struct reader *reader)
{
    engine_close(reader->engine);
    database_close(reader->database);
    sqlite3_close(reader->sqlite);
}

static void change_and_compare(sqlite3 *sqlite, uint32_t changes, struct change_processes *processes)
{
    const uint32_t every = processes ? 100 : COMPARE_AT;
    uint32_t refused = 0;
    struct reader reader;
    struct change change;
    reader_open(&reader, sqlite);
    for (uint32_t i = 1; i <= changes; i++) {
        if (processes) {
            change_by_program(processes, sqlite);
        } else {
            make_change(sqlite, &change);
            change_here(sqlite, &change);
            refused += change.refused;
        }
        if (i % every)
            continue;
        check_state(sqlite);
        compare(reader.engine, reader.database, reader.sqlite);
        reader_close(&reader);
        reader_open(&reader, sqlite);
        if (processes)
            readers_check(processes);
    }
    reader_close(&reader);
    if (!processes)
        print_message("changes: %u made, %u refused\n", changes - refused, refused);
}

static void changes_are_those_of_sqlite(void **state)
{
    const char *const changes = getenv("TESSERA_CHANGES"), *const seed = getenv("TESSERA_CHANGES_SEED");
    static struct change_processes processes;
    const bool by_program = getenv("TESSERA_CHANGES_PROCESSES") != NULL;
    struct change first = {.refused = true};
    sqlite3 *sqlite;
    (void)state;
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    answers_with.index = getenv("TESSERA_TEST_KERNEL") ? PLAN_INDEX_OFF : PLAN_INDEX_ON;
    world_create(sqlite);
    while (first.refused) {
        first = (struct change){0};
        execute(sqlite, "BEGIN");
        make_append(sqlite, &first, true);
        end_change(sqlite, !first.refused);
    }
    must(append(&first, true, error));
    if (by_program)
        processes_begin(&processes, sqlite);
    change_and_compare(sqlite, changes ? (uint32_t)atoi(changes) : CHANGES, by_program ? &processes : NULL);
    if (by_program)
        processes_end(&processes);
    sqlite3_close(sqlite);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_are_those_of_sqlite)};
    if (getenv(READER_VARIABLE))
        return reader_run(getenv(READER_VARIABLE), totals, sizeof totals / sizeof *totals);
    return cmocka_run_group_tests(tests, setup, teardown);
}
