/*
 * test_compact.c: while a database is compacted, another writer may append, delete, index and replace, and the result is that of
 * the same changes without a compaction; two compactions do not run at once; and a killed one leaves nothing.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/delete.h"
#include "loader/table/table_loader.h"
#include "tests/support/two_directories.h"

#include <sys/wait.h>

static const char script[] =
    "CREATE TABLE shops (id INT PRIMARY KEY, city TEXT);"
    "CREATE TABLE sales (number INT, shop INT REFERENCES shops, note TEXT, paid DOUBLE);";

static void load(const char *directory, const char *table, const char *rows, bool append, bool replace)
{
    char file[PATH_BYTES + 64];
    const char *const paths[] = {file};
    struct load_input input = {.table = table, .paths = paths, .path_count = 1};
    struct schema_script schema;
    struct load_report report;
    const struct load_options options = {.directory = directory,
                                         .inputs = &input,
                                         .input_count = 1,
                                         .threads = 1,
                                         .append = append,
                                         .replace = replace};
    snprintf(file, sizeof file, "%.*s/rows.csv", (int)(strlen(path) - 3), path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs(rows, out);
    fclose(out);
    must(schema_script_parse("shop.sql", script, strlen(script), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

/* Rows from a number on; their notes begin with `note`, and are NULL where the number has a certain rest. */
static void load_sales(const char *directory, int first, int count, const char *note, bool append)
{
    char *rows;
    size_t bytes;
    FILE *const out = open_memstream(&rows, &bytes);
    for (int i = first; i < first + count; i++)
        fprintf(out, "%d,%d,%s%.0d,%d.25\n", i, i % 3, i % 5 ? note : "", i % 5 ? i % 7 + 1 : 0, i % 100);
    fclose(out);
    load(directory, "sales", rows, append, false);
    free(rows);
}

static void delete_rows(const char *directory, const char *condition)
{
    struct engine *engine;
    struct database *database;
    uint64_t rows;
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    must(database_open(directory, &database, error));
    must(rows_delete(engine, database, "sales", &(struct row_condition){.text = condition, .place = {1, 1}},
                     &rows, error));
    database_close(database);
    engine_close(engine);
}

/* ---- What another writer does meanwhile ---- */

static const struct index_wish wish = {.format = INDEX_WAH64};

static void nothing(const char *directory)
{
    (void)directory;
}

static void append(const char *directory)
{
    load_sales(directory, 4000, 1025, "note ", true);
}

static void append_strings_after(const char *directory)
{
    load_sales(directory, 4000, 31, "zebra ", true);
    load_sales(directory, 5001, 1, "zoo ", true);
}

static void append_strings_between(const char *directory)
{
    load_sales(directory, 4000, 31, "nota ", true);
}

static void append_nulls(const char *directory)
{
    load(directory, "sales", "7,,,\n", true, false);
}

static void append_shops(const char *directory)
{
    load(directory, "shops", "30,Rome\n31,Bern\n", true, false);
    load(directory, "sales", "8,31,note 1,3\n", true, false);
}

static void delete_some(const char *directory)
{
    delete_rows(directory, "number % 11 = 3");
}

static void delete_and_append(const char *directory)
{
    delete_rows(directory, "number < 100");
    append(directory);
    delete_rows(directory, "number > 4500 OR number = 1500");
}

static void delete_all(const char *directory)
{
    delete_rows(directory, "true");
    append(directory);
}

static void index_create(const char *directory)
{
    must(database_index_create(directory, "sales", "note", wish, 1, NULL, error));
    append(directory);
}

static void index_drop(const char *directory)
{
    must(database_index_drop(directory, "sales", "number", error));
}

static void replace(const char *directory)
{
    load(directory, "sales", "1,2,note 1,2.5\n", false, true);
}

static void encode(const char *directory)
{
    struct database *database;
    const struct table *table;
    struct codec_choice choice;
    enum codec_id codec;
    must(database_open(directory, &database, error));
    must(database_table(database, "sales", &table, error));
    must(codec_choice_parse("plain", &choice, error));
    must(database_encode(database, &table->columns[0], &choice, 1, &codec, error));
    database_close(database);
}

static void compact_again(const char *directory)
{
    if (strcmp(directory, path) == 0)
        must_refuse(STATUS_BAD_INPUT, "compacted already", "process ", "tessera.compact",
                    database_compact(directory, NULL, 1, NULL, NULL, NULL, error));
}

/* ---- Compaction ---- */

struct meanwhile {
    void (*change)(const char *directory);
    bool done;
};

static void interrupt(struct progress *progress, const char *what, const char *unit, uint64_t done,
                      uint64_t total)
{
    struct meanwhile *const meanwhile = progress->context;
    (void)what;
    (void)unit;
    (void)done;
    (void)total;
    if (meanwhile->done)
        return;
    meanwhile->done = true;
    meanwhile->change(path);
}

static void take_segments(void *context, const struct table *before, const struct table *after)
{
    assert_true(before->segment_count >= after->segment_count);
    *(uint32_t *)context = after->segment_count;
}

static void no_line(void *context, const char *line, bool fault)
{
    (void)context;
    (void)fault;
    fail_msg("%s", line);
}

static char *ask(struct database *database, const char *sql)
{
    struct engine *engine;
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    char *const text = sql_answer(engine, database, sql);
    engine_close(engine);
    return text;
}

static void same_answers(void)
{
    static const char *const questions[] = {
        "select * from sales", "select * from shops",
        "select count(*), min(number), max(number), min(note), max(note), min(paid), max(paid) from sales",
        "select city, count(*), sum(paid) from sales join shops on shop = id group by city order by city",
        "select note, count(*) from sales where note >= 'note 3' group by note order by note"};
    struct database *a, *b;
    must(database_open(path, &a, error));
    must(database_open(whole, &b, error));
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        char *left = ask(a, questions[q]), *right = ask(b, questions[q]);
        assert_string_equal(left, right);
        free(left);
        free(right);
    }
    database_close(a);
    database_close(b);
    must(database_check(path, 1, no_line, NULL, NULL, error));
}

/* `deletes`: before the compaction. */
static void make(const char *directory, bool deletes)
{
    load(directory, "shops", "0,Paris\n1,Oslo\n2,Prague\n", false, false);
    load_sales(directory, 0, 1023, "note ", false);
    must(database_index_create(directory, "sales", "number", wish, 1, NULL, error));
    load_sales(directory, 1023, 900, "note ", true);
    if (deletes)
        delete_rows(directory, "number % 4 = 1 or number < 50 or number > 1900");
}

static void others_change_the_table_meanwhile(void **state)
{
    /* `segments` of the table after the compaction, by whether rows are deleted before it; the last number: it is compacted
     * again, under the lock, and all its segments become one. */
    static const struct {
        void (*change)(const char *directory);
        uint32_t segments[2];
    } cases[] = {
        {nothing, {1, 1}},
        {append, {2, 2}},
        {append_strings_after, {3, 3}},
        {append_strings_between, {1, 1}},
        {append_nulls, {2, 1}},
        {append_shops, {2, 2}},
        {delete_some, {1, 1}},
        {delete_and_append, {2, 2}},
        {delete_all, {2, 2}},
        {index_create, {2, 2}},
        {index_drop, {1, 1}},
        {replace, {0, 0}},
        {encode, {1, 1}},
        {compact_again, {1, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int deletes = 0; deletes < 2; deletes++) {
            struct meanwhile meanwhile = {.change = cases[i].change};
            struct progress progress = {.report = interrupt, .context = &meanwhile};
            uint32_t segments = 0;
            setup(NULL);
            make(path, deletes);
            make(whole, deletes);
            cases[i].change(whole);
            must(database_compact(path, "sales", 1, take_segments, &segments, &progress, error));
            assert_true(meanwhile.done);
            if (segments != cases[i].segments[deletes])
                fail_msg("case %zu, %d: %u segments", i, deletes, segments);
            same_answers();
            must(database_compact(path, NULL, 2, take_segments, &segments, NULL, error));
            same_answers();
            teardown(NULL);
        }
}

static uint32_t read_codecs(enum codec_id codecs[4])
{
    struct database *database;
    const struct table *table;
    must(database_open(path, &database, error));
    must(database_table(database, "sales", &table, error));
    for (uint32_t c = 0; c < 4; c++)
        codecs[c] = table->columns[c].own;
    const uint32_t segments = table->segment_count;
    database_close(database);
    return segments;
}

/* A chooser takes other codecs for more rows, and rows that are appended meanwhile get them, too. */
static void appended_rows_take_the_new_codecs(void **state)
{
    struct meanwhile meanwhile = {.change = append};
    struct progress progress = {.report = interrupt, .context = &meanwhile};
    enum codec_id before[4], after[4];
    uint32_t segments;
    (void)state;
    for (int d = 0; d < 2; d++) {
        const char *const directory = d ? whole : path;
        load(directory, "shops", "0,Paris\n1,Oslo\n2,Prague\n", false, false);
        load_sales(directory, 0, 1, "note ", false);
        load_sales(directory, 1, 7000, "note ", true);
    }
    read_codecs(before);
    append(whole);
    must(database_compact(path, "sales", 1, take_segments, &segments, &progress, error));
    assert_int_equal(read_codecs(after), 2);
    assert_memory_not_equal(before, after, sizeof before);
    same_answers();
}

/* An older program would show the column of deleted rows, or find a part of the index alone. */
static void check_version(void)
{
    char file[PATH_BYTES + 16], line[64];
    snprintf(file, sizeof file, "%s/catalogue", path);
    FILE *const in = fopen(file, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    fclose(in);
    assert_memory_equal(line, "tessera catalogue 9 ", 20);
}

static void cancel(struct progress *progress, const char *what, const char *unit, uint64_t done,
                   uint64_t total)
{
    struct execution *const execution = progress->context;
    (void)what;
    (void)unit;
    (void)done;
    (void)total;
    load_sales(path, 4000, 10, "note ", true);
    execution_stop(execution);
}

static void a_cancelled_compaction_changes_nothing(void **state)
{
    struct execution execution = {0};
    struct progress progress = {.report = cancel, .context = &execution};
    uint32_t segments = 0;
    (void)state;
    make(path, true);
    make(whole, true);
    load_sales(whole, 4000, 10, "note ", true);
    execution_enter(&execution);
    must_refuse(STATUS_INTERRUPTED, "", "", "",
                database_compact(path, NULL, 1, take_segments, &segments, &progress, error));
    execution_leave(&execution);
    assert_int_equal(segments, 0);
    check_version();
    same_answers();
    assert_int_equal(directory_files(path), directory_files(whole));
}

/* A process compacts again and again and is killed, while this one appends. */
static void a_killed_compaction_changes_nothing(void **state)
{
    (void)state;
    make(path, false);
    make(whole, false);
    for (int after = 0; after < 20; after++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            uint32_t segments;
            for (int again = 0; again < 1000; again++)
                if (database_compact(path, NULL, 1, take_segments, &segments, NULL, NULL) != STATUS_OK)
                    _exit(1);
            _exit(0);
        }
        for (int i = 0; i < 3; i++) {
            usleep((unsigned)after * 500);
            load_sales(path, 4000 + 100 * after + i, 1, "note ", true);
            load_sales(whole, 4000 + 100 * after + i, 1, "note ", true);
        }
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        if (after % 2) {
            delete_rows(path, "number % 100 = 1");
            delete_rows(whole, "number % 100 = 1");
        }
        load_sales(path, 0, 1, "note ", true); /* which cleans up */
        load_sales(whole, 0, 1, "note ", true);
        same_answers();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_change_the_table_meanwhile),
        cmocka_unit_test_setup_teardown(appended_rows_take_the_new_codecs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cancelled_compaction_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_compaction_changes_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
