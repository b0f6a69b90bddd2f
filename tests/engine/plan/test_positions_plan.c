/* test_positions_plan.c: statements over tables with levels, whose foreign keys are positions with gaps, answer as over the
 * same tables without levels; and keys in gaps are refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/sql/star_plan.h"
#include "tests/support/made_levels.h"
#include "tests/support/sql/sql_answer.h"

#include "engine/library/arrow_export.h"
#include "engine/plan/fact_data.h"
#include "engine/sql/sql.h"
#include "storage/column/positions.h"
#include "storage/database/writer_internal.h"
#include "tests/support/level_positions.h"

/* sales -> cities -> countries. A city's zone is its row / ZONE_ROWS, so that a zone's cities follow each other. */
#define COUNTRIES 40u
#define CITIES    1500u
#define SALES     5000u
#define ZONE_ROWS 50u

static const struct column_schema country_columns[] = {
    {.name = "id", .type = TYPE_INT32, .primary_key = true}, {.name = "people", .type = TYPE_INT64}};
static const struct column_schema city_columns[] = {{.name = "id", .type = TYPE_INT32, .primary_key = true},
                                                    {.name = "country",
                                                     .type = TYPE_INT32,
                                                     .nullable = true,
                                                     .references_table = "countries",
                                                     .references_column = "id"},
                                                    {.name = "zone", .type = TYPE_INT32},
                                                    {.name = "size", .type = TYPE_INT32, .nullable = true}};
static const struct column_schema sold_columns[] = {{.name = "city",
                                                     .type = TYPE_INT32,
                                                     .nullable = true,
                                                     .references_table = "cities",
                                                     .references_column = "id"},
                                                    {.name = "paid", .type = TYPE_INT32}};

/* The rows of the star; keys are rows of the referenced table, -1: NULL. */
static struct star {
    int32_t country_of[CITIES], size[CITIES], city_of[SALES], paid[SALES];
    int64_t people[COUNTRIES];
} star;

static void star_draw(void)
{
    for (uint32_t c = 0; c < COUNTRIES; c++)
        star.people[c] = (int64_t)below(1000) << below(30);
    for (uint32_t c = 0; c < CITIES; c++) {
        star.country_of[c] = chance(10) ? -1 : (int32_t)below(COUNTRIES);
        star.size[c] = chance(10) ? -1 : (int32_t)below(100000);
    }
    for (uint32_t s = 0; s < SALES; s++) {
        star.city_of[s] = chance(5) ? -1 : (int32_t)below(CITIES);
        star.paid[s] = (int32_t)below(1000);
    }
}

/* ---- Databases ---- */

struct opened {
    char path[PATH_BYTES];
    struct database *database;
    struct made_levels countries, cities;
};

static struct table_writer *table_begin(struct database_writer *writer, const char *name,
                                        const struct column_schema *columns, uint32_t count, uint64_t rows,
                                        const struct table_levels *levels)
{
    struct table_writer *table;
    must(database_writer_table(writer, name, columns, count, rows, &table, error));
    table->table.levels = levels;
    return table;
}

/* Writes values; with `nulls`, negative ones are NULL. `levels` of the table that the column references, or NULL. */
static void column_put(struct table_writer *table, uint32_t column, const int32_t *values, uint32_t rows,
                       bool nulls, const struct table_levels *levels)
{
    static int32_t stored[SALES];
    uint64_t validity[SALES / 64 + 1] = {0};
    for (uint32_t row = 0; row < rows; row++) {
        const bool null = nulls && values[row] < 0;
        stored[row] = null     ? 0
                      : levels ? (int32_t)levels_position(levels, (uint32_t)values[row])
                               : values[row];
        validity[row / 64] |= (uint64_t)!null << row % 64;
    }
    must(table_writer_segment(table, column, 0, stored, nulls ? validity : NULL, error));
}

static void numbers_put(struct table_writer *table, uint32_t column, uint32_t rows, uint32_t divisor)
{
    static int32_t values[SALES];
    for (uint32_t row = 0; row < rows; row++)
        values[row] = (int32_t)(row / divisor);
    column_put(table, column, values, rows, false, NULL);
}

/* In a table of the open database, as the catalogue will give them. */
static void levels_give(struct database *database, const char *name, const struct table_levels *levels)
{
    const struct table *table;
    must(database_table(database, name, &table, error));
    ((struct table *)(uintptr_t)table)->levels = levels;
}

static void star_write(struct opened *to, bool with_levels, const char *codec, int64_t bad_sale)
{
    struct database_writer *writer;
    const struct table_levels *countries = NULL, *cities = NULL;
    if (with_levels) {
        levels_make(&to->countries, COUNTRIES, below(4), below(101), below(101));
        do { /* with a bad key, until there is a gap */
            levels_free(&to->cities);
            levels_make(&to->cities, CITIES, below(12), below(101), below(101));
        } while (bad_sale >= 0 && to->cities.levels.positions == CITIES);
        countries = &to->countries.levels;
        cities = &to->cities.levels;
    }
    directory_make(to->path);
    must(database_writer_open(to->path, &writer, error));
    struct table_writer *country = table_begin(writer, "countries", country_columns, 2, COUNTRIES, countries);
    numbers_put(country, 0, COUNTRIES, 1);
    must(table_writer_segment(country, 1, 0, star.people, NULL, error));
    struct table_writer *city = table_begin(writer, "cities", city_columns, 4, CITIES, cities);
    for (uint32_t c = 0; codec && c < 4; c++)
        must(table_writer_codec(city, c, codec, error));
    numbers_put(city, 0, CITIES, 1);
    column_put(city, 1, star.country_of, CITIES, true, countries);
    numbers_put(city, 2, CITIES, ZONE_ROWS);
    column_put(city, 3, star.size, CITIES, true, NULL);
    struct table_writer *sale = table_begin(writer, "sales", sold_columns, 2, SALES, NULL);
    if (bad_sale >= 0) { /* a key in the first gap */
        static int32_t keys[SALES];
        struct position_check check;
        for (uint32_t s = 0; s < SALES; s++)
            keys[s] = (int32_t)levels_position(cities, s % CITIES);
        must(position_check_open(&city->table, &check, error));
        for (keys[bad_sale] = 0; position_has_row(&check, (uint32_t)keys[bad_sale]);)
            keys[bad_sale]++;
        position_check_close(&check);
        must(table_writer_segment(sale, 0, 0, keys, NULL, error));
    } else {
        column_put(sale, 0, star.city_of, SALES, true, cities);
    }
    column_put(sale, 1, star.paid, SALES, false, NULL);
    country->table.levels = city->table.levels = NULL;
    must(database_writer_commit(writer, error));
    must(database_open(to->path, &to->database, error));
    levels_give(to->database, "countries", countries);
    levels_give(to->database, "cities", cities);
}

static void star_end(struct opened *of)
{
    levels_give(of->database, "countries", NULL);
    levels_give(of->database, "cities", NULL);
    database_close(of->database);
    directory_remove(of->path);
    levels_free(&of->countries);
    levels_free(&of->cities);
}

/* ---- Answers ---- */

static const char *const statements[] = {
    "SELECT zone, count(*), sum(paid) FROM sales, cities WHERE city = cities.id GROUP BY zone ORDER BY 1",
    "SELECT count(*), sum(paid) FROM sales, cities WHERE city = cities.id AND zone BETWEEN 3 AND 7",
    "SELECT count(*), min(size), max(size) FROM sales, cities WHERE city = cities.id AND zone IN (0, 9, 29)",
    "SELECT count(*) FROM sales, cities WHERE city = cities.id AND size * 3 < zone * 5000",
    "SELECT count(*) FROM sales, cities WHERE city = cities.id AND size IS NULL",
    "SELECT count(*), count(city), count(size) FROM sales LEFT JOIN cities ON city = cities.id AND size > "
    "50000",
    "SELECT city, paid FROM sales WHERE paid < 20 ORDER BY 1, 2",
    "SELECT city, zone, size, paid FROM sales LEFT JOIN cities ON city = cities.id AND zone < 10 WHERE paid "
    "> 980 "
    "ORDER BY 1, 2, 3, 4",
    "SELECT countries.id, count(*), max(people) FROM sales, cities, countries WHERE city = cities.id AND "
    "country = countries.id AND people > 1000 GROUP BY countries.id ORDER BY 1",
    "SELECT country, sum(paid) FROM sales, cities WHERE city = cities.id AND zone = 5 GROUP BY country ORDER "
    "BY 1",
    "SELECT cities.id, people, paid FROM sales LEFT JOIN cities ON city = cities.id LEFT JOIN countries ON "
    "country = "
    "countries.id WHERE paid = 7 ORDER BY 1, 2, 3",
    "SELECT count(*), sum(people) FROM cities, countries WHERE country = countries.id AND zone < 4",
    "SELECT id, country, zone, size FROM cities ORDER BY 1",
    "SELECT count(DISTINCT country) FROM sales, cities WHERE city = cities.id AND zone > 12"};

static void answers_are_those_without_levels(void **state)
{
    static const char *const codecs[] = {NULL, "plain", "nsf", "lane-for"};
    struct engine *engine;
    (void)state;
    star_draw();
    for (uint32_t round = 0; round < 12; round++) {
        struct opened with = {0}, without = {0};
        must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
        star_write(&without, false, codecs[round % 4], -1);
        star_write(&with, true, codecs[round % 4], -1);
        for (size_t s = 0; s < sizeof statements / sizeof *statements; s++) {
            char *const expected = sql_answer(engine, without.database, statements[s]);
            char *const answer = sql_answer(engine, with.database, statements[s]);
            if (strcmp(answer, expected) != 0)
                fail_msg("%s\nanswers  %s\nand not  %s", statements[s], answer, expected);
            free(expected);
            free(answer);
        }
        engine_close(engine);
        star_end(&without);
        star_end(&with);
    }
}

/* Adds up the values of a column of int64 in all batches, each times its place; NULL counts as -1. */
static uint64_t exported_sum(struct database *database, const char *name, int64_t column)
{
    const struct table *table;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    uint64_t sum = 0, place = 0;
    must(database_table(database, name, &table, error));
    must(arrow_export_table(database, table, 1, &stream, error));
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.children[column]->format, "l");
    schema.release(&schema);
    for (struct ArrowArray batch; stream.get_next(&stream, &batch) == 0 && batch.release;) {
        const struct ArrowArray *array = batch.children[column];
        const uint8_t *valid = array->buffers[0];
        const int64_t *values = array->buffers[1];
        for (int64_t i = 0; i < array->length; i++)
            sum += ++place * (uint64_t)(!valid || valid[i / 8] >> i % 8 & 1 ? values[i] : -1);
        batch.release(&batch);
    }
    stream.release(&stream);
    assert_int_equal(place, table->rows);
    return sum;
}

static void exports_have_the_keys_themselves(void **state)
{
    (void)state;
    star_draw();
    for (int round = 0; round < 5; round++) {
        struct opened with = {0}, without = {0};
        star_write(&without, false, NULL, -1);
        star_write(&with, true, NULL, -1);
        assert_int_equal(exported_sum(with.database, "sales", 0), exported_sum(without.database, "sales", 0));
        assert_int_equal(exported_sum(with.database, "cities", 1),
                         exported_sum(without.database, "cities", 1));
        star_end(&without);
        star_end(&with);
    }
}

/* ---- Plans ---- */

static struct plan *plan_of(struct database *database, const char *sql)
{
    struct plan *plan;
    must(star_plan(database, sql, &(struct sql_options){.threads = 1}, &plan, error));
    return plan;
}

/* Zones low .. high are consecutive rows: consecutive positions, but for gaps. */
static void rows_that_follow_each_other_are_a_range_of_positions(void **state)
{
    (void)state;
    star_draw();
    for (int round = 0; round < 30; round++) {
        struct opened with = {0};
        char sql[200];
        const uint32_t zones = CITIES / ZONE_ROWS, low = below(zones), high = low + below(zones - low);
        star_write(&with, true, NULL, -1);
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM sales, cities WHERE city = cities.id AND zone BETWEEN %u AND %u", low,
                 high);
        struct plan *plan = plan_of(with.database, sql);
        const struct plan_join *join = &plan->joins[0];
        assert_int_equal(join->passing, (high - low + 1) * ZONE_ROWS);
        assert_true(join->contiguous);
        assert_int_equal(join->first, levels_position(&with.cities.levels, low * ZONE_ROWS));
        assert_int_equal(join->last, levels_position(&with.cities.levels, (high + 1) * ZONE_ROWS - 1));
        plan_free(plan);
        plan = plan_of(with.database,
                       "SELECT count(*) FROM sales, cities WHERE city = cities.id AND zone IN (2, 4)");
        assert_int_equal(plan->joins[0].passing, 2 * ZONE_ROWS);
        assert_false(plan->joins[0].contiguous);
        plan_free(plan);
        star_end(&with);
    }
}

/* What a kernel finds when it evaluates a predicate at all positions: a range of them, if the rows follow each other. */
static void gaps_do_not_break_a_range_of_positions(void **state)
{
    (void)state;
    star_draw();
    for (int round = 0; round < 30; round++) {
        struct opened with = {0};
        star_write(&with, true, NULL, -1);
        struct plan *plan = plan_of(
            with.database,
            "SELECT zone, country, size, count(*) FROM sales, cities WHERE city = cities.id GROUP BY zone, "
            "country, size");
        for (uint32_t a = 0; a < plan->array_count; a++) {
            const struct plan_array *array = &plan->arrays[a];
            int64_t before = 0, value;
            uint8_t null_before = 0, null;
            assert_int_equal(array->rows, with.cities.levels.positions);
            for (uint64_t position = 0; position < array->rows; position++) {
                uint64_t row;
                plan_array_read(array, position, 1, &value, &null);
                if (position && !levels_row(&with.cities.levels, position, &row)) {
                    assert_int_equal(value, before);
                    assert_int_equal(null, null_before);
                }
                before = value;
                null_before = null;
            }
        }
        assert_true(plan->array_count >= 3);
        plan_free(plan);
        star_end(&with);
    }
}

/* ---- Damage ---- */

static void a_key_in_a_gap_is_refused_with_its_place(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct opened with = {0};
        struct fact_data opened;
        struct error why = {0};
        const struct table *sales;
        char place[64];
        const uint32_t bad = below(SALES);
        star_write(&with, true, NULL, bad);
        must(database_table(with.database, "sales", &sales, error));
        snprintf(place, sizeof place, "column sales.city, segment 0, tile %u points at position",
                 bad / TILE_ROWS);
        assert_int_equal(fact_data_open(with.database, &sales->columns[0], NULL, 1, &opened, &why),
                         STATUS_BAD_INPUT);
        assert_non_null(strstr(why.text, place));
        assert_non_null(strstr(why.text, "of cities, where no row is"));
        star_end(&with);
    }
}

struct found {
    char text[1000];
};

static void take_line(void *context, const char *line, bool fault)
{
    if (fault)
        snprintf(((struct found *)context)->text, sizeof((struct found *)context)->text, "%s", line);
}

/* Zones of 50 rows have 64 positions each. */
static void a_check_names_keys_in_gaps(void **state)
{
    static int32_t keys[SALES];
    char path[PATH_BYTES];
    struct database_writer *writer;
    struct table_writer *city, *sale;
    struct found found = {""};
    (void)state;
    star_draw();
    for (int bad = 0; bad < 2; bad++) {
        directory_make(path);
        must(database_writer_open(path, &writer, error));
        const struct column_schema columns[] = {city_columns[0], city_columns[2]};
        must(database_writer_table(writer, "cities", columns, 2, CITIES, &city, error));
        must(table_writer_levels(city, &(struct levels_wish){.count = 1, .columns = {1}}, error));
        numbers_put(city, 0, CITIES, 1);
        numbers_put(city, 1, CITIES, ZONE_ROWS);
        must(table_writer_sort(city, 1, NULL, error));
        for (uint32_t s = 0; s < SALES; s++)
            keys[s] = table_writer_positions(city)[s % CITIES];
        if (bad)
            keys[2100] = 63;
        must(database_writer_table(writer, "sales", sold_columns, 1, SALES, &sale, error));
        must(table_writer_segment(sale, 0, 0, keys, NULL, error));
        must(database_writer_commit(writer, error));
        assert_int_equal(database_check(path, 1, take_line, &found, NULL, NULL),
                         bad ? STATUS_CHECK_FAILED : STATUS_OK);
        assert_int_equal(strstr(found.text,
                                "segment 0, tile 2: a key is at a position where the referenced table "
                                "has no row") != NULL,
                         bad);
        directory_remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_without_levels),
                                       cmocka_unit_test(exports_have_the_keys_themselves),
                                       cmocka_unit_test(rows_that_follow_each_other_are_a_range_of_positions),
                                       cmocka_unit_test(gaps_do_not_break_a_range_of_positions),
                                       cmocka_unit_test(a_key_in_a_gap_is_refused_with_its_place),
                                       cmocka_unit_test(a_check_names_keys_in_gaps)};
    random_state = 20261122;
    return cmocka_run_group_tests_name("positions_plan", tests, NULL, NULL);
}
