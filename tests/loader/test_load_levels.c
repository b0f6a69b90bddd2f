/*
 * test_load_levels.c: dimensions that are stored in the order of levels (storage/column/levels.h) give the answers that
 * they give in the order of their files, also after rows were appended and keys moved; what --levels may say; and
 * catalogues whose levels are wrong.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "storage/column/levels_file.h"
#include "tests/support/database_files.h"
#include "tests/support/shop_rows.h"
#include "tests/support/sql/sql_answer.h"

#include <signal.h>
#include <sys/wait.h>

static const char script[] =
    "CREATE TABLE regions (id INT PRIMARY KEY, continent TEXT, zone INT);\n"
    "CREATE TABLE shops (s_name TEXT PRIMARY KEY, s_region INT REFERENCES regions, s_country TEXT, s_city "
    "TEXT, "
    "s_size INT);\n"
    "CREATE TABLE sales (shop TEXT REFERENCES shops, region INT REFERENCES regions, pieces INT NOT NULL);\n";

/* ---- Rows as text, which depend on their number alone ---- */

/* Shops before row `LATER` have cities 10 to 39, later ones have cities 0 to 49 of further countries. */
#define LATER 1000u

struct rows {
    uint32_t first, count;
};

static void write_row(FILE *out, int table, uint32_t row, const struct rows rows[TABLES])
{
    const uint32_t x = scramble(row * 4ull + (uint32_t)table);
    if (table == REGIONS) {
        fprintf(out, "%d,continent %u,%u\n", (int)row * 7 - 20, x % 5, x % 5 * 10 + x / 5 % 3);
    } else if (table == SHOPS) {
        const uint32_t city = row < LATER ? 10 + x % 30 : x % 50;
        fprintf(out, "shop %u,%d,", row, (int)(x % 40) * 7 - 20);
        if (city == 17)
            fprintf(out, ",,%u\n", x % 9);
        else
            fprintf(out, "country %u,city %02u,%u\n", city / 10, city, x % 9);
    } else if (x % 13 == 0) {
        fprintf(out, ",,%u\n", x % 300);
    } else {
        const struct rows *shops = &rows[SHOPS];
        const uint32_t shop = shops->count ? shops->first + scramble(x) % shops->count : scramble(x) % 100;
        fprintf(out, "shop %u,%d,%u\n", shop, (int)(x % 40) * 7 - 20, x % 300);
    }
}

struct change {
    bool append, replace;
    enum dimension_order order;
    const char *levels[TABLES];
    const char *indexes;
};

/* Loads those rows of each table; a table of no rows is left out of an append. */
static enum status load(const char *directory, const struct rows rows[TABLES], const struct change *change,
                        struct error *why)
{
    char files[TABLES][PATH_BYTES + 64];
    const char *paths[TABLES];
    struct load_input inputs[TABLES];
    struct schema_script schema;
    struct load_report report;
    struct load_options options = {.directory = directory,
                                   .inputs = inputs,
                                   .threads = 2,
                                   .append = change->append,
                                   .replace = change->replace,
                                   .dimension_order = change->order,
                                   .levels = change->levels,
                                   .indexes = change->indexes};
    while (options.level_count < TABLES && change->levels[options.level_count])
        options.level_count++;
    for (int t = 0; t < TABLES; t++) {
        if (rows[t].count == 0 && change->append)
            continue;
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, names[t]);
        FILE *file = fopen(files[t], "w");
        assert_non_null(file);
        for (uint32_t row = rows[t].first; row < rows[t].first + rows[t].count; row++)
            write_row(file, t, row, rows);
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

static const struct change by_levels = {.order = DIMENSION_LEVELS}, by_file = {.order = DIMENSION_FILE},
                           append = {.append = true, .order = DIMENSION_LEVELS};

/* ---- Comparing databases ---- */

static const char *const questions[] = {
    "select count(*), sum(pieces), count(shop), count(region) from sales",
    "select s_country, s_city, count(*), sum(pieces) from sales, shops where shop = s_name group by "
    "s_country, "
    "s_city order by s_country, s_city",
    "select s_name, s_country, s_city, s_size, count(*) from sales, shops where shop = s_name and s_city >= "
    "'city "
    "25' group by s_name, s_country, s_city, s_size order by s_name",
    "select continent, zone, sum(pieces) from sales, regions where region = id group by continent, zone "
    "order by "
    "continent, zone",
    "select r.continent, s.s_country, count(*) from sales join shops s on s.s_name = shop join regions r on "
    "r.id "
    "= s.s_region where s.s_size < 5 group by r.continent, s.s_country order by r.continent, s.s_country",
    "select s_name, s_region, s_country, s_city, s_size from shops order by s_name",
    "select id, continent, zone from regions order by id",
    "select shop, region, count(*) from sales group by shop, region order by shop, region",
};

static void same_answers(const char *left, const char *right)
{
    struct database *a, *b;
    struct engine *engine;
    must(database_open(left, &a, error));
    must(database_open(right, &b, error));
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        char *const x = sql_answer(engine, a, questions[q]), *const y = sql_answer(engine, b, questions[q]);
        if (strcmp(x, y) != 0)
            fail_msg("%s:\n%s\n%s", questions[q], x, y);
        free(x);
        free(y);
    }
    engine_close(engine);
    database_close(a);
    database_close(b);
    must(database_check(left, 2, NULL, NULL, NULL, error));
}

/* The generation of the file of a column, by which a rewritten one is known. */
static uint64_t generation_of(const char *directory, const char *table_name, const char *column_name)
{
    struct database *database;
    const struct table *table;
    const struct column *column;
    must(database_open(directory, &database, error));
    must(database_table(database, table_name, &table, error));
    must(table_column(table, column_name, &column, error));
    const uint64_t generation = column->encodings[0].files.list[0].generation;
    assert_int_equal(column->sides.list[0].generation, generation);
    database_close(database);
    return generation;
}

/* The table's levels are these columns, by their names separated by blanks; "" for none. */
static void has_levels(const char *directory, const char *table_name, const char *expected)
{
    struct database *database;
    const struct table *table;
    char found[512] = "";
    must(database_open(directory, &database, error));
    must(database_table(database, table_name, &table, error));
    for (uint32_t l = 0; table->levels && l < table->levels->count; l++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", l ? " " : "",
                 table->columns[table->levels->level[l].column].schema.name);
    assert_string_equal(found, expected);
    database_close(database);
}

/* ---- Loading ---- */

static void answers_are_those_of_the_order_of_files(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 15, 16, 100, 1025, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const struct rows all[TABLES] = {{0, 40}, {0, sizes[s]}, {0, sizes[s] ? 3000 : 0}};
        setup(NULL);
        must(load(path, all, &by_levels, error));
        must(load(whole, all, &by_file, error));
        has_levels(path, "regions", "continent zone");
        has_levels(path, "sales", "");
        has_levels(whole, "regions", "");
        if (sizes[s] >= 100)
            has_levels(path, "shops", "s_country s_city");
        if (sizes[s] < 16)
            has_levels(path, "shops", "");
        same_answers(path, whole);
        teardown(NULL);
    }
}

static void facts_are_loaded_later(void **state)
{
    (void)state;
    const struct rows all[TABLES] = {{0, 40}, {0, 500}, {0, 2000}},
                      none[TABLES] = {{0, 40}, {0, 500}, {0, 0}}, sales[TABLES] = {{0, 0}, {0, 0}, {0, 2000}};
    must(load(path, none, &by_levels, error));
    must(load(path, sales, &append, error));
    must(load(whole, none, &by_file, error));
    must(load(whole, sales, &append, error));
    same_answers(path, whole);
    must(load(path, all, &(struct change){.replace = true, .order = DIMENSION_LEVELS}, error));
    must(load(whole, all, &(struct change){.replace = true, .order = DIMENSION_FILE}, error));
    has_levels(path, "shops", "s_country s_city");
    same_answers(path, whole);
    must(load(path, all, &(struct change){.replace = true, .order = DIMENSION_FILE}, error));
    has_levels(path, "shops", "");
    same_answers(path, whole);
}

static void levels_are_named(void **state)
{
    (void)state;
    const struct rows all[TABLES] = {{0, 40}, {0, 500}, {0, 2000}};
    must(load(whole, all, &by_file, error));
    must(load(
        path, all,
        &(struct change){.order = DIMENSION_FILE, .levels = {"Shops=city,SIZE,s_country", "regions=none"}},
        error));
    has_levels(path, "shops", "s_city s_size s_country");
    has_levels(path, "regions", "");
    same_answers(path, whole);
    must(load(path, all,
              &(struct change){.replace = true, .order = DIMENSION_LEVELS, .levels = {"regions=none"}},
              error));
    has_levels(path, "shops", "s_country s_city");
    has_levels(path, "regions", "");
    same_answers(path, whole);
}

static void refuse(const char *first, const char *second, const char *one, const char *two)
{
    const struct rows all[TABLES] = {{0, 40}, {0, 500}, {0, 2000}};
    must_refuse(STATUS_BAD_INPUT, one, two, "",
                load(path, all, &(struct change){.levels = {first, second}}, error));
    assert_int_not_equal(access(path, F_OK), 0);
}

static void wrong_names_are_refused(void **state)
{
    (void)state;
    refuse("shops", NULL, "--levels shops", "give TABLE=");
    refuse("shop=s_city", NULL, "--levels shop=s_city", "'shop'");
    refuse("shops=s_city,town", NULL, "table shops", "'town'");
    refuse("shops=", NULL, "table shops", "''");
    refuse("shops=s_city,", NULL, "table shops", "''");
    refuse("shops=s_city", "SHOPS=none", "SHOPS=none", "twice");
    refuse("shops=s_city,city", NULL, "s_city", "twice");
    refuse("shops=s_city,s_region", NULL, "s_region", "foreign key");
    refuse("sales=pieces", NULL, "table sales", "primary key");
    refuse("shops=s_city,s_city,s_city,s_city,s_city,s_city,s_city,s_city,s_city", NULL, "more than 8",
           "levels");
}

static void duplicate_keys_are_found_by_their_lines(void **state)
{
    (void)state;
    char file[PATH_BYTES + 64];
    const char *const files[] = {file};
    struct load_input inputs[] = {{.table = "shops", .paths = files, .path_count = 1}};
    const struct rows all[TABLES] = {{0, 40}, {0, 30}, {0, 10}};
    struct schema_script schema;
    struct load_report report;
    struct load_options options = {.directory = path,
                                   .inputs = inputs,
                                   .input_count = 1,
                                   .threads = 1,
                                   .append = true,
                                   .dimension_order = DIMENSION_LEVELS};
    must(load(path, all, &by_levels, error));
    snprintf(file, sizeof file, "%.*s/more.csv", (int)(strlen(path) - 3), path);
    bytes_write(file, "a,-20,x,y,1\nb,-20,a,b,1\na,-20,c,d,1\n", 36);
    must(schema_script_parse("star.sql", script, strlen(script), &schema, error));
    must_refuse(STATUS_BAD_INPUT, "more.csv:3: table shops, column s_name: the key 'a' is that of",
                "more.csv:1 already", "", tables_load(&schema, &options, &report, NULL, error));
    schema_script_free(&schema);
}

/* ---- Appending ---- */

static const struct rows begin[TABLES] = {{0, 40}, {0, 500}, {0, 3000}};

/* New shops find room in the leaves of their cities: no key moves. */
static void rows_that_find_room_move_no_keys(void **state)
{
    (void)state;
    const struct rows more[TABLES] = {{0, 0}, {500, 2}, {3000, 100}},
                      shops[TABLES] = {{0, 0}, {502, 2}, {0, 0}};
    must(load(path, begin, &by_levels, error));
    must(load(whole, begin, &by_file, error));
    const uint64_t before = generation_of(path, "sales", "shop");
    must(load(path, shops, &append, error));
    assert_int_equal(generation_of(path, "sales", "shop"), before);
    must(load(path, more, &append, error));
    must(load(whole, shops, &append, error));
    must(load(whole, more, &append, error));
    has_levels(path, "shops", "s_country s_city");
    has_levels(whole, "shops", "");
    same_answers(path, whole);
}

/* Shops of new cities come before old ones: keys move, in one commit, and only they are written again. */
static void keys_move_where_there_is_no_room(void **state)
{
    (void)state;
    const struct rows shops[TABLES] = {{0, 0}, {LATER, 300}, {0, 0}},
                      more[TABLES] = {{0, 0}, {LATER + 300, 200}, {3000, 500}},
                      sales[TABLES] = {{0, 0}, {0, 0}, {3500, 500}};
    struct change indexed = by_levels;
    indexed.indexes = "shop,pieces";
    must(load(path, begin, &indexed, error));
    must(load(whole, begin, &by_file, error));
    const uint64_t keys = generation_of(path, "sales", "shop"),
                   pieces = generation_of(path, "sales", "pieces");
    must(load(path, shops, &append, error));
    assert_true(generation_of(path, "sales", "shop") > keys);
    assert_int_equal(generation_of(path, "sales", "pieces"), pieces);
    assert_int_equal(generation_of(path, "sales", "region"), pieces);
    must(load(whole, shops, &append, error));
    same_answers(path, whole);
    must(load(path, more, &append, error)); /* the same, with rows of sales */
    must(load(whole, more, &append, error));
    same_answers(path, whole);
    must(load(path, sales, &append, error));
    must(load(whole, sales, &append, error));
    same_answers(path, whole);
    struct database *database;
    const struct table *table;
    must(database_open(path, &database, error));
    must(database_table(database, "sales", &table, error));
    assert_true(table->columns[0].index && table->columns[2].index && !table->columns[1].index);
    database_close(database);
}

/* Regions are referenced by shops and by sales. */
static void keys_of_several_tables_move(void **state)
{
    (void)state;
    const struct rows regions[TABLES] = {{40, 200}, {0, 0}, {0, 0}},
                      more[TABLES] = {{240, 300}, {LATER, 100}, {3000, 100}};
    must(load(path, begin, &by_levels, error));
    must(load(whole, begin, &by_file, error));
    const uint64_t shops = generation_of(path, "shops", "s_region"),
                   sales = generation_of(path, "sales", "region");
    must(load(path, regions, &append, error));
    must(load(whole, regions, &append, error));
    assert_true(generation_of(path, "shops", "s_region") > shops);
    assert_true(generation_of(path, "sales", "region") > sales);
    assert_int_equal(generation_of(path, "shops", "s_city"), shops);
    has_levels(path, "shops", "s_country s_city");
    same_answers(path, whole);
    must(load(path, more, &append, error));
    must(load(whole, more, &append, error));
    same_answers(path, whole);
}

/* The script of an append need not name the tables that reference the one that grows. */
static void a_script_of_dimensions_keeps_levels(void **state)
{
    (void)state;
    char file[PATH_BYTES + 64], rows[4096] = "";
    const char *const files[] = {file};
    struct load_input inputs[] = {{.table = "regions", .paths = files, .path_count = 1}};
    static const char regions[] = "CREATE TABLE regions (id INT PRIMARY KEY, continent TEXT, zone INT);";
    struct schema_script schema;
    struct load_report report;
    const struct load_options options = {.directory = path,
                                         .inputs = inputs,
                                         .input_count = 1,
                                         .threads = 1,
                                         .append = true,
                                         .dimension_order = DIMENSION_LEVELS};
    must(load(path, begin, &by_levels, error));
    must(load(whole, begin, &by_file, error));
    for (int r = 0; r < 100; r++)
        snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%d,a continent,%d\n", 100000 + r, r % 4);
    snprintf(file, sizeof file, "%.*s/more.csv", (int)(strlen(path) - 3), path);
    bytes_write(file, rows, strlen(rows));
    must(schema_script_parse("star.sql", regions, strlen(regions), &schema, error));
    const uint64_t sales = generation_of(path, "sales", "region");
    must(tables_load(&schema, &options, &report, NULL, error));
    has_levels(path, "regions", "continent zone");
    assert_true(generation_of(path, "sales", "region") > sales);
    struct load_options other = options;
    other.directory = whole;
    must(tables_load(&schema, &other, &report, NULL, error));
    has_levels(whole, "regions", "");
    schema_script_free(&schema);
    same_answers(path, whole);
}

/* A table that had too few rows for levels gets them when it has enough. */
static void small_tables_grow(void **state)
{
    (void)state;
    const struct rows few[TABLES] = {{0, 40}, {0, 5}, {0, 300}},
                      more[TABLES] = {{0, 0}, {5, 200}, {300, 300}};
    must(load(path, few, &by_levels, error));
    must(load(whole, few, &by_file, error));
    has_levels(path, "shops", "");
    must(load(path, more, &append, error));
    must(load(whole, more, &(struct change){.append = true, .order = DIMENSION_FILE}, error));
    has_levels(path, "shops", "s_country s_city");
    has_levels(whole, "shops", "");
    same_answers(path, whole);
}

/* Other levels, or none, are asked for with an append. */
static void levels_change_with_an_append(void **state)
{
    (void)state;
    const struct rows more[TABLES] = {{0, 0}, {LATER, 50}, {0, 0}},
                      last[TABLES] = {{0, 0}, {LATER + 50, 50}, {3000, 50}},
                      end[TABLES] = {{0, 0}, {LATER + 100, 50}, {0, 0}};
    must(load(path, begin, &by_file, error));
    must(load(whole, begin, &by_file, error));
    must(load(path, more, &(struct change){.append = true, .levels = {"shops=s_size,city"}}, error));
    must(load(whole, more, &append, error));
    has_levels(path, "shops", "s_size s_city");
    same_answers(path, whole);
    must(load(path, last, &append, error));
    must(load(whole, last, &append, error));
    has_levels(path, "shops", "s_size s_city");
    same_answers(path, whole);
    must(load(path, end, &(struct change){.append = true, .levels = {"shops=none"}}, error));
    must(load(whole, end, &append, error));
    has_levels(path, "shops", "");
    same_answers(path, whole);
}

/* A process dies in the middle of an append that moves keys. */
static void a_killed_append_moves_nothing(void **state)
{
    (void)state;
    must(load(path, begin, &by_levels, error));
    uint32_t killed = 0;
    for (unsigned after = 0; after < 24; after++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (uint32_t row = 0;; row += 10) {
                const struct rows more[TABLES] = {{40 + row, 10}, {LATER + row, 10}, {0, 0}};
                if (load(path, more, &append, NULL) != STATUS_OK)
                    _exit(0); /* an earlier child has loaded these rows */
            }
        }
        usleep(after * 1700);
        killed += kill(child, SIGKILL) == 0;
        assert_int_equal(waitpid(child, NULL, 0), child);
        must(database_check(path, 1, NULL, NULL, NULL, error));
        struct database *database;
        struct engine *engine;
        must(database_open(path, &database, error));
        must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
        char *const text = sql_answer(engine, database,
                                      "select count(*), sum(s_size) from sales, shops where shop = s_name");
        static char first[128];
        if (!first[0])
            snprintf(first, sizeof first, "%s", text);
        assert_string_equal(text, first); /* old keys find their shops */
        free(text);
        engine_close(engine);
        database_close(database);
    }
    assert_int_equal(killed, 24);
}

/* ---- Catalogues that are wrong ---- */

static void forge(const struct bytes *bytes, const char *from, const char *to)
{
    const char *const body = strchr((const char *)bytes->data, '\n') + 1;
    const size_t size = bytes->size - (size_t)(body - (const char *)bytes->data);
    const char *const at = memmem(body, size, from, strlen(from));
    if (!at)
        fail_msg("the catalogue has no %s", from);
    char *const text = malloc(size + strlen(to) + 1);
    assert_non_null(text);
    const size_t before = (size_t)(at - body), after = size - before - strlen(from);
    memcpy(text, body, before);
    memcpy(text + before, to, strlen(to));
    memcpy(text + before + strlen(to), at + strlen(from), after);
    catalogue_forge(bytes->path, 4, text, before + strlen(to) + after);
    free(text);
}

/* Opens the database and reads the leaves of its first table, as every statement does that reads one of its columns. */
static enum status read_levels(struct error *error)
{
    struct database *database;
    RETURN_IF_ERROR(database_open(path, &database, error));
    const enum status status = levels_load(database_table_at(database, 0), error);
    database_close(database);
    return status;
}

/* What cannot be seen when the database is opened is seen when it is checked: rows are not at these positions. */
static void refuse_state(const char *name)
{
    struct error opened = {0};
    if (read_levels(&opened) == STATUS_OK) {
        must_refuse(STATUS_CHECK_FAILED, "regions", "", "", database_check(path, 1, NULL, NULL, NULL, error));
        return;
    }
    assert_int_equal(opened.status, STATUS_BAD_INPUT);
    assert_non_null(strstr(opened.text, name));
    must_refuse(STATUS_BAD_INPUT, name, "", "", database_check(path, 1, NULL, NULL, NULL, error));
}

/* Numbers of the levels of regions, the first table, as the catalogue has them. */
static void hostile_levels_are_refused(void **state)
{
    (void)state;
    struct database *database;
    const struct table *table;
    const struct rows all[TABLES] = {{0, 40}, {0, 0}, {0, 0}};
    must(load(path, all, &by_levels, error));
    must(database_open(path, &database, error));
    must(database_table(database, "regions", &table, error));
    const struct table_levels *const levels = table->levels;
    struct bytes bytes = bytes_read(path, "catalogue");
    char from[64], to[64];
    static const struct {
        const char *field;
        int64_t change;
    } wrong[] = {{"rest_bits", 1}, {"rest_bits", -1}, {"rest_bits", 40},      {"rest_bits", -10},
                 {"positions", 1}, {"positions", -1}, {"positions", 1 << 30}, {"positions", -1000},
                 {"leaves", 1},    {"leaves", -1},    {"leaves", 1 << 20},    {"leaves", -100}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        const int64_t value = wrong[w].field[0] == 'r'   ? levels->rest_bits
                              : wrong[w].field[0] == 'p' ? (int64_t)levels->positions
                                                         : levels->leaf_count;
        snprintf(from, sizeof from, "\"%s\": %lld", wrong[w].field, (long long)value);
        snprintf(to, sizeof to, "\"%s\": %lld", wrong[w].field, (long long)(value + wrong[w].change));
        forge(&bytes, from, to);
        must_refuse(STATUS_BAD_INPUT, "regions", wrong[w].field[0] == 'r' ? "" : "not valid", "",
                    read_levels(error));
    }
    static const char *const texts[][2] = {{"\"continent\",\n", "\"id\",\n"},
                                           {"\"continent\",\n", "\"nothing\",\n"},
                                           {"\"continent\",\n", "\"zone\",\n"},
                                           {"\"depth\": [\n", "\"depth\": [\n 1,\n"},
                                           {"\"depth\": [\n", "\"depth\": [],\n \"deep\": [\n"},
                                           {"\"bits\": [\n", "\"bits\": [\n -1,\n"},
                                           {"\"bits\": [\n", "\"bits\": [\n 31,\n"},
                                           {"\"bits\": [\n", "\"bits\": [],\n \"bit\": [\n"},
                                           {"     3,\n     1,\n     2\n", "     2,\n     1,\n     2\n"},
                                           {"     3,\n     1,\n     2\n", "     3,\n     1,\n     1\n"},
                                           {"     3,\n     1,\n     2\n", "     3,\n     0,\n     2\n"},
                                           {"     3,\n     1,\n     2\n", "     3,\n     2,\n     2\n"},
                                           {"     3,\n     1,\n     2\n", "     4,\n     1,\n     2\n"},
                                           {"\"leaves\":", "\"leave\":"},
                                           {"\"positions\":", "\"position\":"}};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        forge(&bytes, texts[t][0], texts[t][1]);
        refuse_state("regions");
    }
    bytes_write(bytes.path, bytes.data, bytes.size);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    free(bytes.data);
    database_close(database);
}

/* The part with the leaves, damaged and sealed again. */
static void hostile_leaves_are_refused(void **state)
{
    (void)state;
    struct database *database;
    const struct table *table;
    const struct rows all[TABLES] = {{0, 40}, {0, 0}, {0, 0}};
    must(load(path, all, &by_levels, error));
    must(database_open(path, &database, error));
    must(database_table(database, "regions", &table, error));
    assert_null(table->levels->leaves);
    must(levels_load(table, error));
    const uint32_t leaves = table->levels->leaf_count;
    uint32_t stored[2 * 64];
    assert_true(leaves <= 64);
    for (uint32_t f = 0; f < leaves; f++) {
        stored[2 * f] = table->levels->leaves[f].prefix;
        stored[2 * f + 1] = table->levels->leaves[f].rows;
    }
    database_close(database);
    struct bytes side = bytes_read(path, "tables/regions/id.side.1");
    uint8_t *const at = memmem(side.data, side.size, stored, 8ull * leaves);
    assert_non_null(at);
    for (uint32_t word = 0; word < 2 * leaves; word++)
        for (int by = 0; by < 4; by++) {
            static const uint32_t changes[] = {1, UINT32_MAX, 1u << 31, 1u << 20};
            const uint32_t value = stored[word] + changes[by];
            memcpy(at + 4 * word, &value, 4);
            reseal(side.data, side.size);
            bytes_write(side.path, side.data, side.size);
            refuse_state(side.path);
            memcpy(at + 4 * word, &stored[word], 4);
        }
    at[0] ^= 1; /* and not sealed */
    reseal(side.data, side.size);
    at[0] ^= 1;
    bytes_write(side.path, side.data, side.size);
    must_refuse(STATUS_CHECK_FAILED, side.path, "levels", "wrong checksum", read_levels(error));
    /* Two leaves with a row more and a row less have rows that do not belong to them. */
    for (uint32_t f = 0; f + 1 < leaves; f++)
        if (stored[2 * f + 1] > 1) {
            stored[2 * f + 1]--;
            stored[2 * f + 3]++;
            break;
        }
    memcpy(at, stored, 8ull * leaves);
    reseal(side.data, side.size);
    bytes_write(side.path, side.data, side.size);
    must_refuse(STATUS_CHECK_FAILED, "table regions", "row", "",
                database_check(path, 1, NULL, NULL, NULL, error));
    free(side.data);
}

#define in_directories(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_order_of_files),
        in_directories(facts_are_loaded_later),
        in_directories(levels_are_named),
        in_directories(wrong_names_are_refused),
        in_directories(duplicate_keys_are_found_by_their_lines),
        in_directories(rows_that_find_room_move_no_keys),
        in_directories(keys_move_where_there_is_no_room),
        in_directories(keys_of_several_tables_move),
        in_directories(a_script_of_dimensions_keeps_levels),
        in_directories(small_tables_grow),
        in_directories(levels_change_with_an_append),
        in_directories(a_killed_append_moves_nothing),
        in_directories(hostile_levels_are_refused),
        in_directories(hostile_leaves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
