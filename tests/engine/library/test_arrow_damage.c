/*
 * test_arrow_damage.c: codes beyond their dictionary, and ranges that are not a column's, in files whose checksums are
 * right: tables and answers go out as Arrow streams without a read outside of the dictionary. Says most under ASan.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/arrow_export.h"
#include "tests/support/database_files.h"
#include "tests/support/one_directory.h"
#include "tests/support/sql/sql_answer.h"

static struct engine *engine;

/* Replaces the first `from` in the file of that name, and makes its checksums right again. */
static void forge(const char *name, const void *from, const void *to, size_t size)
{
    files_gather(path);
    bool found = false;
    for (int f = 0; f < gathered_count && !found; f++) {
        uint8_t *const at =
            strstr(gathered[f].path, name) ? memmem(gathered[f].data, gathered[f].size, from, size) : NULL;
        if (!at)
            continue;
        found = true;
        memcpy(at, to, size);
        const uint8_t *const body = memchr(gathered[f].data, '\n', gathered[f].size);
        if (strcmp(name, "catalogue") == 0) {
            const size_t rest = gathered[f].size - (size_t)(body + 1 - gathered[f].data);
            catalogue_forge(gathered[f].path, 1, (const char *)body + 1, rest);
        } else {
            reseal(gathered[f].data, gathered[f].size);
            bytes_write(gathered[f].path, gathered[f].data, gathered[f].size);
        }
    }
    assert_true(found);
    files_forget();
}

/* The first string column's texts, with ';' behind each. */
static char *strings_of(struct ArrowArrayStream *stream)
{
    struct ArrowArray batch;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(stream->get_next(stream, &batch), 0);
    const struct ArrowArray *const strings = batch.children[0];
    const int64_t *const offsets = strings->buffers[1];
    assert_int_equal(strings->n_buffers, 3);
    for (int64_t row = 0; row < strings->length; row++)
        fprintf(out, "%.*s;", (int)(offsets[row + 1] - offsets[row]),
                (const char *)strings->buffers[2] + offsets[row]);
    fclose(out);
    batch.release(&batch);
    stream->release(stream);
    return text;
}

static char *strings_of_answer(const char *sql)
{
    struct database *database;
    struct sql_statement *statement;
    struct ArrowArrayStream stream;
    struct rowset rows;
    size_t used;
    must(database_open(path, &database, error));
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_run(statement, &rows, NULL, error));
    must(arrow_export_rows(&rows, &stream, error));
    sql_statement_free(statement);
    database_close(database);
    return strings_of(&stream);
}

/* color.c_name: its codes are 2, 0, 1. */
static const int32_t codes[] = {2, 0, 1}, beyond[] = {2, 2147483600, 1};

static void a_table_with_a_code_beyond_its_dictionary_is_refused(void **state)
{
    (void)state;
    struct database *database;
    const struct table *table;
    struct ArrowArrayStream stream;
    database_make(path, "plain", ROWS);
    forge("c_name.plain", codes, beyond, sizeof codes);
    must(database_open(path, &database, error));
    must(database_table(database, "color", &table, error));
    must_refuse(STATUS_BAD_INPUT, "color.c_name, segment 0, tile 0", "string 2147483600 of its dictionary",
                "which has 3", arrow_export_table(database, table, 1, &stream, error));
    must(database_table(database, "sale", &table, error));
    must(arrow_export_table(database, table, 1, &stream, error));
    stream.release(&stream);
    database_close(database);
}

static void an_answer_with_such_codes_has_empty_strings(void **state)
{
    (void)state;
    database_make(path, "plain", ROWS);
    forge("c_name.plain", codes, beyond, sizeof codes);
    char *text = strings_of_answer("select c_name from sale, color where s_color = c_key limit 3");
    assert_string_equal(text, "red;;green;");
    free(text);
}

/* Groups are counted from the least value that the catalogue has. */
static void groups_of_a_range_that_is_not_the_columns_stay_inside(void **state)
{
    (void)state;
    database_make(path, "plain", ROWS);
    static const char name[] = "\"min\": 0,\n      \"max\": 2,", lie[] = "\"min\": 3,\n      \"max\": 5,";
    forge("catalogue", name, lie, strlen(name));
    char *text =
        strings_of_answer("select c_name, count(*) from sale, color where s_color = c_key group by c_name");
    assert_non_null(text);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_table_with_a_code_beyond_its_dictionary_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_answer_with_such_codes_has_empty_strings, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_of_a_range_that_is_not_the_columns_stay_inside, setup,
                                        teardown),
    };
    struct error error = {0};
    if (engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, &error) != STATUS_OK)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    engine_close(engine);
    return failed;
}
