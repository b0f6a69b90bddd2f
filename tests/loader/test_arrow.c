/*
 * test_arrow.c: tables and answers go out as Arrow streams and come in again as they were, at odd sizes and with NULLs;
 * arrays with offsets, dictionaries and views are read as Arrow means them; what is not what it says is refused; and
 * every stream, schema and batch is released once, whatever happens.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/arrow_export.h"
#include "tests/support/one_directory.h"
#include "tests/support/sql/sql_star.h"

#include <errno.h>

static enum status load(const char *script, const char *table, struct ArrowArrayStream *stream,
                        struct error *why)
{
    struct schema_script schema;
    struct load_report report;
    const struct load_input input = {.table = table, .stream = stream};
    const struct load_options options = {
        .directory = path, .inputs = &input, .input_count = 1, .threads = 2, .replace = true};
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    const enum status status = tables_load(&schema, &options, &report, NULL, why);
    schema_script_free(&schema);
    return status;
}

/* What the database at `path` says is what `expected` says. */
static void now_answers(const char *sql, const char *expected)
{
    struct database *database;
    must(database_open(path, &database, error));
    char *text = sql_answer(star_engine, database, sql);
    assert_string_equal(text, expected);
    free(text);
    database_close(database);
}

/* ---- There and back ---- */

static void tables_come_back_as_they_were(void **state)
{
    (void)state;
    static const char *const order[] = {"regions", "shops", "products", "sales", "visits"};
    for (size_t t = 0; t < sizeof order / sizeof *order; t++) {
        const struct table *table;
        struct ArrowArrayStream stream;
        char sql[64];
        must(database_table(star_database, order[t], &table, error));
        must(arrow_export_table(star_database, table, 1, &stream, error));
        must(load(star_script, order[t], &stream, error));
        assert_null(stream.release);
        snprintf(sql, sizeof sql, "select * from %s", order[t]);
        char *as_it_was = sql_answer(star_engine, star_database, sql);
        now_answers(sql, as_it_was);
        free(as_it_was);
    }
}

static const char values_script[] = "CREATE TABLE v (n BIGINT, t TEXT, d DECIMAL(9,2), day DATE)";

/* Through memory, columns, an answer, a stream, and columns again. */
static void rows_of_every_number_come_back(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 65535, 65536, 65537, 150000};
    enum { MOST = 150000 };
    static int64_t numbers[MOST];
    static uint8_t nulls[MOST];
    static const char *texts[MOST], *decimals[MOST], *days[MOST];
    static char kept[997][16];
    for (uint32_t i = 0; i < MOST; i++) {
        snprintf(kept[i % 997], sizeof kept[0], "%u", i % 997);
        numbers[i] = (int64_t)(i * 0x9e3779b97f4a7c15ull);
        nulls[i] = i % 5 == 3;
        texts[i] = i % 7 ? kept[i % 997] : NULL;
        decimals[i] = i % 11 ? kept[i % 997] : NULL;
        days[i] = i % 3 ? "2024-02-29" : "1969-12-31";
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const struct tessera_values columns[] = {{.name = "N", .numbers = numbers, .nulls = nulls},
                                                 {.name = "day", .texts = days},
                                                 {.name = "d", .texts = decimals},
                                                 {.name = "t", .texts = texts}};
        struct ArrowArrayStream stream, again;
        struct database *database;
        struct sql_statement *statement;
        struct rowset rows;
        size_t used;
        setup(NULL);
        must(arrow_export_values(columns, 4, sizes[s], &stream, error));
        must(load(values_script, "v", &stream, error));
        must(database_open(path, &database, error));
        must(sql_prepare(star_engine, database, "select n, t, d, day from v", 26, NULL, &statement, &used,
                         error));
        must(sql_run(statement, &rows, NULL, error));
        assert_int_equal(rows.rows, sizes[s]);
        char *before = sql_answer(star_engine, database, "select * from v");
        must(arrow_export_rows(&rows, &again, error));
        sql_statement_free(statement);
        database_close(database);
        must(load(values_script, "v", &again, error)); /* the stream outlives the database */
        now_answers("select * from v", before);
        free(before);
        teardown(NULL);
    }
}

/* Blocks of rows are stored by columns until one has a wrong value: its rows are read one by one, and all others are kept. */
static void wrong_values_leave_their_rows_out(void **state)
{
    (void)state;
    enum { ROWS = 140000 };
    static int64_t numbers[ROWS];
    static uint8_t nulls[ROWS];
    static const char *texts[ROWS], *decimals[ROWS];
    static const char *const words[] = {"one", "two", "three hundred and more", ""};
    for (uint32_t i = 0; i < ROWS; i++) {
        numbers[i] = i;
        nulls[i] = i % 10 == 9;
        texts[i] = words[i % 4];
        decimals[i] = i == 70001 || i == 139999 ? "1.5x" : i % 2 ? "2.25" : NULL;
    }
    const struct tessera_values columns[] = {{.name = "n", .numbers = numbers, .nulls = nulls},
                                             {.name = "day", .texts = texts},
                                             {.name = "d", .texts = decimals}};
    const char *const script = "CREATE TABLE v (d DECIMAL(9,2), n BIGINT, day TEXT)";
    struct schema_script schema;
    struct ArrowArrayStream stream;
    struct load_report report;
    struct error why;
    const struct load_input input = {.table = "v", .stream = &stream};
    struct load_options options = {
        .directory = path, .inputs = &input, .input_count = 1, .threads = 3, .max_errors = 2};
    must(arrow_export_values(columns, 3, ROWS, &stream, error));
    must(schema_script_parse("v.sql", script, strlen(script), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    assert_int_equal(report.rejected, 2);
    assert_string_equal(report.first_rejected,
                        "the stream of table v, row 70002: column d: '1.5x' is no number");
    now_answers("select count(*), sum(n), count(d), sum(d), count(distinct day) from v",
                "count(*),sum(n),count(d),sum(d),count(distinct day)\n139998,8819803999,69998,157495.50,4\n");
    now_answers("select n, day, d from v where n in (70000, 70002, 131071)",
                "n,day,d\n70000,one,\n70002,three hundred and more,\n131071,\"\",2.25\n");
    must(arrow_export_values(columns, 3, ROWS, &stream, error));
    options.max_errors = 1;
    options.replace = true;
    assert_int_equal(tables_load(&schema, &options, &report, NULL, &why), STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, "row 140000: column d: '1.5x'"));
    schema_script_free(&schema);
}

/* ---- Arrays made by hand ---- */

/* A stream of one batch of one column; it counts what is released. */
struct hand {
    struct ArrowArrayStream stream;
    const char *format, *dictionary_format, *name;
    struct ArrowArray array, dictionary;
    int64_t batch_offset, batch_length;
    int failing; /* errno that get_next gives instead of the batch */
    bool given;
    int streams, schemas, batches;
};

static struct hand *hand_of(void *private_data)
{
    return private_data;
}

static void release_schema(struct ArrowSchema *schema)
{
    hand_of(schema->private_data)->schemas++;
    free(schema->children[0]->dictionary);
    free(schema->children[0]);
    free(schema->children);
    schema->release = NULL;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct hand *hand = stream->private_data;
    *out = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = 1, .release = release_schema, .private_data = hand};
    out->children = calloc(1, sizeof *out->children);
    out->children[0] = calloc(1, sizeof **out->children);
    out->children[0]->format = hand->format;
    out->children[0]->name = hand->name;
    if (hand->dictionary_format) {
        out->children[0]->dictionary = calloc(1, sizeof *out);
        out->children[0]->dictionary->format = hand->dictionary_format;
    }
    hand->schemas--;
    return 0;
}

static void release_batch(struct ArrowArray *array)
{
    hand_of(array->private_data)->batches++;
    free(array->children);
    array->release = NULL;
}

static int give_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static const void *no_validity[1];
    struct hand *hand = stream->private_data;
    *out = (struct ArrowArray){0};
    if (hand->failing)
        return hand->failing;
    if (hand->given)
        return 0;
    hand->given = true;
    *out = (struct ArrowArray){.length = hand->batch_length,
                               .offset = hand->batch_offset,
                               .n_buffers = 1,
                               .buffers = no_validity,
                               .n_children = 1,
                               .release = release_batch,
                               .private_data = hand};
    out->children = calloc(1, sizeof *out->children);
    out->children[0] = &hand->array;
    if (hand->dictionary_format)
        hand->array.dictionary = &hand->dictionary;
    hand->batches--;
    return 0;
}

static const char *give_error(struct ArrowArrayStream *stream)
{
    return hand_of(stream->private_data)->failing ? "the wire is cut" : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    hand_of(stream->private_data)->streams++;
    stream->release = NULL;
}

/* Loads the column as `type`; the answer, or with `refusal` the sentence. */
static void by_hand(struct hand *hand, const char *type, const char *rows, const char *refusal)
{
    char script[128];
    struct error why = {0};
    hand->stream = (struct ArrowArrayStream){give_schema, give_batch, give_error, release_stream, hand};
    hand->name = hand->name ? hand->name : "x";
    hand->batch_length = hand->batch_length ? hand->batch_length : hand->array.length - hand->batch_offset;
    hand->given = false;
    hand->streams = hand->schemas = hand->batches = 0;
    snprintf(script, sizeof script, "CREATE TABLE t (x %s)", type);
    const enum status status = load(script, "t", &hand->stream, &why);
    assert_int_equal(hand->streams, 1);
    assert_int_equal(hand->schemas, 0);
    assert_int_equal(hand->batches, 0);
    if (refusal ? status != STATUS_BAD_INPUT || !strstr(why.text, refusal) : status != STATUS_OK)
        fail_msg("%s as %s: status %d, %s", hand->format, type, (int)status, why.text);
    if (rows)
        now_answers("select * from t", rows);
}

#define ARRAY(rows, first, ...)                                                           \
    {                                                                                     \
        .length = (rows), .null_count = -1, .offset = (first),                            \
        .n_buffers = sizeof(const void *[]){__VA_ARGS__} / 8, .buffers = (const void *[]) \
        {                                                                                 \
            __VA_ARGS__                                                                   \
        }                                                                                 \
    }

static void offsets_bits_and_widths_are_arrows(void **state)
{
    (void)state;
    static const int8_t small[] = {99, -1, 2, -128};
    static const uint64_t large[] = {1, INT64_MAX, UINT64_MAX};
    static const uint8_t valid[] = {0x0d}, bits[] = {0x2a};
    static const int32_t days[] = {-1, 19782}, starts[] = {3, 3, 4, 9};
    static const int64_t milliseconds[] = {86400000, -86400000}, nanoseconds[] = {1000, -1000, 1},
                         seconds[] = {1709251199, -1};
    static const __int128 decimals[] = {12345, -99900, (__int128)1 << 100};
    static const char bytes[] = "...xcolor";
    static const uint16_t indices[] = {2, 0, 1, 7};
    by_hand(&(struct hand){.format = "c", .array = ARRAY(3, 1, valid, small)}, "INT", "x\n\n2\n-128\n", NULL);
    by_hand(&(struct hand){.format = "c", .array = ARRAY(4, 0, NULL, small), .batch_offset = 2}, "BIGINT",
            "x\n2\n-128\n", NULL);
    by_hand(&(struct hand){.format = "L", .array = ARRAY(2, 0, NULL, large)}, "BIGINT",
            "x\n1\n9223372036854775807\n", NULL);
    by_hand(
        &(struct hand){.format = "L", .array = ARRAY(3, 0, NULL, large)}, "BIGINT", NULL,
        "row 3: column x: '18446744073709551615' is out of range: the column holds -9223372036854775808 to "
        "9223372036854775807");
    by_hand(&(struct hand){.format = "c", .array = ARRAY(3, 1, NULL, small)}, "DECIMAL(4,1)",
            "x\n-1.0\n2.0\n-128.0\n", NULL);
    by_hand(&(struct hand){.format = "c", .array = ARRAY(3, 1, NULL, small)}, "DECIMAL(3,1)", NULL,
            "'-128' is out of range: the column holds -99.9 to 99.9");
    by_hand(&(struct hand){.format = "b", .array = ARRAY(4, 2, NULL, bits)}, "BOOLEAN",
            "x\nfalse\ntrue\nfalse\ntrue\n", NULL);
    by_hand(&(struct hand){.format = "c", .array = ARRAY(1, 2, NULL, small)}, "BOOLEAN", NULL,
            "is neither 0 nor 1");
    by_hand(&(struct hand){.format = "tdD", .array = ARRAY(2, 0, NULL, days)}, "DATE",
            "x\n1969-12-31\n2024-02-29\n", NULL);
    by_hand(&(struct hand){.format = "tdm", .array = ARRAY(2, 0, NULL, milliseconds)}, "DATE",
            "x\n1970-01-02\n1969-12-31\n", NULL);
    by_hand(&(struct hand){.format = "tdD", .array = ARRAY(1, 1, NULL, days)}, "TIMESTAMP",
            "x\n2024-02-29 00:00:00\n", NULL);
    by_hand(&(struct hand){.format = "tss:UTC", .array = ARRAY(2, 0, NULL, seconds)}, "TIMESTAMP",
            "x\n2024-02-29 23:59:59\n1969-12-31 23:59:59\n", NULL);
    by_hand(&(struct hand){.format = "tsn:", .array = ARRAY(2, 0, NULL, nanoseconds)}, "TIMESTAMP",
            "x\n1970-01-01 00:00:00.000001\n1969-12-31 23:59:59.999999\n", NULL);
    by_hand(&(struct hand){.format = "tsn:", .array = ARRAY(3, 0, NULL, nanoseconds)}, "TIMESTAMP", NULL,
            "parts of a microsecond");
    by_hand(&(struct hand){.format = "d:10,3", .array = ARRAY(2, 0, NULL, decimals)}, "DECIMAL(8,4)",
            "x\n12.3450\n-99.9000\n", NULL);
    by_hand(&(struct hand){.format = "d:10,3", .array = ARRAY(1, 0, NULL, decimals)}, "DECIMAL(8,2)", NULL,
            "'12.345' has more decimals than the column");
    by_hand(&(struct hand){.format = "d:10,3", .array = ARRAY(1, 1, NULL, decimals)}, "DECIMAL(8,1)",
            "x\n-99.9\n", NULL);
    by_hand(&(struct hand){.format = "d:38,0", .array = ARRAY(1, 2, NULL, decimals)}, "DECIMAL(18,0)", NULL,
            "'1267650600228229401496703205376' is out of range: the column holds -999999999999999999 to ");
    by_hand(&(struct hand){.format = "u", .array = ARRAY(3, 0, NULL, starts, bytes)}, "TEXT",
            "x\n\"\"\nx\ncolor\n", NULL);
    by_hand(&(struct hand){.format = "u", .array = ARRAY(1, 1, NULL, starts, bytes)}, "INT", NULL,
            "'x' is no whole number");
    by_hand(&(struct hand){.format = "S",
                           .dictionary_format = "u",
                           .array = ARRAY(3, 0, valid, indices),
                           .dictionary = ARRAY(3, 0, NULL, starts, bytes)},
            "TEXT", "x\ncolor\n\nx\n", NULL);
    by_hand(&(struct hand){.format = "S",
                           .dictionary_format = "u",
                           .array = ARRAY(4, 0, NULL, indices),
                           .dictionary = ARRAY(3, 0, NULL, starts, bytes)},
            "TEXT", NULL, "does not keep to Arrow's layout");
    by_hand(&(struct hand){.format = "n", .array = {.length = 2}}, "TEXT", "x\n\n\n", NULL);
}

static void views_are_read_in_place_and_by_buffer(void **state)
{
    (void)state;
    static const char far_away[] = "--a string of more than twelve bytes";
    static const int64_t sizes[] = {36};
    int32_t views[3][4] = {{5}, {34, 0, 0, 2}, {34, 0, 1, 2}};
    memcpy(&views[0][1], "inner", 5);
    by_hand(&(struct hand){.format = "vu", .array = ARRAY(2, 0, NULL, views, far_away, sizes)}, "TEXT",
            "x\ninner\na string of more than twelve bytes\n", NULL);
    by_hand(&(struct hand){.format = "vu", .array = ARRAY(3, 0, NULL, views, far_away, sizes)}, "TEXT", NULL,
            "does not keep to Arrow's layout");
}

static void what_is_not_as_it_says_is_refused(void **state)
{
    (void)state;
    static const int32_t values[] = {1, 2}, backwards[] = {4, 1};
    static const char bytes[] = "abcd";
    static const char layout[] = "does not keep to Arrow's layout";
    static const int32_t whole[] = {0, 2};
    by_hand(&(struct hand){.format = "u", .array = ARRAY(1, 0, NULL, whole, "a\xff")}, "TEXT", NULL,
            "is no UTF-8");
    by_hand(&(struct hand){.format = "i", .name = "y", .array = ARRAY(2, 0, NULL, values)}, "INT", NULL,
            "has no column x");
    by_hand(&(struct hand){.format = "g", .array = ARRAY(1, 0, NULL, values)}, "DECIMAL(8,2)", NULL,
            "floating-point numbers to decimals");
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, 0, NULL, values)}, "TEXT", NULL,
            "cannot be stored as string");
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, 0, NULL, values), .failing = EIO}, "INT", NULL,
            "behind row 0: the wire is cut");
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, 0, NULL, values), .batch_length = 3}, "INT", NULL,
            layout);
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, -1, NULL, values)}, "INT", NULL, layout);
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, 0, NULL, values), .batch_length = -5}, "INT",
            NULL, layout);
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, 0, NULL, values), .batch_offset = -1}, "INT",
            NULL, layout);
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, 0, NULL)}, "INT", NULL, layout);
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, 0, NULL, NULL)}, "INT", NULL, layout);
    by_hand(&(struct hand){.format = "u", .array = ARRAY(1, 0, NULL, backwards, bytes)}, "TEXT", NULL,
            layout);
    by_hand(&(struct hand){.format = "i", .array = ARRAY(2, INT64_MAX - 1, NULL, values)}, "INT", NULL,
            layout);
}

/* A load that fails before a stream's turn releases it all the same. */
static void streams_are_released_if_the_load_never_reads_them(void **state)
{
    (void)state;
    struct hand hand = {.format = "i", .name = "x"};
    struct ArrowArrayStream *const streams[] = {&hand.stream};
    static const char *const tables[] = {"t"}, *const scripts[] = {"CREATE TABLE", "CREATE TABLE u (x INT)"};
    struct tessera_error error;
    for (int i = 0; i < 2; i++) {
        hand.stream = (struct ArrowArrayStream){give_schema, give_batch, give_error, release_stream, &hand};
        hand.streams = 0;
        assert_int_equal(
            tessera_load_arrow(path, scripts[i], tables, streams, 1, TESSERA_LOAD_NEW, NULL, &error),
            TESSERA_BAD_INPUT);
        assert_int_equal(hand.streams, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_come_back_as_they_were, setup, teardown),
        cmocka_unit_test(rows_of_every_number_come_back),
        cmocka_unit_test_setup_teardown(wrong_values_leave_their_rows_out, setup, teardown),
        cmocka_unit_test_setup_teardown(offsets_bits_and_widths_are_arrows, setup, teardown),
        cmocka_unit_test_setup_teardown(views_are_read_in_place_and_by_buffer, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_as_it_says_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(streams_are_released_if_the_load_never_reads_them, setup, teardown),
    };
    return cmocka_run_group_tests(tests, star_open, star_close);
}
