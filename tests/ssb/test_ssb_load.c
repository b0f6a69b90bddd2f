/* test_ssb_load.c: a loaded database has the generator's values, whatever the source and the number of
 * threads. A load that fails changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ssb/data/codecs.h"
#include "ssb/data/load.h"
#include "ssb/data/origin.h"
#include "ssb/data/schema.h"
#include "tests/support/level_positions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All tests run in it. */
static struct execution execution;

#define SCALE_FACTOR 0.01 /* 60175 rows of lineorder: one segment, 59 tiles, the last one partly filled */

static char folder[128]; /* below $TMPDIR */

/* A path in the folder. It stays valid during the next 63 calls, more than any test makes. */
static const char *in_folder(const char *name)
{
    static char paths[64][256];
    static unsigned next;
    char *path = paths[next++ % 64];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static struct ssb_load_options options_for(const char *database)
{
    return (struct ssb_load_options){.data = {.scale_factor = SCALE_FACTOR},
                                     .directory = in_folder(database)};
}

static void load(const struct ssb_load_options *options)
{
    struct error error = {0};
    if (ssb_load(options, NULL, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

/* ---- Reading columns ---- */

struct open_table {
    struct database *database;
    const struct table *table;
    struct column_data *data[SSB_COLUMNS_MAX];
};

static struct open_table open_table(const char *path, enum ssb_table table)
{
    struct open_table open = {NULL, NULL, {NULL}};
    struct error error = {0};
    if (database_open(path, &open.database, &error) != STATUS_OK ||
        database_table(open.database, ssb_table_info(table)->name, &open.table, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    for (uint32_t c = 0; c < open.table->column_count; c++)
        if (column_data_open(open.database, &open.table->columns[c], open.table->columns[c].own, 1,
                             &open.data[c], &error) != STATUS_OK)
            fail_msg("%s", error.text);
    return open;
}

static void close_table(struct open_table *open)
{
    database_close(open->database);
}

static int64_t value_of(const struct open_table *open, uint32_t column, uint64_t row)
{
    const struct chunk_view *chunk = &open->data[column]->segments[row / SEGMENT_ROWS].chunk;
    return chunk->codec->value(chunk, (uint32_t)(row % SEGMENT_ROWS));
}

/* The first column's value, which is the key, of the row at a position. */
static int64_t key_at(const struct open_table *open, uint64_t position)
{
    uint64_t row = position;
    assert_true(!open->table->levels || levels_row(open->table->levels, position, &row));
    return value_of(open, 0, row);
}

static bool is_null(const struct open_table *open, uint32_t column, uint64_t row)
{
    const uint32_t *validity = open->data[column]->segments[row / SEGMENT_ROWS].validity;
    uint64_t tile = row % SEGMENT_ROWS / TILE_ROWS, item = row % TILE_ROWS;
    return validity && !(validity[tile * TILE_LANES + item % TILE_LANES] >> item / TILE_LANES & 1);
}

static void assert_string(const struct open_table *open, uint32_t column, uint64_t row, const char *expected)
{
    uint32_t length;
    const struct dictionary *dictionary;
    assert_int_equal(column_dictionary(&open->table->columns[column], 1, &dictionary, NULL), STATUS_OK);
    const char *text = dictionary_string(dictionary, (uint32_t)value_of(open, column, row), &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(text, expected, length);
}

static void assert_same_database(const char *one, const char *other)
{
    for (enum ssb_table table = 0; table < SSB_TABLES; table++) {
        struct open_table a = open_table(one, table), b = open_table(other, table);
        assert_int_equal(a.table->rows, b.table->rows);
        assert_int_equal(a.table->column_count, b.table->column_count);
        for (uint32_t c = 0; c < a.table->column_count; c++) {
            const struct column *x = &a.table->columns[c], *y = &b.table->columns[c];
            assert_memory_equal(&x->schema, &y->schema, sizeof x->schema);
            assert_memory_equal(&x->statistics, &y->statistics, sizeof x->statistics);
            assert_int_equal(x->own, y->own);
            const struct dictionary *of_x, *of_y;
            assert_int_equal(column_dictionary(x, 1, &of_x, NULL), STATUS_OK);
            assert_int_equal(column_dictionary(y, 1, &of_y, NULL), STATUS_OK);
            assert_int_equal(of_x != NULL, of_y != NULL);
            if (of_x) {
                assert_int_equal(of_x->count, of_y->count);
                assert_memory_equal(of_x->starts, of_y->starts, (of_x->count + 1) * sizeof(uint64_t));
                assert_memory_equal(of_x->bytes, of_y->bytes, of_x->starts[of_x->count]);
            }
            assert_int_equal(a.data[c]->segment_count, b.data[c]->segment_count);
            for (uint32_t s = 0; s < a.data[c]->segment_count; s++) {
                const struct chunk_view *p = &a.data[c]->segments[s].chunk,
                                        *q = &b.data[c]->segments[s].chunk;
                assert_int_equal(p->size, q->size);
                assert_memory_equal(p->bytes, q->bytes, p->size);
            }
        }
        close_table(&a);
        close_table(&b);
    }
}

/* ---- Values ---- */

/* The generator's row with this key. Keys are 1, 2, 3, ..., except for dates, which ascend. */
static uint64_t row_of_key(const struct ssb_generator *generator, enum ssb_table table, int64_t key)
{
    uint64_t low = 0, high = ssb_rows(generator, table) - 1;
    struct ssb_row middle;
    while (table == SSB_DATE && low < high) {
        ssb_generate_row(generator, table, (low + high) / 2, &middle);
        if (middle.numbers[0] < key)
            low = (low + high) / 2 + 1;
        else
            high = (low + high) / 2;
    }
    return table == SSB_DATE ? low : (uint64_t)key - 1;
}

static void check_dimension(const char *path, const struct ssb_generator *generator, enum ssb_table table)
{
    struct open_table open = open_table(path, table);
    const struct ssb_table_info *info = ssb_table_info(table);
    assert_int_equal(open.table->rows, ssb_rows(generator, table));
    for (uint64_t row = 0; row < open.table->rows; row++) {
        struct ssb_row expected;
        const uint64_t made = row_of_key(generator, table, value_of(&open, 0, row));
        ssb_generate_row(generator, table, made, &expected);
        assert_true(open.table->levels || made == row);
        for (uint32_t c = 0; c < info->column_count; c++)
            if (info->columns[c].number)
                assert_int_equal(value_of(&open, c, row), expected.numbers[c]);
            else
                assert_string(&open, c, row, expected.strings[c]);
    }
    assert_true(open.table->columns[0].schema.primary_key);
    close_table(&open);
}

static void check_rows(const struct ssb_load_options *options)
{
    load(options);
    struct ssb_generator *generator;
    assert_int_equal(ssb_generator_create(&options->data, 0, &generator, NULL), STATUS_OK);
    for (enum ssb_table table = 0; table < SSB_LINEORDER; table++)
        check_dimension(options->directory, generator, table);

    struct open_table open = open_table(options->directory, SSB_LINEORDER);
    struct open_table dimensions[SSB_LINEORDER];
    for (enum ssb_table table = 0; table < SSB_LINEORDER; table++)
        dimensions[table] = open_table(options->directory, table);
    const struct ssb_table_info *info = ssb_table_info(SSB_LINEORDER);
    uint64_t rows = ssb_rows(generator, SSB_LINEORDER);
    assert_int_equal(open.table->rows, rows);
    assert_int_equal(open.table->columns[LO_ORDERKEY].value_bytes, 4);
    int32_t *columns[SSB_COLUMNS_MAX];
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        assert_non_null(columns[c] = malloc(rows * (c == LO_ORDERKEY ? 8 : 4)));
    ssb_generate_lineorder(generator, 0, rows, (void *const *)columns);
    for (uint32_t c = 0; c < LO_COLUMNS; c++) {
        const char *const *words = NULL;
        if (!info->columns[c].number)
            ssb_lineorder_words(generator, c, &words);
        for (uint64_t row = 0; row < rows; row++) {
            int64_t stored = value_of(&open, c, row);
            if (c == LO_ORDERKEY)
                assert_int_equal(stored, ((int64_t *)columns[c])[row]);
            else if (words)
                assert_string(&open, c, row, words[columns[c][row]]);
            else if (ssb_referenced_table(c) != SSB_TABLES)
                assert_int_equal(key_at(&dimensions[ssb_referenced_table(c)], (uint64_t)stored),
                                 columns[c][row]);
            else
                assert_int_equal(stored, columns[c][row]);
        }
        assert_int_equal(open.table->columns[c].references != NULL, ssb_referenced_table(c) != SSB_TABLES);
        assert_int_equal(open.table->columns[c].statistics.nulls, 0);
        free(columns[c]);
    }
    for (enum ssb_table table = 0; table < SSB_LINEORDER; table++)
        close_table(&dimensions[table]);
    close_table(&open);
    ssb_generator_destroy(generator);
}

static void the_rows_are_the_generators(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct ssb_load_options options = options_for(order ? "file.db" : "generated.db");
        options.dimension_order = order ? DIMENSION_FILE : DIMENSION_LEVELS;
        check_rows(&options);
        struct open_table date = open_table(options.directory, SSB_DATE);
        assert_int_equal(date.table->levels == NULL, order);
        close_table(&date);
    }
}

static void text_and_generator_make_the_same_database(void **state)
{
    (void)state;
    struct ssb_load_options options = options_for("text.db");
    struct ssb_generator *generator;
    assert_int_equal(ssb_generator_create(&options.data, 0, &generator, NULL), STATUS_OK);
    for (enum ssb_table table = 0; table < SSB_TABLES; table++)
        assert_int_equal(ssb_write_tbl(generator, table, in_folder("tbl"), 0, NULL, NULL), STATUS_OK);
    ssb_generator_destroy(generator);
    options.from = in_folder("tbl");
    options.data.scale_factor = 0;
    load(&options);
    assert_same_database(in_folder("generated.db"), options.directory);
}

static void threads_do_not_change_the_database(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        struct ssb_load_options options = options_for("threads.db");
        options.threads = threads;
        options.replace = threads > 1;
        load(&options);
        assert_same_database(in_folder("generated.db"), options.directory);
    }
    struct ssb_load_options options = options_for("threads.db");
    options.threads = 3;
    options.replace = true;
    options.from = in_folder("tbl");
    load(&options);
    assert_same_database(in_folder("generated.db"), options.directory);
}

/* ---- Keys without a dimension row ---- */

/* Rows that are made and rows that are read get the same places, whatever columns make the cells. */
static void clustered_rows_have_the_same_places(void **state)
{
    static const char *const clusterings[] = {"auto", "lo_orderdate:2,lo_custkey:2,lo_discount:3"};
    (void)state;
    for (int c = 0; c < 2; c++) {
        struct ssb_load_options options = options_for("made.db");
        options.cluster_by = clusterings[c];
        options.threads = 1;
        options.replace = true;
        load(&options);
        options.directory = in_folder("threads.db");
        options.threads = 3;
        load(&options);
        assert_same_database(in_folder("made.db"), in_folder("threads.db"));
        options.from = in_folder("tbl");
        load(&options);
        assert_same_database(in_folder("made.db"), in_folder("threads.db"));
        struct open_table table = open_table(in_folder("made.db"), SSB_LINEORDER);
        assert_int_equal(table.table->clustering.count, c ? 3 : 2);
        close_table(&table);
    }
}

static void keys_without_a_row_are_an_error(void **state)
{
    (void)state;
    struct ssb_load_options options = options_for("dangling.db");
    options.data.dates = SSB_DATES_CLASSIC; /* 25 dates */
    struct error error = {0};
    assert_int_equal(ssb_load(&options, NULL, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(
        error.text, "of table lineorder: column lo_orderdate: no row of table date has d_datekey '199"));
    assert_non_null(strstr(error.text, "--dangling null"));
    assert_int_not_equal(access(options.directory, F_OK), 0);
}

static void keys_without_a_row_can_be_null(void **state)
{
    (void)state;
    struct ssb_load_options options = options_for("null.db");
    options.data.dates = SSB_DATES_CLASSIC;
    options.dangling_null = true;
    load(&options);
    struct ssb_generator *generator;
    assert_int_equal(ssb_generator_create(&options.data, 0, &generator, NULL), STATUS_OK);
    struct open_table open = open_table(options.directory, SSB_LINEORDER);
    struct open_table date = open_table(options.directory, SSB_DATE);
    uint64_t rows = ssb_rows(generator, SSB_LINEORDER), nulls = 0;
    int32_t *dates = malloc(rows * sizeof *dates);
    assert_non_null(dates);
    void *columns[SSB_COLUMNS_MAX] = {[LO_ORDERDATE] = dates};
    ssb_generate_lineorder(generator, 0, rows, columns);
    int64_t last = date.table->columns[0].statistics.max;
    for (uint64_t row = 0; row < rows; row++) {
        assert_int_equal(is_null(&open, LO_ORDERDATE, row), dates[row] > last);
        nulls += dates[row] > last;
        if (dates[row] <= last)
            assert_int_equal(key_at(&date, (uint64_t)value_of(&open, LO_ORDERDATE, row)), dates[row]);
    }
    assert_true(nulls > rows * 9 / 10 && nulls < rows);
    assert_int_equal(open.table->columns[LO_ORDERDATE].statistics.nulls, nulls);
    assert_true(open.table->columns[LO_CUSTKEY].schema.nullable);
    assert_int_equal(open.table->columns[LO_CUSTKEY].statistics.nulls, 0);
    free(dates);
    close_table(&date);
    close_table(&open);
    ssb_generator_destroy(generator);
}

/* ---- Codecs ---- */

static void columns_have_the_codecs_asked_for(void **state)
{
    (void)state;
    struct ssb_load_options options = options_for("codecs.db");
    options.codecs = "p_brand1=plain,lane-for,lo_tax=nsf";
    load(&options);
    struct open_table lineorder = open_table(options.directory, SSB_LINEORDER);
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        assert_int_equal(lineorder.table->columns[c].own, c == LO_TAX ? CODEC_NSF : CODEC_LANE_FOR);
    close_table(&lineorder);
    struct open_table part = open_table(options.directory, SSB_PART);
    for (uint32_t c = 0; c < part.table->column_count; c++)
        assert_int_equal(part.table->columns[c].own, c == 4 ? CODEC_PLAIN : CODEC_NSF);
    close_table(&part);
}

static void codec_lists_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const char *const lists[][2] = {
        {"gzip", "gzip"},
        {"lo_tax=gzip", "gzip"},
        {"lo_taxes=plain", "'lo_taxes'"},
        {"plain,nsf", "twice, plain and nsf"},
        {"lo_tax=plain,lo_tax=nsf", "lo_tax twice, plain and nsf"},
        {"=plain", "'=plain'"},
        {"", "''"},
        {"plain,", "''"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char codecs[SSB_CODECS_BYTES];
        struct error error = {0};
        assert_int_equal(ssb_codecs_list(lists[i][0], codecs, &error), STATUS_BAD_INPUT);
        if (!strstr(error.text, lists[i][1]))
            fail_msg("\"%s\" gave: %s", lists[i][0], error.text);
    }
}

/* ---- The origin of a database, and files that a load must not touch ---- */

static void the_database_says_what_it_was_made_from(void **state)
{
    (void)state;
    struct ssb_origin origin;
    assert_int_equal(ssb_origin_read(in_folder("null.db"), &origin, NULL), STATUS_OK);
    assert_true(origin.options.scale_factor == SCALE_FACTOR);
    assert_int_equal(origin.options.dates, SSB_DATES_CLASSIC);
    assert_true(origin.dangling_null);
    assert_null(origin.from);
    ssb_origin_free(&origin);
    assert_int_equal(ssb_origin_read(in_folder("text.db"), &origin, NULL), STATUS_OK);
    assert_true(origin.options.scale_factor == 0);
    assert_false(origin.dangling_null);
    assert_string_equal(origin.from, in_folder("tbl"));
    ssb_origin_free(&origin);
}

static void an_origin_that_is_damaged_or_missing_is_refused(void **state)
{
    (void)state;
    const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"scale_factor\": 0, \"mode\": \"single\", \"variant\": \"eyalroz\", \"date_table\": \"full\", "
        "\"dangling\": \"error\", \"from\": null}",
        "{\"scale_factor\": null, \"mode\": \"single\", \"variant\": \"eyalroz\", \"date_table\": \"full\", "
        "\"dangling\": \"error\", \"from\": null}",
        "{\"scale_factor\": 1, \"mode\": \"double\", \"variant\": \"eyalroz\", \"date_table\": \"full\", "
        "\"dangling\": \"error\", \"from\": null}",
        "{\"scale_factor\": 1, \"mode\": \"single\", \"variant\": \"eyalroz\", \"date_table\": \"full\", "
        "\"dangling\": \"error\", \"from\": \"here\"}",
        "{\"scale_factor\": 1, \"mode\": \"single\", \"variant\": \"eyalroz\", \"date_table\": \"full\", "
        "\"dangling\": 7, \"from\": null}",
        "{\"scale_factor\": 1, \"mode\": \"single\", \"variant\": \"eyalroz\", \"date_table\": \"full\", "
        "\"skew\": \"yes\", \"dangling\": \"error\", \"from\": null}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(in_folder(SSB_ORIGIN_FILE), "w");
        assert_non_null(file);
        fputs(texts[i], file);
        assert_int_equal(fclose(file), 0);
        struct ssb_origin origin;
        struct error error = {0};
        assert_int_equal(ssb_origin_read(folder, &origin, &error), STATUS_BAD_INPUT);
        assert_non_null(strstr(error.text, in_folder(SSB_ORIGIN_FILE)));
    }
    assert_int_equal(unlink(in_folder(SSB_ORIGIN_FILE)), 0);
    struct ssb_origin origin;
    struct error error = {0};
    assert_int_equal(ssb_origin_read(folder, &origin, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "is missing"));
}

static void a_database_is_replaced_only_if_asked(void **state)
{
    (void)state;
    struct ssb_load_options options = options_for("codecs.db");
    struct error error = {0};
    assert_int_equal(ssb_load(&options, NULL, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "--force"));
    options.replace = true;
    load(&options);
    assert_same_database(in_folder("generated.db"), options.directory);
}

static void a_replacement_that_fails_changes_nothing(void **state)
{
    (void)state;
    struct ssb_load_options options = options_for("codecs.db");
    options.replace = true;
    options.data.dates = SSB_DATES_CLASSIC;
    assert_int_equal(ssb_load(&options, NULL, NULL), STATUS_BAD_INPUT);
    assert_same_database(in_folder("generated.db"), options.directory);
    struct ssb_origin origin;
    assert_int_equal(ssb_origin_read(options.directory, &origin, NULL), STATUS_OK);
    assert_int_equal(origin.options.dates, SSB_DATES_FULL);
    ssb_origin_free(&origin);
    assert_int_equal(database_check(options.directory, 0, NULL, NULL, NULL, NULL), STATUS_OK);
}

/* Cancels the load when it reaches the table whose name is `context`. */
static void stop_at_table(struct progress *progress, const char *what, const char *unit, uint64_t done,
                          uint64_t total)
{
    (void)unit;
    assert_true(done <= total);
    if (strstr(what, progress->context))
        execution_stop(&execution);
}

static void stopping_leaves_nothing(void **state)
{
    (void)state;
    char *const stops[] = {"part", "date", "lineorder", "storing"};
    for (size_t s = 0; s < 2 * sizeof stops / sizeof *stops; s++) {
        struct ssb_load_options options = options_for("stopped.db");
        options.from = s % 2 ? in_folder("tbl") : NULL;
        struct progress progress = {.report = stop_at_table, .context = stops[s / 2]};
        assert_int_equal(ssb_load(&options, &progress, NULL), STATUS_INTERRUPTED);
        execution_resume(&execution);
        assert_int_not_equal(access(options.directory, F_OK), 0);
    }
}

static void order_keys_are_wide_where_they_must_be(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct schema_script schema;
        assert_int_equal(ssb_schema_make(wide, false, &schema, NULL), STATUS_OK);
        assert_int_equal(schema.table_count, SSB_TABLES);
        assert_int_equal(schema.tables[SSB_LINEORDER].columns[LO_ORDERKEY].type,
                         wide ? TYPE_INT64 : TYPE_INT32);
        schema_script_free(&schema);
    }
}

/* Of text, too: where one key of lineorder.tbl does not fit in 32 bits. */
static void order_keys_of_text_are_wide_where_one_is(void **state)
{
    (void)state;
    static const char *const keys[] = {"2147483647", "2147483648", "-2147483649"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "rm -rf %s/wide && cp -r %s/tbl %s/wide && sed -i '777s/^[0-9]*/%s/' %s/wide/lineorder.tbl",
                 folder, folder, folder, keys[k], folder);
        assert_int_equal(system(command), 0);
        struct ssb_load_options options = options_for("wide.db");
        options.from = in_folder("wide");
        options.replace = true;
        load(&options);
        struct open_table open = open_table(options.directory, SSB_LINEORDER);
        assert_int_equal(open.table->columns[LO_ORDERKEY].schema.type, k ? TYPE_INT64 : TYPE_INT32);
        assert_int_equal(value_of(&open, LO_ORDERKEY, 776), strtoll(keys[k], NULL, 10));
        assert_int_equal(value_of(&open, LO_ORDERKEY, 0), 1);
        close_table(&open);
    }
}

/* From the generator and from text, in the order of a column or not. */
static void columns_have_the_indexes_asked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"indexed", "indexed_text", "indexed_sorted"};
    for (uint32_t n = 0; n < 3; n++) {
        struct ssb_load_options options = options_for(names[n]);
        options.indexes = "lo_discount,LO_Quantity,lo_orderdate,d_year";
        options.from = n == 1 ? in_folder("tbl") : NULL;
        options.sort_by = n == 2 ? "lo_orderdate" : NULL;
        load(&options);
        struct open_table open = open_table(options.directory, SSB_LINEORDER);
        for (uint32_t c = 0; c < open.table->column_count; c++)
            assert_int_equal(open.table->columns[c].index != NULL,
                             c == LO_DISCOUNT || c == LO_QUANTITY || c == LO_ORDERDATE);
        assert_int_equal(open.table->columns[LO_DISCOUNT].index->bin_count, 11);
        assert_int_equal(open.table->columns[LO_QUANTITY].index->bin_count, 50);
        close_table(&open);
        assert_int_equal(database_check(options.directory, 2, NULL, NULL, NULL, NULL), STATUS_OK);
    }
    struct error error = {0};
    struct ssb_load_options wrong = options_for("indexed_wrong");
    wrong.indexes = "lo_discount,lo_weight";
    assert_int_equal(ssb_load(&wrong, NULL, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "lo_weight"));
    assert_int_not_equal(access(wrong.directory, F_OK), 0);
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/tessera-load-XXXXXX", base ? base : "/tmp");
    char *made = mkdtemp(folder) ? realpath(folder, NULL) : NULL; /* an origin has real paths */
    if (!made || strlen(made) >= sizeof folder)
        return -1;
    strcpy(folder, made);
    free(made);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_are_the_generators),
        cmocka_unit_test(text_and_generator_make_the_same_database),
        cmocka_unit_test(threads_do_not_change_the_database),
        cmocka_unit_test(clustered_rows_have_the_same_places),
        cmocka_unit_test(keys_without_a_row_are_an_error),
        cmocka_unit_test(keys_without_a_row_can_be_null),
        cmocka_unit_test(columns_have_the_codecs_asked_for),
        cmocka_unit_test(columns_have_the_indexes_asked_for),
        cmocka_unit_test(codec_lists_that_make_no_sense_are_refused),
        cmocka_unit_test(the_database_says_what_it_was_made_from),
        cmocka_unit_test(an_origin_that_is_damaged_or_missing_is_refused),
        cmocka_unit_test(a_database_is_replaced_only_if_asked),
        cmocka_unit_test(a_replacement_that_fails_changes_nothing),
        cmocka_unit_test(stopping_leaves_nothing),
        cmocka_unit_test(order_keys_are_wide_where_they_must_be),
        cmocka_unit_test(order_keys_of_text_are_wide_where_one_is),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
