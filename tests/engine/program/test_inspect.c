/* test_inspect.c: values as a person reads them, and what `tessera inspect` says of a database. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/plan/value_text.h"
#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

#include <jansson.h>
#include <time.h>

static void check_text(struct column_schema schema, int64_t value, const char *want)
{
    const struct column column = {.schema = schema};
    char text[64];
    assert_string_equal(value_text(&column, value, text, sizeof text), want);
}

static void values_read_as_their_type(void **state)
{
    (void)state;
    const struct column_schema integer = {.type = TYPE_INT64}, date = {.type = TYPE_DATE},
                               yes_no = {.type = TYPE_BOOL}, moment = {.type = TYPE_TIMESTAMP};
    const struct column_schema money = {.type = TYPE_DECIMAL, .precision = 18, .scale = 2};
    const struct column_schema whole = {.type = TYPE_DECIMAL, .precision = 5};
    const struct column_schema key = {.type = TYPE_STRING, .references_table = "t"};
    check_text(integer, INT64_MIN, "-9223372036854775808");
    check_text(yes_no, 0, "false");
    check_text(yes_no, 1, "true");
    check_text(money, 0, "0.00");
    check_text(money, -5, "-0.05");
    check_text(money, 123456, "1234.56");
    check_text(money, INT64_MIN, "-92233720368547758.08");
    check_text(whole, -42, "-42");
    check_text(key, 17, "row 17");
    check_text(date, 0, "1970-01-01");
    check_text(date, -719528, "0000-01-01");
    check_text(date, 2932896, "9999-12-31");
    check_text(moment, 0, "1970-01-01 00:00:00");
    check_text(moment, -1, "1969-12-31 23:59:59.999999");
    check_text(moment, 761702399000000, "1994-02-19 23:59:59");
    check_text(moment, INT64_MIN, "-290308-12-21 19:59:05.224192");
}

static void dates_agree_with_the_c_library(void **state)
{
    (void)state;
    for (int64_t day = -200000; day < 200000; day += 13) {
        char want[32];
        time_t seconds = (time_t)(day * 86400);
        struct tm parts;
        assert_non_null(gmtime_r(&seconds, &parts));
        snprintf(want, sizeof want, "%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
        check_text((struct column_schema){.type = TYPE_DATE}, day, want);
    }
}

static void strings_are_cut_between_characters(void **state)
{
    (void)state;
    const char *const strings[] = {"", "a\nb\t", "caf\xc3\xa9"};
    uint64_t starts[4];
    char bytes[32], text[8];
    struct dictionary dictionary = dictionary_of(strings, 3, starts, bytes);
    const struct column column = {.schema = {.type = TYPE_STRING}, .memory_dictionary = &dictionary};
    assert_string_equal(value_text(&column, 0, text, sizeof text), "");
    assert_string_equal(value_text(&column, 1, text, sizeof text), "a?b?");
    assert_string_equal(value_text(&column, 2, text, sizeof text), "caf\xc3\xa9");
    assert_string_equal(value_text(&column, 2, text, 5), "caf");
    assert_string_equal(value_text(&column, 2, text, 3), "ca");
    assert_string_equal(value_text(&column, 3, text, sizeof text), ""); /* no such code */
}

static struct program_run run;

static json_t *inspect_json(const char *path, const char *what)
{
    char shell[PATH_BYTES + 128];
    json_error_t problem;
    snprintf(shell, sizeof shell, "\"$T\" inspect --db '%s' --format json %s", path, what);
    run_shell(shell, &run);
    assert_int_equal(run.exit_code, 0);
    json_t *root = json_loads(run.output, 0, &problem);
    if (!root)
        fail_msg("%s: %s", shell, problem.text);
    return root;
}

static int64_t integer_of(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
    assert_true(json_is_string(json_object_get(object, key)));
    return json_string_value(json_object_get(object, key));
}

static void json_tells_codec_size_and_statistics(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *database;
    struct codec_choice lane;
    enum codec_id codec;
    directory_make(path);
    database_make(path, "plain", 3000);
    must(codec_choice_parse("lane-for", &lane, error));
    must(database_open(path, &database, error));
    const struct column *day = &database_table_at(database, 1)->columns[SALE_DAY];
    must(database_encode(database, day, &lane, 1, &codec, error));

    json_t *root = inspect_json(path, "");
    assert_string_equal(text_of(root, "database"), path);
    assert_int_equal(json_array_size(json_object_get(root, "tables")), 2);
    json_decref(root);

    root = inspect_json(path, "sale.s_day");
    const json_t *table = json_array_get(json_object_get(root, "tables"), 0);
    assert_string_equal(text_of(table, "name"), "sale");
    assert_int_equal(integer_of(table, "rows"), 3000);
    assert_int_equal(integer_of(table, "segments"), 1);
    assert_int_equal(integer_of(table, "tiles"), 3);
    assert_int_equal(json_array_size(json_object_get(table, "columns")), 1);
    const json_t *column = json_array_get(json_object_get(table, "columns"), 0);
    assert_string_equal(text_of(column, "type"), "date");
    assert_string_equal(text_of(column, "codec"), "plain");
    assert_string_equal(text_of(column, "chosen_by"), "plain");
    assert_string_equal(text_of(json_object_get(column, "min"), "text"), "1991-11-27");
    assert_int_equal(integer_of(json_object_get(column, "max"), "stored"), 8029);
    assert_int_equal(integer_of(column, "distinct"), 30);
    assert_int_equal(integer_of(column, "runs"), 30);
    const json_t *encodings = json_object_get(column, "encodings");
    assert_int_equal(json_array_size(encodings), 2);
    for (size_t e = 0; e < 2; e++) {
        const json_t *encoding = json_array_get(encodings, e);
        double bytes = (double)day->encodings[e].bytes;
        assert_int_equal(integer_of(encoding, "bytes"), day->encodings[e].bytes);
        assert_float_equal(json_real_value(json_object_get(encoding, "bits_per_value")), 8 * bytes / 3000,
                           1e-6);
        assert_float_equal(json_real_value(json_object_get(encoding, "ratio")), 4 * 3000 / bytes, 1e-6);
    }
    json_decref(root);
    database_close(database);
    directory_remove(path);
}

static int64_t files_bytes;

static int add_bytes(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    const char *const name = path + walk->base;
    files_bytes += type == FTW_F && strcmp(name, "tessera.lock") != 0 ? stat->st_size : 0;
    return 0;
}

static int64_t directory_bytes(const char *path)
{
    files_bytes = 0;
    nftw(path, add_bytes, 16, FTW_PHYS);
    return files_bytes;
}

/* Every file, and so dictionaries, validity and further encodings too. */
static void sizes_add_up_to_the_directorys(void **state)
{
    (void)state;
    static const char *const parts[] = {"columns", "other_encodings", "dictionaries", "side_files",
                                        "catalogue"};
    char path[PATH_BYTES], table_path[2 * PATH_BYTES];
    struct database *database;
    struct codec_choice lane;
    enum codec_id codec;
    directory_make(path);
    database_make(path, "plain", 30000);
    must(codec_choice_parse("lane-for", &lane, error));
    must(database_open(path, &database, error));
    must(database_encode(database, &database_table_at(database, 1)->columns[SALE_DAY], &lane, 1, &codec,
                         error));
    database_close(database);
    json_t *root = inspect_json(path, ""), *tables = json_object_get(root, "tables");
    int64_t sum = 0, totals = 0;
    for (size_t t = 0; t < json_array_size(tables); t++) {
        const json_t *table = json_array_get(tables, t), *disk = json_object_get(table, "disk");
        snprintf(table_path, sizeof table_path, "%s/tables/%s", path, text_of(table, "name"));
        assert_int_equal(integer_of(disk, "total"), directory_bytes(table_path));
        totals += integer_of(disk, "total");
        assert_int_equal(integer_of(disk, "catalogue"), 0);
        assert_true(integer_of(disk, "dictionaries") > 0);
        assert_int_equal(integer_of(disk, "other_encodings") > 0, t == 1);
    }
    const json_t *disk = json_object_get(root, "disk");
    for (int p = 0; p < 5; p++)
        sum += integer_of(disk, parts[p]);
    assert_int_equal(integer_of(disk, "total"), sum);
    assert_int_equal(sum, totals + integer_of(disk, "catalogue"));
    assert_int_equal(sum, directory_bytes(path));
    json_decref(root);

    root = inspect_json(path, "sale.s_note");
    disk = json_object_get(json_array_get(json_object_get(root, "tables"), 0), "disk");
    sum = 0;
    for (int word = 0; word < 2; word++) {
        struct stat stat_of;
        snprintf(table_path, sizeof table_path, "%s/tables/sale/s_note.%s.1", path, word ? "side" : "plain");
        assert_int_equal(stat(table_path, &stat_of), 0);
        sum += stat_of.st_size;
    }
    assert_int_equal(integer_of(disk, "total"), sum);
    assert_int_equal(integer_of(disk, "other_encodings"), 0);
    json_decref(root);
    directory_remove(path);
}

/* What a chooser took is the least of what it compared, and as large as what is stored. */
static void candidates_tell_why_a_codec_was_taken(void **state)
{
    (void)state;
    static const char *const choosers[] = {"auto", "smallest", "gpu-star", "plain"};
    static const char *const figures[] = {"bits_per_value", "ratio", NULL};
    for (size_t i = 0; i < sizeof choosers / sizeof *choosers; i++) {
        char path[PATH_BYTES];
        directory_make(path);
        database_make(path, choosers[i], 3000);
        json_t *root = inspect_json(path, "sale.s_amount");
        const json_t *column =
            json_array_get(json_object_get(json_array_get(json_object_get(root, "tables"), 0), "columns"), 0);
        const json_t *segment = json_object_get(root, "first_segment"),
                     *list = json_object_get(segment, "candidates");
        const char *const by = strcmp(choosers[i], "auto") ? "bytes" : "ns_per_value";
        double least = 1e300, taken = 0;
        uint32_t considered = 0;
        assert_int_equal(integer_of(segment, "rows"), 3000);
        assert_int_equal(json_is_string(json_object_get(segment, "costs")), i == 0);
        assert_int_equal(json_array_size(list), CODEC_COUNT - 1);
        for (size_t c = 0; c < json_array_size(list); c++) {
            const json_t *candidate = json_array_get(list, c);
            const bool own = strcmp(text_of(candidate, "codec"), text_of(column, "codec")) == 0;
            assert_int_equal(json_is_true(json_object_get(candidate, "taken")), own);
            if (own) {
                assert_int_equal(integer_of(candidate, "bytes"), integer_of(column, "bytes"));
                for (const char *const *key = figures; *key; key++)
                    assert_float_equal(json_number_value(json_object_get(candidate, *key)),
                                       json_number_value(json_object_get(column, *key)), 1e-9);
            }
            if (!json_is_true(json_object_get(candidate, "considered")))
                continue;
            const double cost = json_number_value(json_object_get(candidate, by));
            assert_true(cost > 0);
            considered++;
            least = cost < least ? cost : least;
            taken = own ? cost : taken;
        }
        assert_true(taken == least);
        assert_true(i == 3 ? considered == 1 : considered > 2);
        json_decref(root);
        directory_remove(path);
    }
}

/* What inspect prints of sale.s_amount, by a table of costs. */
static const char *inspect_text(const char *path, const char *costs)
{
    char shell[2 * PATH_BYTES + 128];
    snprintf(shell, sizeof shell, "TESSERA_COSTS='%s' \"$T\" inspect --db '%s' sale.s_amount", costs, path);
    run_shell(shell, &run);
    assert_int_equal(run.exit_code, 0);
    return run.output;
}

/* The column was loaded by the table that is built in; by this one plain costs least. */
static void a_choice_that_other_costs_made_is_named_so(void **state)
{
    (void)state;
    char path[PATH_BYTES], costs[PATH_BYTES + 8];
    directory_make(path);
    database_make(path, "auto", 3000);
    snprintf(costs, sizeof costs, "%s.costs", path);
    FILE *file = fopen(costs, "wb");
    assert_non_null(file);
    fputs("tessera-costs 1\ndevice a machine for plain\nread 1000\nwidths 1 4 8 12 16 20 24 28\n", file);
    static const char *const uses[] = {"compare", "probe", "fetch"};
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        for (size_t u = 0; u < 3; u++)
            fprintf(file, "%s %s%s\n", codec_by_id(id)->name, uses[u],
                    codec_by_id(id) == codec_baseline() ? " .1 .1 .1 .1 .1 .1 .1 .1" : " 9 9 9 9 9 9 9 9");
    assert_int_equal(fclose(file), 0);
    assert_null(strstr(inspect_text(path, "h200"), "another is less"));
    const char *const text = inspect_text(path, costs);
    assert_non_null(strstr(text, "by the table of a machine for plain ("));
    assert_non_null(strstr(text, ".costs), or far fewer bytes\n"));
    assert_non_null(strstr(text, "another is less: the column keeps what was chosen when it was loaded"));
    directory_remove(path);
}

static void an_empty_table_can_be_inspected(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    directory_make(path);
    database_make(path, "plain", 0);
    json_t *root = inspect_json(path, "sale.s_key");
    const json_t *table = json_array_get(json_object_get(root, "tables"), 0);
    const json_t *column = json_array_get(json_object_get(table, "columns"), 0);
    assert_true(json_is_null(json_object_get(column, "min")));
    assert_int_equal(integer_of(column, "distinct"), 0);
    json_decref(root);
    directory_remove(path);
}

int main(void)
{
    setenv("TESSERA_COSTS", "h200", 1); /* what loads here choose by, and the program unless told otherwise */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_read_as_their_type),
        cmocka_unit_test(dates_agree_with_the_c_library),
        cmocka_unit_test(strings_are_cut_between_characters),
        cmocka_unit_test(json_tells_codec_size_and_statistics),
        cmocka_unit_test(sizes_add_up_to_the_directorys),
        cmocka_unit_test(candidates_tell_why_a_codec_was_taken),
        cmocka_unit_test(a_choice_that_other_costs_made_is_named_so),
        cmocka_unit_test(an_empty_table_can_be_inspected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
