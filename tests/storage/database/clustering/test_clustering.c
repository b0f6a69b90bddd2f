/*
 * test_clustering.c: rows of a clustered table stand as a stable sort of each segment by their cells puts them: loaded at once and
 * appended, by levels and by values of all types, with NULLs; and give the answers of the same rows that keep their order.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/clustered_rows.h"

static void teardown_setup(void)
{
    teardown(NULL);
    setup(NULL);
}

/* ---- Loads ---- */

static void rows_stand_by_their_cells(void **state)
{
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 5000};
    static const struct {
        const char *said;
        struct term terms[TERMS_MOST + 1];
    } cases[] = {
        {"shop:2,region", {{"shop", 2}, {"region", 1}}},
        {"SHOP", {{"shop", 1}}},
        {"day:3", {{"day", 3}}}, /* a table without levels */
        {"note:15", {{"note", 15}}},
        {"weight:6", {{"weight", 6}}},
        {"price:7", {{"price", 7}}},
        {"big:15", {{"big", 15}}},
        {"number", {{"number", 4}}},
        {"house:2,region,note:3,lot:2", {{"house", 2}, {"region", 1}, {"note", 3}, {"lot", 2}}},
    };
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            /* The text is parsed by several threads if there is enough of it; values are read and written by them always. */
            const struct how how = {.cluster_by = cases[c].said, .threads = 1 + (unsigned)(c + s) % 3};
            struct error error = {0};
            const struct sizes rows = all(sizes[s]);
            if (load_as(script, path, &rows, &how, &error) != STATUS_OK)
                fail_msg("%s", error.text);
            load(whole, rows, (struct how){0});
            segment_stands_by(0, cases[c].terms);
            same_answers();
            teardown_setup();
        }
}

static void threads_do_not_change_the_order(void **state)
{
    (void)state;
    load(whole, all(70000), (struct how){0});
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        teardown_setup();
        load(whole, all(70000), (struct how){.threads = threads});
        load(path, all(70000), (struct how){.threads = threads, .cluster_by = "shop:2,note:5"});
        segment_stands_by(0, (const struct term[]){{"shop", 2}, {"note", 5}, {0}});
        same_answers();
    }
}

static void auto_takes_as_many_levels_as_rows_fill(void **state)
{
    static const struct {
        uint32_t rows;
        bool by_file;
        const char *terms;
    } cases[] = {
        {0, false, ""},
        {5000, false, ""},
        {30000, false, "shop:1,region:1"}, /* a level of six tiles a cell, which another one divides */
        {200000, false, "region:1,shop:2"},
        {30000, true, ""}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        load(path, all(cases[c].rows), (struct how){.cluster_by = "auto", .by_file = cases[c].by_file});
        clustered_by(cases[c].terms);
        teardown_setup();
    }
}

/* More rows than a segment has: each is clustered by itself, and each row keeps its values together. */
static void a_load_of_two_segments_has_two_orders(void **state)
{
    enum { MANY = SEGMENT_ROWS + 300000 };
    static const char wide[] = "CREATE TABLE sales (number INT, part INT);";
    char file[PATH_BYTES + 64], expected[64];
    const char *const paths[] = {file};
    struct load_input input = {.table = "sales", .paths = paths, .path_count = 1};
    const struct load_options options = {
        .directory = path, .inputs = &input, .input_count = 1, .threads = 2, .cluster_by = "part:4"};
    struct schema_script schema;
    struct load_report report;
    struct engine *engine;
    int64_t sum = 0;
    (void)state;
    snprintf(file, sizeof file, "%.*s/many.csv", (int)(strlen(path) - 3), path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    for (uint32_t r = 0; r < MANY; r++) {
        const uint32_t part = r * 7919u % 13, number = r % 1000;
        char line[] = {(char)('0' + number / 100),
                       (char)('0' + number / 10 % 10),
                       (char)('0' + number % 10),
                       ',',
                       (char)('0' + part / 10),
                       (char)('0' + part % 10),
                       '\n'};
        fwrite(line, 1, sizeof line, out);
        sum += (int64_t)part * number;
    }
    fclose(out);
    must(schema_script_parse("many.sql", wide, strlen(wide), &schema, error));
    must(tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
    struct opened opened = open_table(path, "sales");
    assert_int_equal(opened.table->segment_count, 2);
    struct stored parts = read_stored(path, opened.table, &opened.table->columns[1]);
    for (uint32_t r = 1; r < MANY; r++)
        assert_true(r == SEGMENT_ROWS || parts.values[r - 1] <= parts.values[r]);
    assert_true(parts.values[SEGMENT_ROWS - 1] == 12 && parts.values[SEGMENT_ROWS] == 0);
    stored_free(&parts);
    snprintf(expected, sizeof expected, "sum(number * part)\n%lld\n", (long long)sum);
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    char *const found = sql_answer(engine, opened.database, "select sum(number * part) from sales");
    assert_string_equal(found, expected);
    free(found);
    engine_close(engine);
    database_close(opened.database);
    must(database_check(path, 2, NULL, NULL, NULL, error));
}

/* ---- Appends ---- */

static const struct term shops_and_notes[] = {{"shop", 2}, {"note", 3}, {0}},
                         by_price[] = {{"price", 4}, {0}};

static void appends_go_on_unless_they_say_otherwise(void **state)
{
    (void)state;
    both(all(1025), "shop:2,note:3", false);
    both(sales(1025, 1023), NULL, true);
    both(sales(3000, 31), NULL, true);
    clustered_by("shop:2,note:3");
    both(sales(4000, 2000), "price", true);
    clustered_by("price:4");
    both(sales(6000, 500), NULL, true);
    both(sales(7000, 300), "none", true);
    clustered_by("");
    both(sales(8000, 300), NULL, true);
    for (uint32_t s = 0; s < 7; s++)
        segment_stands_by(s, s < 3 ? shops_and_notes : s < 5 ? by_price : NULL);
    same_answers();
}

/* Codes of notes change, and all old segments of the column are written again, in the order that they have. */
static void an_append_with_new_strings_keeps_old_rows_in_place(void **state)
{
    (void)state;
    both(all(30), "note:3,shop:1", false);
    both(sales(30, 1025), NULL, true);
    const struct term terms[] = {{"note", 3}, {"shop", 1}, {0}};
    segment_stands_by(1, terms);
    same_answers();
}

/* Shops of new cities take more bits of positions, or lose their levels: rows stand by what there is, and answers stay. */
static void levels_may_grow_or_go(void **state)
{
    static const char *const levels[] = {NULL, "shops=s_city", "shops=none"};
    struct sizes more = {.first = {200}, .count = {300}};
    (void)state;
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        load(path, all(3000), (struct how){.cluster_by = "shop:2,region:2,note:3", .codecs = "plain"});
        load(whole, all(3000), (struct how){0});
        more.first[4] = 3000;
        more.count[4] = 2000;
        load(path, more, (struct how){.append = true, .levels = levels[l]});
        load(whole, more, (struct how){.append = true});
        same_answers();
        both(sales(5000, 1025), NULL, true);
        same_answers();
        teardown_setup();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        CASE(rows_stand_by_their_cells),
        CASE(threads_do_not_change_the_order),
        CASE(a_load_of_two_segments_has_two_orders),
        CASE(auto_takes_as_many_levels_as_rows_fill),
        CASE(appends_go_on_unless_they_say_otherwise),
        CASE(an_append_with_new_strings_keeps_old_rows_in_place),
        CASE(levels_may_grow_or_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
