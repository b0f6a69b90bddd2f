/* test_database.c: what is written is read again, whole, from any thread, after any number of changes. What
 * must not be written: test_database_refusals.c; what damage does: test_database_damage.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/column/dictionary/stored_dictionary.h"
#include "tests/support/database_cases.h"

static void every_type_comes_back_at_odd_sizes(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 31, 32, 33, 1023, 1024, 1025, 5000};
    const char *const codecs[] = {"plain", "lane-for"};
    for (size_t k = 0; k < 2; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            char path[PATH_BYTES];
            directory_make(path);
            database_make(path, codecs[k], sizes[s]);
            check_sale(path, codecs[k], sizes[s]);
            directory_remove(path);
        }
}

static void the_catalogue_keeps_schema_and_statistics(void **state)
{
    (void)state;
    char path[PATH_BYTES], text[32];
    struct database *database;
    const struct table *sale, *color;
    directory_make(path);
    database_make(path, "auto", 5000);
    must(database_open(path, &database, error));
    assert_string_equal(database_path(database), path);
    assert_int_equal(database_table_count(database), 2);
    assert_string_equal(database_table_at(database, 0)->name, "color");
    must(database_table(database, "sale", &sale, error));
    must(database_table(database, "color", &color, error));
    const char *const types[] = {"int64", "int32", "decimal(12,2)", "date", "bool", "string", "int32"};
    const uint32_t value_bytes[] = {8, 4, 8, 4, 4, 4, 4};
    for (int c = 0; c < SALE_COLUMNS; c++) {
        const struct column *column = &sale->columns[c];
        int64_t min = INT64_MAX, max = INT64_MIN;
        uint64_t nulls = 0;
        for (uint64_t row = 0; row < 5000; row++) {
            int64_t value = sale_value(c, row);
            if (sale_null(c, row)) {
                nulls++;
                continue;
            }
            min = value < min ? value : min;
            max = value > max ? value : max;
        }
        assert_string_equal(column_type_text(&column->schema, text), types[c]);
        assert_string_equal(column->own_name, "auto");
        assert_int_equal(column->value_bytes, value_bytes[c]);
        assert_int_equal(column->schema.nullable, sale_columns[c].nullable);
        assert_int_equal(column->schema.primary_key, sale_columns[c].primary_key);
        assert_ptr_equal(column->table, sale);
        assert_int_equal(column->statistics.min, min);
        assert_int_equal(column->statistics.max, max);
        assert_int_equal(column->statistics.nulls, nulls);
        assert_int_equal(column->encoding_count, 1);
        assert_int_equal(column->encodings[0].codec, column->own);
    }
    assert_int_equal(sale->columns[SALE_DAY].statistics.runs, 50);
    assert_int_equal(sale->columns[SALE_DAY].statistics.distinct, 50);
    assert_int_equal(sale->columns[SALE_COLOR].statistics.distinct, 3);
    assert_ptr_equal(sale->columns[SALE_COLOR].references, &color->columns[0]);
    assert_null(sale->columns[SALE_KEY].references);
    must_refuse(STATUS_BAD_INPUT, path, "no table \"zebra\"", "color, sale",
                database_table(database, "zebra", &sale, error));
    const struct column *column;
    must_refuse(STATUS_BAD_INPUT, "color has no column \"c_\"", "c_key, c_name", "",
                table_column(color, "c_", &column, error));
    database_close(database);
    directory_remove(path);
}

static void dictionaries_are_counted_on_opening_and_loaded_for_their_strings(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *database;
    const struct table *color;
    directory_make(path);
    database_make(path, "plain", 1);
    must(database_open(path, &database, error));
    must(database_table(database, "color", &color, error));
    const struct dictionary *names;
    must(column_dictionary(&color->columns[0], 1, &names, error));
    assert_null(names);
    assert_null(color->columns[1].stored_dictionary->file);
    for (int twice = 0; twice < 2; twice++)
        must(column_dictionary(&color->columns[1], 1, &names, error));
    assert_int_equal(names->count, 3);
    for (int64_t code = 0; code < 3; code++)
        assert_int_equal(dictionary_find(names, color_names[code], (uint32_t)strlen(color_names[code])),
                         code);
    assert_int_equal(dictionary_find(names, "grey", 4), -1);
    database_close(database);
    directory_remove(path);
}

/* ---- Many segments ---- */

#define LONG_ROWS (SEGMENT_ROWS + 1u)

static int32_t long_value(uint64_t row)
{
    return (int32_t)(row / 4096 % 1000);
}

static enum status write_long_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    uint32_t segment = 1 - (uint32_t)item, rows = segment ? LONG_ROWS - SEGMENT_ROWS : SEGMENT_ROWS;
    int32_t *values = malloc(rows * sizeof *values);
    assert_non_null(values);
    for (uint32_t r = 0; r < rows; r++)
        values[r] = long_value((uint64_t)segment * SEGMENT_ROWS + r);
    enum status status = table_writer_segment(context, 0, segment, values, NULL, error);
    free(values);
    return status;
}

static void segments_may_be_written_by_several_threads_in_any_order(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    const struct column_schema schema = {.name = "v", .type = TYPE_INT32};
    struct database_writer *writer;
    struct table_writer *table;
    struct database *database;
    struct column_data *data;
    directory_make(path);
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "long", &schema, 1, LONG_ROWS, &table, error));
    must(table_writer_codec(table, 0, "lane-for", error));
    must(parallel_for(2, 2, write_long_segment, table, error));
    must(database_writer_commit(writer, error));
    must(database_open(path, &database, error));
    const struct table *read = database_table_at(database, 0);
    assert_int_equal(read->segment_count, 2);
    assert_int_equal(read->segment_rows[0], SEGMENT_ROWS);
    assert_int_equal(read->segment_rows[1], 1);
    assert_int_equal(read->columns[0].statistics.distinct, 1000);
    assert_int_equal(read->columns[0].statistics.runs, SEGMENT_ROWS / 4096 + 1);
    must(column_data_open(database, &read->columns[0], CODEC_LANE_FOR, 2, &data, error));
    int32_t tile[TILE_ROWS];
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t t = 0; t < data->segments[s].chunk.tiles; t++) {
            uint64_t row = (uint64_t)s * SEGMENT_ROWS + t * TILE_ROWS;
            data->codec->decode_tile(&data->segments[s].chunk, t, tile);
            assert_int_equal(tile[0], long_value(row));
            assert_true(row + TILE_ROWS > LONG_ROWS ||
                        tile[TILE_ROWS - 1] == long_value(row + TILE_ROWS - 1));
        }
    enum codec_id codec;
    struct codec_choice plain;
    must(codec_choice_parse("plain", &plain, error));
    must(database_encode(database, &read->columns[0], &plain, 2, &codec, error));
    assert_int_equal(read->columns[0].encoding_count, 2);
    database_close(database);
    must(database_check(path, 2, NULL, NULL, NULL, error));
    directory_remove(path);
}

/* ---- Further encodings ---- */

static void an_encoding_is_added_once_beside_the_others(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *first, *second;
    const struct table *sale;
    struct codec_choice lane, smallest;
    enum codec_id codec;
    directory_make(path);
    database_make(path, "plain", 3000);
    must(codec_choice_parse("lane-for", &lane, error));
    must(codec_choice_parse("smallest", &smallest, error));
    must(database_open(path, &first, error));
    must(database_open(path, &second, error));
    must(database_table(first, "sale", &sale, error));
    for (int c = 0; c < SALE_COLUMNS; c++) {
        must(database_encode(first, &sale->columns[c], &lane, 1, &codec, error));
        assert_int_equal(codec, CODEC_LANE_FOR);
        assert_int_equal(sale->columns[c].own, CODEC_PLAIN);
        assert_int_equal(sale->columns[c].encoding_count, 2);
    }
    uint64_t files = directory_files(path),
             generation = sale->columns[SALE_COLUMNS - 1].encodings[1].files.list[0].generation;
    must(database_encode(first, &sale->columns[0], &lane, 1, &codec, error));
    must(database_table(second, "sale", &sale, error)); /* opened before: finds what the other committed */
    must(database_encode(second, &sale->columns[SALE_COLUMNS - 1], &lane, 1, &codec, error));
    assert_int_equal(sale->columns[SALE_COLUMNS - 1].encodings[1].files.list[0].generation, generation);
    assert_int_equal(directory_files(path), files);
    must(database_encode(second, &sale->columns[SALE_DAY], &smallest, 1, &codec, error));
    assert_int_equal(sale->columns[SALE_DAY].chosen[CHOOSER_SMALLEST], codec);
    database_close(first);
    database_close(second);
    check_sale(path, "plain", 3000);
    check_sale(path, "lane-for", 3000);
    must(database_open(path, &first, error));
    must(database_table(first, "sale", &sale, error));
    files = directory_files(path);
    enum codec_id again;
    must(database_encode(first, &sale->columns[SALE_DAY], &smallest, 1, &again, error)); /* remembered */
    assert_int_equal(again, codec);
    assert_int_equal(directory_files(path), files);
    database_close(first);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    directory_remove(path);
}

static void an_empty_table_can_have_any_encoding(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *database;
    const struct table *sale;
    struct codec_choice choice;
    enum codec_id codec;
    const char *const names[] = {"lane-for", "smallest", "auto"};
    directory_make(path);
    database_make(path, "plain", 0);
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &sale, error));
    assert_int_equal(sale->segment_count, 0);
    assert_true(sale->columns[0].statistics.min > sale->columns[0].statistics.max);
    for (int n = 0; n < 3; n++) {
        must(codec_choice_parse(names[n], &choice, error));
        must(database_encode(database, &sale->columns[0], &choice, 1, &codec, error));
    }
    database_close(database);
    check_sale(path, "plain", 0);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    directory_remove(path);
}

static void a_handle_to_a_replaced_table_keeps_its_state(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *database;
    const struct table *sale;
    struct column_data *before, *after;
    struct codec_choice lane;
    enum codec_id codec;
    directory_make(path);
    database_make(path, "plain", 100);
    must(codec_choice_parse("lane-for", &lane, error));
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &sale, error));
    must(column_data_open(database, &sale->columns[SALE_DAY], CODEC_PLAIN, 1, &before, error));
    database_make(path, "plain", 200);
    assert_int_equal(sale_difference(before, SALE_DAY), -1); /* what is open stays whole */
    must(column_data_open(database, &sale->columns[SALE_AMOUNT], CODEC_PLAIN, 1, &after, error));
    assert_int_equal(sale_difference(after, SALE_AMOUNT), -1); /* and so is what is opened later */
    must_refuse(STATUS_BAD_INPUT, "table sale", "was replaced", path,
                database_encode(database, &sale->columns[SALE_DAY], &lane, 1, &codec, error));
    database_close(database);
    check_sale(path, "plain", 200);
    directory_remove(path);
}

#define KEPT_OPENINGS 16

struct kept_opening {
    struct database *database;
    const struct column *column;
    struct column_data *opened[KEPT_OPENINGS];
};

static enum status open_day(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct kept_opening *opening = context;
    (void)thread;
    return column_data_open(opening->database, opening->column, CODEC_PLAIN, 1, &opening->opened[item],
                            error);
}

/* Opening again gives the same, from any thread, and reads no file: these are removed meanwhile. */
static void an_open_database_keeps_what_it_opened(void **state)
{
    (void)state;
    char path[PATH_BYTES], command[PATH_BYTES + 64];
    struct kept_opening opening = {0};
    struct database *other;
    struct column_data *lane, *again;
    struct codec_choice choice;
    enum codec_id codec;
    const struct table *sale;
    directory_make(path);
    database_make(path, "plain", 3000);
    must(codec_choice_parse("lane-for", &choice, error));
    must(database_open(path, &opening.database, error));
    must(database_table(opening.database, "sale", &sale, error));
    opening.column = &sale->columns[SALE_DAY];
    must(parallel_for(4, KEPT_OPENINGS, open_day, &opening, error));
    for (int i = 1; i < KEPT_OPENINGS; i++)
        assert_ptr_equal(opening.opened[i], opening.opened[0]);
    must(database_encode(opening.database, opening.column, &choice, 1, &codec, error));
    must(column_data_open(opening.database, opening.column, CODEC_LANE_FOR, 1, &lane, error));
    assert_ptr_not_equal(lane, opening.opened[0]);
    assert_int_equal(lane->codec->id, CODEC_LANE_FOR);
    snprintf(command, sizeof command, "rm -r '%s/tables/sale'", path);
    assert_int_equal(system(command), 0);
    must(column_data_open(opening.database, opening.column, CODEC_PLAIN, 1, &again, error));
    assert_ptr_equal(again, opening.opened[0]);
    assert_int_equal(sale_difference(again, SALE_DAY), -1);
    must(column_data_open(opening.database, opening.column, CODEC_LANE_FOR, 1, &again, error));
    assert_ptr_equal(again, lane);
    assert_int_equal(sale_difference(again, SALE_DAY), -1);
    assert_int_not_equal(
        column_data_open(opening.database, &sale->columns[SALE_AMOUNT], CODEC_PLAIN, 1, &again, NULL),
        STATUS_OK); /* what was not opened is not kept */
    assert_null(again);
    must(database_open(path, &other, error)); /* it reads the catalogue alone */
    must(database_table(other, "sale", &sale, error));
    must_refuse(STATUS_BAD_INPUT, "day.plain", "the file is missing", "",
                column_data_open(other, &sale->columns[SALE_DAY], CODEC_PLAIN, 1, &again, error));
    database_close(other);
    database_close(opening.database);
    directory_remove(path);
}

/* ---- Changes ---- */

static void replacing_leaves_no_old_file(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    directory_make(path);
    database_make(path, "plain", 100);
    uint64_t files = directory_files(path);
    database_make(path, "lane-for", 2000);
    assert_int_equal(directory_files(path), files);
    check_sale(path, "lane-for", 2000);
    struct database_writer *writer;
    must(database_writer_open(path, &writer, error));
    write_sale(writer, "plain", 50); /* the dimension stays */
    must(database_writer_commit(writer, error));
    assert_int_equal(directory_files(path), files);
    check_sale(path, "plain", 50);
    directory_remove(path);
}

/* And not before: the other may still open a column. */
static void the_last_reader_of_an_old_state_removes_its_files(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *readers[2], *newer;
    const struct table *sale;
    struct column_data *data;
    directory_make(path);
    database_make(path, "plain", 100);
    const uint64_t files = directory_files(path);
    for (int r = 0; r < 2; r++)
        must(database_open(path, &readers[r], error));
    database_make(path, "lane-for", 200);
    must(database_open(path, &newer, error));
    const uint64_t both = directory_files(path);
    assert_true(both > files);
    database_close(readers[0]);
    assert_int_equal(directory_files(path), both);
    must(database_table(readers[1], "sale", &sale, error));
    must(column_data_open(readers[1], &sale->columns[SALE_DAY], CODEC_PLAIN, 1, &data, error));
    assert_int_equal(sale_difference(data, SALE_DAY), -1);
    database_close(readers[1]);
    assert_int_equal(directory_files(path), files);
    database_close(newer);
    check_sale(path, "lane-for", 200);
    directory_remove(path);
}

/* What a writer has written so far is not its state's, and is not removed. */
static void a_reader_that_closes_leaves_a_writer_alone(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *reader;
    struct database_writer *writer;
    directory_make(path);
    database_make(path, "plain", 100);
    must(database_open(path, &reader, error));
    database_make(path, "plain", 150);
    must(database_writer_open(path, &writer, error));
    write_color(writer, "plain");
    write_sale(writer, "plain", 200);
    database_close(reader);
    must(database_writer_commit(writer, error));
    check_sale(path, "plain", 200);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    directory_remove(path);
}

static void a_database_that_is_gone_can_be_closed(void **state)
{
    (void)state;
    char path[PATH_BYTES], away[PATH_BYTES + 8];
    struct database *reader;
    directory_make(path);
    database_make(path, "plain", 100);
    must(database_open(path, &reader, error));
    snprintf(away, sizeof away, "%s.away", path);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    database_close(reader);
    assert_int_equal(directory_files(path), 0);
    directory_remove(path);
}

static void a_change_of_nothing_makes_an_empty_database(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database_writer *writer;
    struct database *database;
    directory_make(path);
    must(database_writer_open(path, &writer, error));
    must(database_writer_commit(writer, error));
    must(database_open(path, &database, error));
    assert_int_equal(database_table_count(database), 0);
    database_close(database);
    directory_remove(path);
}

static void giving_up_leaves_what_was_there(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database_writer *writer;
    directory_make(path);
    must(database_writer_open(path, &writer, error));
    write_color(writer, "plain");
    database_writer_abort(writer);
    assert_int_equal(access(path, F_OK), -1); /* it was made by that writer */
    assert_int_equal(mkdir(path, 0777), 0);
    must(database_writer_open(path, &writer, error));
    write_color(writer, "plain");
    database_writer_abort(writer);
    assert_int_equal(directory_files(path), 0);
    database_make(path, "plain", 100);
    uint64_t files = directory_files(path);
    must(database_writer_open(path, &writer, error));
    write_color(writer, "lane-for");
    write_sale(writer, "lane-for", 10);
    assert_true(directory_files(path) > files);
    database_writer_abort(writer);
    assert_int_equal(directory_files(path), files);
    check_sale(path, "plain", 100);
    database_writer_abort(NULL);
    directory_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back_at_odd_sizes),
        cmocka_unit_test(the_catalogue_keeps_schema_and_statistics),
        cmocka_unit_test(dictionaries_are_counted_on_opening_and_loaded_for_their_strings),
        cmocka_unit_test(segments_may_be_written_by_several_threads_in_any_order),
        cmocka_unit_test(an_encoding_is_added_once_beside_the_others),
        cmocka_unit_test(an_empty_table_can_have_any_encoding),
        cmocka_unit_test(a_handle_to_a_replaced_table_keeps_its_state),
        cmocka_unit_test(an_open_database_keeps_what_it_opened),
        cmocka_unit_test(replacing_leaves_no_old_file),
        cmocka_unit_test(the_last_reader_of_an_old_state_removes_its_files),
        cmocka_unit_test(a_reader_that_closes_leaves_a_writer_alone),
        cmocka_unit_test(a_database_that_is_gone_can_be_closed),
        cmocka_unit_test(a_change_of_nothing_makes_an_empty_database),
        cmocka_unit_test(giving_up_leaves_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
