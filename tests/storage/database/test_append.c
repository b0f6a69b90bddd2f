/*
 * test_append.c: rows that are appended, in however many loads, make the database that one load of all of them makes:
 * the same values, NULLs, strings, extrema; old files stay where their values do; whoever reads the old state goes on reading it; and what cannot be
 * appended is refused with the database as it was.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "tests/support/shop_rows.h"
#include "tests/support/sql/sql_answer.h"

#include <sys/wait.h>

static const char script[] =
    "CREATE TABLE regions (id INT PRIMARY KEY, label TEXT);\n"
    "CREATE TABLE shops (name TEXT PRIMARY KEY, region INT REFERENCES regions, opened DATE);\n"
    "CREATE TABLE sales (shop TEXT NOT NULL REFERENCES shops, paid DECIMAL(12,2), pieces INT NOT NULL, note "
    "TEXT, at "
    "TIMESTAMP, online BOOLEAN);\n";

#define SALES_COLUMNS 6u

/* ---- Rows as text, which depend on their number alone ---- */

static void write_row(FILE *out, int table, uint32_t row, uint32_t shops)
{
    const uint32_t x = scramble(row * 4ull + (uint32_t)table);
    if (table == REGIONS)
        fprintf(out, "%d,region %u\n", (int)row * 7 - 20, x % 1000);
    else if (table == SHOPS)
        fprintf(out, "shop %u,%d,%s\n", scramble(row), (int)(row % 3) * 7 - 20,
                row < 40 || x % 5 ? "2001-05-06" : "");
    else
        fprintf(out, "shop %u,%u.%02u,%u,%s%u,%s,%s\n", scramble(x % shops), x % 90, x % 100, x % 300,
                row < 50 ? "note "
                : x % 3  ? "a "
                         : "z ",
                x % 7, row > 1000 && x % 4 == 0 ? "" : "2024-01-31 10:11:12", x % 9 ? "true" : "");
}

struct rows {
    uint32_t first, count;
};

struct change {
    bool append;
    const char *sort_by;
};

/* Loads those rows of each table; a table of no rows is left out. */
static enum status load(const char *directory, const struct rows rows[TABLES], uint32_t shops,
                        struct change change, struct error *why)
{
    char files[TABLES][PATH_BYTES + 64];
    const char *paths[TABLES];
    struct load_input inputs[TABLES];
    struct schema_script schema;
    struct load_report report;
    struct load_options options = {.directory = directory,
                                   .inputs = inputs,
                                   .threads = 2,
                                   .append = change.append,
                                   .dimension_order =
                                       DIMENSION_FILE, /* else row numbers depend on the loads */
                                   .sort_by = change.sort_by};
    for (int t = 0; t < TABLES; t++) {
        if (rows[t].count == 0 && change.append)
            continue;
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, names[t]);
        FILE *file = fopen(files[t], "w");
        assert_non_null(file);
        for (uint32_t row = rows[t].first; row < rows[t].first + rows[t].count; row++)
            write_row(file, t, row, shops);
        fclose(file);
        paths[t] = files[t];
        inputs[options.input_count++] =
            (struct load_input){.table = names[t], .paths = &paths[t], .path_count = 1};
    }
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    const enum status status = tables_load(&schema, &options, &report, NULL, why);
    schema_script_free(&schema);
    return status;
}

/* ---- Comparing databases ---- */

static char *ask(struct database *database, const char *sql)
{
    struct engine *engine;
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    char *const text = sql_answer(engine, database, sql);
    engine_close(engine);
    return text;
}

static void same_answer(struct database *left, struct database *right, const char *sql)
{
    char *a = ask(left, sql), *b = ask(right, sql);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

/* `a` may have more segments, at whose ends runs end, and has at least as many distinct values. */
static void same_column(const struct column *a, const struct column *b)
{
    const struct column_statistics *const of_a = &a->statistics, *const of_b = &b->statistics;
    const uint64_t ends = a->table->segment_count - b->table->segment_count;
    const bool same = of_a->min == of_b->min && of_a->max == of_b->max && of_a->nulls == of_b->nulls &&
                      of_a->runs >= of_b->runs && of_a->runs <= of_b->runs + ends &&
                      of_a->distinct >= of_b->distinct && strcmp(a->own_name, b->own_name) == 0;
    if (!same)
        fail_msg("column %s.%s has other statistics", a->table->name, a->schema.name);
    const struct dictionary *strings, *others;
    must(column_dictionary(a, 1, &strings, error));
    must(column_dictionary(b, 1, &others, error));
    assert_int_equal(strings != NULL, others != NULL);
    if (strings) {
        assert_int_equal(strings->count, others->count);
        assert_memory_equal(strings->starts, others->starts, 8 * (strings->count + 1));
    }
}

static void same_databases(const char *left, const char *right)
{
    struct database *a, *b;
    must(database_open(left, &a, error));
    must(database_open(right, &b, error));
    for (uint32_t t = 0; t < TABLES; t++) {
        const struct table *x, *y;
        char sql[64];
        must(database_table(a, names[t], &x, error));
        must(database_table(b, names[t], &y, error));
        assert_int_equal(x->rows, y->rows);
        for (uint32_t c = 0; c < x->column_count; c++)
            same_column(&x->columns[c], &y->columns[c]);
        snprintf(sql, sizeof sql, "select * from %s", names[t]);
        same_answer(a, b, sql);
    }
    same_answer(
        a, b,
        "select r.label, count(*), sum(paid), min(note), count(at) from sales join shops s on s.name = shop "
        "join regions r on r.id = s.region group by r.label");
    database_close(a);
    database_close(b);
    must(database_check(left, 1, NULL, NULL, NULL, error));
}

/* ---- Tests ---- */

static void count_change(void *context, const struct table *before, const struct table *after)
{
    assert_true(before->segment_count > after->segment_count && after->segment_count == 1);
    ++*(unsigned *)context;
}

static void count_segments_left(void *context, const struct table *before, const struct table *after)
{
    assert_int_equal(before->rows, after->rows + 1);
    *(uint32_t *)context = after->segment_count;
}

static void count_segments(void *context, const struct table *before, const struct table *after)
{
    assert_int_equal(before->segment_count, 5);
    *(uint32_t *)context = after->segment_count;
}

/* Small segments become one, whose rows are the same; a second time nothing changes. */
static void check_compaction(void)
{
    struct database *database;
    unsigned changed = 0, again = 0;
    must(database_compact(path, NULL, 2, count_change, &changed, NULL, error));
    must(database_compact(path, NULL, 2, count_change, &again, NULL, error));
    assert_int_equal(again, 0);
    must(database_open(path, &database, error));
    for (uint32_t t = 0; t < database_table_count(database); t++)
        assert_true(database_table_at(database, t)->segment_count <= 1);
    database_close(database);
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

/* Facts and dimensions grow in up to three loads; new facts refer to old and new rows. */
static void appended_rows_are_as_if_loaded_at_once(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 3000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t a = 0; a < SIZES; a++)
        for (size_t b = 0; b < SIZES; b += 1 + (a > 2)) {
            const uint32_t first = sizes[a], second = sizes[b], third = 17;
            const uint32_t shops[] = {5, 5 + (b % 2 ? 40 : 0), 60};
            const struct rows parts[3][TABLES] = {
                {{0, 3}, {0, shops[0]}, {0, first}},
                {{0, 0}, {5, shops[1] - 5}, {first, second}},
                {{3, 2}, {shops[1], 60 - shops[1]}, {first + second, third}}};
            const struct rows all[TABLES] = {{0, 5}, {0, 60}, {0, first + second + third}};
            setup(NULL);
            for (int part = 0; part < 3; part++)
                must(load(path, parts[part], 5, (struct change){.append = part > 0}, error));
            must(load(whole, all, 5, (struct change){0}, error));
            same_databases(path, whole);
            check_compaction();
            same_databases(path, whole);
            teardown(NULL);
        }
}

static void all_rows_are_sorted_anew(void **state)
{
    (void)state;
    const struct rows first[TABLES] = {{0, 3}, {0, 20}, {0, 2000}},
                      second[TABLES] = {{0, 0}, {0, 0}, {2000, 1500}},
                      all[TABLES] = {{0, 3}, {0, 20}, {0, 3500}};
    must(load(path, first, 20, (struct change){.sort_by = "pieces"}, error));
    must(load(path, second, 20, (struct change){.append = true, .sort_by = "pieces"}, error));
    must(load(whole, all, 20, (struct change){.sort_by = "pieces"}, error));
    same_databases(path, whole);
}

/* Compaction of the table of the next test, after two small appends. */
static void check_large_files_stay(const int32_t *values)
{
    struct database *database;
    struct database_writer *writer;
    struct table_writer *table;
    struct old_rows old;
    const struct table *found;
    for (int append = 0; append < 2; append++) {
        must(database_writer_open(path, &writer, error));
        must(database_writer_append(writer, "t", 500, &table, error));
        must(table_writer_old(table, 0, NULL, NULL, &old, error));
        must(table_writer_segment(table, 0, old.segment, values, NULL, error));
        must(database_writer_commit(writer, error));
    }
    uint32_t after = 0;
    must(database_compact(path, "t", 2, count_segments, &after, NULL, error));
    assert_int_equal(after, 4);
    must(database_open(path, &database, error));
    must(database_table(database, "t", &found, error));
    const struct column_spans *const files = &found->columns[0].sides;
    assert_true(files->count == 3 && files->list[0].generation == 1 && files->list[1].count == 1);
    assert_true(found->segment_rows[1] == 1000 && found->segment_rows[3] == 1000);
    assert_int_equal(found->columns[0].statistics.nulls, 64);
    const uint64_t least = SEGMENT_ROWS + 2000ull; /* the row of the least value, after the first file */
    must(database_delete(path, found, &least, 1, error));
    database_close(database);
    must(database_check(path, 2, NULL, NULL, NULL, error));
    must(database_compact(path, "t", 2, count_segments_left, &after, NULL, error));
    must(database_open(path, &database, error));
    must(database_table(database, "t", &found, error));
    assert_int_equal(found->columns[0].sides.list[0].generation, 1);
    assert_int_equal(found->columns[0].statistics.min, 0);
    assert_int_equal(found->columns[0].statistics.nulls, 64);
    database_close(database);
    must(database_check(path, 2, NULL, NULL, NULL, error));
}

static void encode_also(const char *codec)
{
    struct database *database;
    const struct table *table;
    struct codec_choice choice;
    enum codec_id id;
    must(database_open(path, &database, error));
    must(database_table(database, "t", &table, error));
    must(codec_choice_parse(codec, &choice, error));
    must(database_encode(database, &table->columns[0], &choice, 1, &id, error));
    database_close(database);
}

/* Old segments stay, with their file, and new rows have segments and a file of their own. */
static void new_rows_have_their_own_segments(void **state)
{
    (void)state;
    static const struct column_schema columns[] = {{.name = "n", .type = TYPE_INT32, .nullable = true}};
    const uint64_t first = SEGMENT_ROWS + 1000, more = SEGMENT_ROWS, all = first + more;
    struct database_writer *writer;
    struct table_writer *table;
    int32_t *values = malloc(SEGMENT_ROWS * sizeof *values);
    uint64_t *validity = malloc(SEGMENT_ROWS / 8);
    struct old_rows old;
    assert_true(values && validity);
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "t", columns, 1, first, &table, error));
    must(table_writer_codec(table, 0, "lane-for", error));
    for (uint32_t row = 0; row < SEGMENT_ROWS; row++)
        values[row] = (int32_t)row;
    must(table_writer_segment(table, 0, 0, values, NULL, error));
    memset(validity, 0xff, SEGMENT_ROWS / 8);
    validity[3] = 0;
    must(table_writer_segment(table, 0, 1, values, validity, error));
    must(database_writer_commit(writer, error));
    must(database_index_create(path, "t", "n", (struct index_wish){.format = INDEX_WAH64}, 2, NULL, error));
    encode_also("plain");

    must(database_writer_open(path, &writer, error));
    must(database_writer_append(writer, "t", more, &table, error));
    assert_int_equal(table_writer_old_most(table), 0);
    must(table_writer_old(table, 0, values, validity, &old, error));
    assert_true(old.segment == 2 && old.rows == 0);
    for (uint32_t row = 0; row < SEGMENT_ROWS; row++)
        values[row] = row == 1000 ? -5 : 77;
    must(table_writer_segment(table, 0, 2, values, NULL, error));
    must(database_writer_commit(writer, error));

    struct database *database;
    const struct table *found;
    struct column_data *data;
    must(database_open(path, &database, error));
    must(database_table(database, "t", &found, error));
    assert_int_equal(found->rows, all);
    assert_int_equal(found->segment_count, 3);
    const struct column *column = &found->columns[0];
    assert_int_equal(column->own, CODEC_LANE_FOR);
    assert_int_equal(column->statistics.nulls, 64);
    assert_true(column->sides.count == 2 && column->encodings[0].files.count == 2);
    assert_int_equal(column->sides.list[0].generation, 1);
    assert_int_equal(column->statistics.min, -5);
    assert_int_equal(column->statistics.max, SEGMENT_ROWS - 1);
    must(column_data_open(database, column, column->own, 2, &data, error));
    assert_int_equal(data->codec->value(&data->segments[0].chunk, SEGMENT_ROWS - 1), SEGMENT_ROWS - 1);
    assert_int_equal(data->segments[1].chunk.rows, 1000);
    assert_int_equal(data->codec->value(&data->segments[1].chunk, 999), 999);
    assert_int_equal(data->codec->value(&data->segments[2].chunk, 999), 77);
    assert_int_equal(data->codec->value(&data->segments[2].chunk, 1000), -5);
    assert_non_null(data->segments[1].validity);
    assert_null(data->segments[2].validity);
    assert_non_null(column->index); /* which the check compares with three segments */
    assert_true(column->index->files.count == 2 && column->index->files.list[0].generation == 2);
    assert_true(column->encoding_count == 2 && column->encodings[1].codec == CODEC_PLAIN);
    assert_true(column->encodings[1].files.count == 2 && column->encodings[1].files.list[0].generation == 3);
    assert_true(column->index->bin_count > 100 && column->index->bounds[0] == -5);
    database_close(database);
    must(database_check(path, 2, NULL, NULL, NULL, error));
    check_large_files_stay(values);
    free(values);
    free(validity);
}

static const struct rows small[TABLES] = {{0, 3}, {0, 5}, {0, 100}},
                         more_sales[TABLES] = {{0, 0}, {0, 0}, {100, 50}};

static uint64_t count_sales(struct database *database)
{
    char *text = ask(database, "select count(*), count(note), sum(paid) from sales");
    const uint64_t count = strtoull(strchr(text, '\n'), NULL, 10);
    free(text);
    return count;
}

/* Columns are opened after rows were appended, and after they were replaced, here and in another process. */
static void readers_keep_the_state_that_they_opened(void **state)
{
    (void)state;
    struct database *before, *between;
    int begin[2], done;
    char byte;
    must(load(path, small, 5, (struct change){0}, error));
    const uint64_t files = directory_files(path);
    assert_int_equal(pipe(begin), 0);
    const pid_t reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        struct database *database;
        const bool opened = database_open(path, &database, NULL) == STATUS_OK;
        close(begin[0]);
        (void)!write(begin[1], "o", 1);
        for (int waits = 0; waits < 2000 && access(whole, F_OK) != 0; waits++)
            usleep(10000);
        _exit(opened && count_sales(database) == 100 ? 0 : 1);
    }
    close(begin[1]);
    assert_int_equal(read(begin[0], &byte, 1), 1);
    close(begin[0]);
    must(database_open(path, &before, error));
    must(load(path, more_sales, 5, (struct change){.append = true}, error));
    must(database_open(path, &between, error));
    must(load(path, more_sales, 5, (struct change){.append = true}, error));
    assert_int_equal(count_sales(before), 100);
    assert_int_equal(count_sales(between), 150);
    database_close(between);
    must(load(whole, small, 5, (struct change){0}, error)); /* the other process may look now */
    assert_int_equal(waitpid(reader, &done, 0), reader);
    assert_true(WIFEXITED(done) && WEXITSTATUS(done) == 0);
    assert_int_equal(count_sales(before), 100);
    database_close(before);
    must(load(path, more_sales, 5, (struct change){.append = true}, error)); /* nobody holds the old states */
    assert_int_equal(directory_files(path), files + 3 * 2 * SALES_COLUMNS);
    must(database_open(path, &before, error));
    assert_int_equal(count_sales(before), 250);
    database_close(before);
}

/* A process dies in the middle of an append or of a compaction, as early and late as its files tell. */
static void a_killed_append_changes_nothing(void **state)
{
    (void)state;
    must(load(path, small, 5, (struct change){0}, error));
    must(load(whole, small, 5, (struct change){0}, error));
    for (unsigned after = 0; after < 20; after++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            unsigned changed = 0;
            for (int again = 0; again < 1000; again++)
                if (load(path, more_sales, 5, (struct change){.append = true}, NULL) != STATUS_OK ||
                    (again % 3 == 2 &&
                     database_compact(path, "sales", 1, count_change, &changed, NULL, NULL) != STATUS_OK))
                    _exit(0);
            _exit(0);
        }
        usleep(after * 700);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        struct database *database;
        must(database_open(path, &database, error));
        assert_int_equal(count_sales(database) % 50, 0);
        database_close(database);
        must(database_check(path, 1, NULL, NULL, NULL, error));
    }
}

static void refuse(const char *schema_text, const char *rows, bool replace, const char *one, const char *two)
{
    char file[PATH_BYTES + 64];
    const char *const files[] = {file};
    struct load_input input = {.table = "shops", .paths = files, .path_count = 1};
    struct schema_script schema;
    struct load_report report;
    const struct load_options options = {.directory = path,
                                         .inputs = &input,
                                         .input_count = 1,
                                         .threads = 1,
                                         .append = true,
                                         .replace = replace};
    snprintf(file, sizeof file, "%.*s/more.csv", (int)(strlen(path) - 3), path);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(rows, out);
    fclose(out);
    must(schema_script_parse("star.sql", schema_text, strlen(schema_text), &schema, error));
    must_refuse(STATUS_BAD_INPUT, one, two, "", tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

static void what_cannot_be_appended_is_refused(void **state)
{
    (void)state;
    static const char other[] =
        "CREATE TABLE regions (id INT PRIMARY KEY, label TEXT);\n"
        "CREATE TABLE shops (name TEXT PRIMARY KEY, region INT REFERENCES regions, opened "
        "DATE NOT NULL);";
    static const char fewer[] = "CREATE TABLE shops (name TEXT PRIMARY KEY);";
    char known[64];
    refuse(script, "x,-20,\n", false, path, "cannot open database");
    must(load(path, small, 5, (struct change){0}, error));
    const uint64_t files = directory_files(path);
    snprintf(known, sizeof known, "new,-20,\nshop %u,-20,\n", scramble(2));
    refuse(script, known, false, "more.csv:2: table shops, column name",
           "is that of row 3 of the table as it was already");
    refuse(script, "new,999,\n", false, "more.csv:1: column region", "999");
    refuse(script, "new,-20,yesterday\n", false, "more.csv:1: column opened", "yesterday");
    refuse(script, "new,-20,\n", true, "--append", "--force");
    refuse(other, "new,-20,2024-01-01\n", false, "table shops, column 3",
           "opened date NOT NULL, the database opened date");
    refuse(fewer, "new\n", false, "table shops, column 2", "the database region int32");
    assert_int_equal(directory_files(path), files);
    must(load(whole, small, 5, (struct change){0}, error));
    same_databases(path, whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_rows_are_as_if_loaded_at_once),
        cmocka_unit_test_setup_teardown(all_rows_are_sorted_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(new_rows_have_their_own_segments, setup, teardown),
        cmocka_unit_test_setup_teardown(readers_keep_the_state_that_they_opened, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_append_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_appended_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
