/*
 * test_clustering.c: rows of a clustered table stand as a stable sort of each segment by their cells puts them: loaded at once,
 * appended, compacted, by levels and by values of all types, with NULLs. They give the answers of the same rows that keep their
 * order; rows that others reference stay where they are; and catalogues whose clustering is wrong are refused.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "storage/column/column_data.h"
#include "storage/column/levels_file.h"
#include "tests/support/database_files.h"
#include "tests/support/shop_rows.h"

#include <stdatomic.h>

static const char script[] =
    "CREATE TABLE shops (s_name TEXT PRIMARY KEY, s_country TEXT, s_city TEXT);\n"
    "CREATE TABLE regions (id INT PRIMARY KEY, kind TEXT, brand INT);\n"
    "CREATE TABLE days (day DATE PRIMARY KEY, feast TEXT);\n"
    "CREATE TABLE lots (house INT NOT NULL, lot INT NOT NULL, owner TEXT, PRIMARY KEY (house, lot));\n"
    "CREATE TABLE sales (number BIGINT PRIMARY KEY, shop TEXT REFERENCES shops, region INT NOT NULL "
    "REFERENCES regions, day DATE REFERENCES days, house INT, lot INT, note TEXT, weight DOUBLE, "
    "price DECIMAL(12,2) NOT NULL, big BIGINT, FOREIGN KEY (house, lot) REFERENCES lots (house, lot));\n";

static const char script_of_returns[] = "CREATE TABLE sales (number BIGINT PRIMARY KEY);\n"
                                        "CREATE TABLE returns (sale BIGINT REFERENCES sales, why INT);\n";

/* ---- Rows as text, which depend on their number alone ---- */

static void write_shop(FILE *out, uint32_t row)
{
    const uint32_t city = row < 200 ? scramble(row) % 20 : 20 + row % 5;
    fprintf(out, "shop %u,country %02u,city %02u\n", row, city / 4, city);
}

static void write_region(FILE *out, uint32_t row)
{
    const uint32_t brand = scramble(row + 7) % 40;
    fprintf(out, "%u,kind %u,%u\n", 5 * row, brand % 7, brand);
}

static void write_day(FILE *out, uint32_t row)
{
    fprintf(out, "2024-01-%02u,feast %u\n", row + 1, row % 2);
}

static void write_lot(FILE *out, uint32_t row)
{
    fprintf(out, "%u,%u,owner %u\n", row / 6, row % 6, row % 4);
}

/* Shop 999 is none, and becomes NULL. */
static void write_one_sale(FILE *out, uint32_t row)
{
    const uint32_t x = scramble(row * 3ull + 1), y = scramble(row * 3ull + 2);
    fprintf(out, "%u,", row);
    if (x % 11)
        fprintf(out, "shop %u", x % 29 ? x % 200 : 999);
    fprintf(out, ",%u,", y % 60 * 5);
    if (y % 7)
        fprintf(out, "2024-01-%02u", x % 10 + 1);
    fputs(y % 5 ? "," : ",,,", out);
    if (y % 5)
        fprintf(out, "%u,%u,", x % 10, y % 6);
    if (x % 3)
        fprintf(out, "note %02u", x % 37);
    fputc(',', out);
    if (y % 13)
        fprintf(out, "%d.25", (int)(x % 2001) - 1000);
    fprintf(out, ",%u.%02u,", y % 5000, x % 100);
    if (x % 9)
        fprintf(out, "%lld", (long long)((UINT64_C(5) << 60) + ((uint64_t)x << 29 ^ (uint64_t)y << 4)));
    fputc('\n', out);
}

static const struct source {
    const char *table;
    void (*write)(FILE *out, uint32_t row);
} sources[] = {
    {"shops", write_shop}, {"regions", write_region}, {"days", write_day},
    {"lots", write_lot},   {"sales", write_one_sale},
};
#define SOURCES (sizeof sources / sizeof *sources)

/* Rows of each table; one of no rows is left out of an append. */
struct sizes {
    uint32_t first[SOURCES], count[SOURCES];
};

static struct sizes sales(uint32_t first, uint32_t count)
{
    return (struct sizes){.first = {[4] = first}, .count = {[4] = count}};
}

static struct sizes all(uint32_t count)
{
    return (struct sizes){.count = {200, 60, 10, 60, count}};
}

struct how {
    const char *cluster_by, *levels, *codecs;
    bool append, by_file;
    unsigned threads;
};

static enum status load_as(const char *schema_text, const char *directory, const struct sizes *rows,
                           const struct how *how, struct error *why)
{
    char files[SOURCES][PATH_BYTES + 64];
    const char *paths[SOURCES];
    struct load_input inputs[SOURCES];
    struct schema_script schema;
    struct load_report report;
    struct load_options options = {.directory = directory,
                                   .inputs = inputs,
                                   .threads = how->threads ? how->threads : 1,
                                   .append = how->append,
                                   .dangling_null = true,
                                   .cluster_by = how->cluster_by,
                                   .codecs = how->codecs,
                                   .dimension_order = how->by_file ? DIMENSION_FILE : DIMENSION_LEVELS,
                                   .levels = &how->levels,
                                   .level_count = how->levels != NULL};
    for (size_t t = 0; t < SOURCES; t++) {
        if (rows->count[t] == 0 && (how->append || t < 4))
            continue;
        snprintf(files[t], sizeof files[t], "%.*s/%s.csv", (int)(strlen(path) - 3), path, sources[t].table);
        FILE *const out = fopen(files[t], "w");
        assert_non_null(out);
        for (uint32_t row = rows->first[t]; row < rows->first[t] + rows->count[t]; row++)
            sources[t].write(out, row);
        fclose(out);
        paths[t] = files[t];
        inputs[options.input_count++] =
            (struct load_input){.table = sources[t].table, .paths = &paths[t], .path_count = 1};
    }
    must(schema_script_parse("star.sql", schema_text, strlen(schema_text), &schema, error));
    const enum status status = tables_load(&schema, &options, &report, NULL, why);
    schema_script_free(&schema);
    return status;
}

static void load(const char *directory, struct sizes rows, struct how how)
{
    must(load_as(script, directory, &rows, &how, error));
}

/* ---- What is stored ---- */

/* The stored values of a column, in the order of the rows. */
struct stored {
    int64_t *values;
    bool *valid;
};

static struct stored read_stored(const char *directory, const struct table *table,
                                 const struct column *column)
{
    struct column_data *data;
    const uint64_t rows = table->rows;
    struct stored stored = {calloc(rows + 1, sizeof *stored.values), calloc(rows + 1, sizeof *stored.valid)};
    struct chunk_reader reader = {0};
    uint64_t row = 0;
    assert_non_null(stored.values);
    assert_non_null(stored.valid);
    must(column_data_read(directory, column, column->own, 1, &data, error));
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct segment_data *const segment = &data->segments[s];
        for (uint32_t r = 0; r < segment->chunk.rows; r++, row++) {
            const uint32_t tile = r / TILE_ROWS, at = r % TILE_ROWS;
            const void *values;
            must(chunk_reader_tile(&reader, &segment->chunk, tile, &values, error));
            stored.values[row] =
                column->value_bytes == 8 ? ((const int64_t *)values)[at] : ((const int32_t *)values)[at];
            stored.valid[row] =
                !segment->validity || tile_row_valid(segment->validity + tile * TILE_LANES, at);
        }
    }
    assert_int_equal(row, rows);
    chunk_reader_close(&reader);
    column_data_free(data);
    return stored;
}

static void stored_free(struct stored *stored)
{
    free(stored->values);
    free(stored->valid);
}

struct opened {
    struct database *database;
    const struct table *table;
};

static struct opened open_table(const char *directory, const char *name)
{
    struct opened opened;
    must(database_open(directory, &opened.database, error));
    must(database_table(opened.database, name, &opened.table, error));
    return opened;
}

/* ---- Where rows should stand ---- */

#define TERMS_MOST 4u

struct cell_row {
    uint32_t codes[TERMS_MOST]; /* 0: NULL */
    uint32_t row;
};

static int by_codes(const void *a, const void *b)
{
    const struct cell_row *const x = a, *const y = b;
    for (uint32_t t = 0; t < TERMS_MOST; t++)
        if (x->codes[t] != y->codes[t])
            return x->codes[t] < y->codes[t] ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The codes of a term in one segment. */
static void add_codes(const struct column *column, uint32_t number, const struct stored *of, uint32_t first,
                      uint32_t rows, struct cell_row *cells, uint32_t term)
{
    const struct table_levels *const levels = column->references ? column->references->table->levels : NULL;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    uint32_t shift = 0;
    for (uint32_t r = first; r < first + rows; r++)
        if (of->valid[r]) {
            least = of->values[r] < least ? of->values[r] : least;
            greatest = of->values[r] > greatest ? of->values[r] : greatest;
        }
    if (levels) {
        least = 0;
        shift = levels_shift(levels, number);
    } else {
        while (least <= greatest && (((uint64_t)greatest - (uint64_t)least) >> shift) >> number)
            shift++;
    }
    for (uint32_t r = 0; r < rows; r++)
        if (of->valid[first + r])
            cells[r].codes[term] =
                1 + (uint32_t)(((uint64_t)of->values[first + r] - (uint64_t)least) >> shift);
}

struct term {
    const char *column;
    uint32_t number; /* 0 ends the terms */
};

/* Whether the numbers of sales in `path` from a segment on stand as those in `whole` do when they are sorted by their cells. */
static void segment_stands_by(uint32_t segment, const struct term *terms)
{
    struct opened clustered = open_table(path, "sales"), plain = open_table(whole, "sales");
    struct stored found = read_stored(path, clustered.table, &clustered.table->columns[0]),
                  given = read_stored(whole, plain.table, &plain.table->columns[0]);
    uint32_t first = 0;
    assert_int_equal(clustered.table->segment_count, plain.table->segment_count);
    for (uint32_t s = 0; s < segment; s++)
        first += plain.table->segment_rows[s];
    const uint32_t rows = plain.table->segment_count ? plain.table->segment_rows[segment] : 0;
    struct cell_row *const cells = calloc(rows + 1, sizeof *cells);
    assert_non_null(cells);
    for (uint32_t r = 0; r < rows; r++)
        cells[r].row = r;
    for (uint32_t t = 0; rows && terms && terms[t].number; t++) {
        const struct column *column;
        must(table_column(plain.table, terms[t].column, &column, error));
        struct stored of = read_stored(whole, plain.table, column);
        add_codes(column, terms[t].number, &of, first, rows, cells, t);
        stored_free(&of);
    }
    qsort(cells, rows, sizeof *cells, by_codes);
    for (uint32_t r = 0; r < rows; r++)
        if (found.values[first + r] != given.values[first + cells[r].row])
            fail_msg("segment %u, row %u: %lld, not %lld", segment, r, (long long)found.values[first + r],
                     (long long)given.values[first + cells[r].row]);
    free(cells);
    stored_free(&found);
    stored_free(&given);
    database_close(clustered.database);
    database_close(plain.database);
}

static const char *const questions[] = {
    "select * from sales order by number",
    "select s_country, s_city, count(*), sum(price), sum(weight) from sales join shops on shop = s_name "
    "group by s_country, "
    "s_city order by s_country, s_city",
    "select kind, count(*), min(number), max(big) from sales join regions on region = id where brand < 20 "
    "group by kind order "
    "by kind",
    "select owner, feast, count(*) from sales s join lots l on s.house = l.house and s.lot = l.lot left join "
    "days d on "
    "d.day = s.day group by owner, feast order by owner, feast",
    "select note, count(*) from sales where shop is null or note > 'note 20' group by note order by note",
    "select count(*), count(shop), count(day), count(note), count(weight), count(big) from sales",
};

static void same_answers(void)
{
    struct engine *engine;
    struct opened a = open_table(path, "sales"), b = open_table(whole, "sales");
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, error));
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        char *const x = sql_answer(engine, a.database, questions[q]), *const y = sql_answer(
                                                                          engine, b.database, questions[q]);
        if (strcmp(x, y) != 0)
            fail_msg("%s:\n%.2000s\n%.2000s", questions[q], x, y);
        free(x);
        free(y);
    }
    engine_close(engine);
    database_close(a.database);
    database_close(b.database);
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

/* The terms of sales, as "shop:2,note:4". */
static void clustered_by(const char *expected)
{
    struct opened opened = open_table(path, "sales");
    const struct clustering *const clustering = &opened.table->clustering;
    char found[512] = "";
    for (uint32_t t = 0; t < clustering->count; t++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s:%u", t ? "," : "",
                 opened.table->columns[clustering->terms[t].column].schema.name, clustering->terms[t].number);
    assert_string_equal(found, expected);
    database_close(opened.database);
}

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
    } cases[] = {{0, false, ""},
                 {5000, false, ""},
                 {30000, false, "shop:1"},
                 {200000, false, "shop:1,region:1"},
                 {30000, true, ""}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        load(path, all(cases[c].rows), (struct how){.cluster_by = "auto", .by_file = cases[c].by_file});
        clustered_by(cases[c].terms);
        teardown_setup();
    }
}

/* ---- Appends ---- */

static const struct term shops_and_notes[] = {{"shop", 2}, {"note", 3}, {0}},
                         by_price[] = {{"price", 4}, {0}}, by_shops[] = {{"shop", 1}, {"region", 1}, {0}};

static void both(struct sizes rows, const char *cluster_by, bool append)
{
    load(path, rows, (struct how){.cluster_by = cluster_by, .append = append});
    load(whole, rows, (struct how){.append = append});
}

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

/* ---- Compaction ---- */

static void ignore(void *context, const struct table *before, const struct table *after)
{
    (void)context;
    (void)before;
    (void)after;
}

static void compact(const char *directory, struct progress *progress)
{
    must(database_compact(directory, NULL, 2, ignore, NULL, progress, error));
}

/* Codes of levels are the same in all segments, so rows stand as those of one load. */
static void compacted_rows_stand_as_those_of_one_load(void **state)
{
    (void)state;
    load(whole, all(9000), (struct how){0});
    load(path, all(4000), (struct how){.cluster_by = "shop,region"});
    load(path, sales(4000, 31), (struct how){.append = true});
    load(path, sales(4031, 4969), (struct how){.append = true});
    same_answers();
    compact(path, NULL);
    clustered_by("shop:1,region:1");
    segment_stands_by(0, by_shops);
    same_answers();
}

/* An append says meanwhile that rows are clustered otherwise: that holds for what comes then. */
static void append_otherwise(struct progress *progress, const char *what, const char *unit, uint64_t done,
                             uint64_t total)
{
    atomic_bool *const once = progress->context;
    (void)what;
    (void)unit;
    (void)done;
    (void)total;
    const bool first = !atomic_exchange(once, true);
    if (first)
        load(path, sales(4000, 500), (struct how){.append = true, .cluster_by = "price"});
}

static void an_append_while_rows_are_compacted_says_how_they_are_clustered(void **state)
{
    atomic_bool once = false;
    struct progress progress = {.report = append_otherwise, .context = &once};
    (void)state;
    load(whole, all(3000), (struct how){0});
    load(whole, sales(4000, 500), (struct how){.append = true});
    load(path, all(2000), (struct how){.cluster_by = "shop,region"});
    load(path, sales(2000, 1000), (struct how){.append = true});
    compact(path, &progress);
    assert_true(once);
    clustered_by("price:4");
    segment_stands_by(0, by_shops);
    segment_stands_by(1, by_price);
    same_answers();
}

/* ---- Rows that others reference ---- */

static enum status load_returns(struct error *why)
{
    char file[PATH_BYTES + 64];
    const char *const paths[] = {file};
    struct load_input input = {.table = "returns", .paths = paths, .path_count = 1};
    struct schema_script schema;
    struct load_report report;
    const struct load_options options = {.directory = path, .inputs = &input, .input_count = 1, .threads = 1};
    snprintf(file, sizeof file, "%.*s/returns.csv", (int)(strlen(path) - 3), path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    for (uint32_t row = 0; row < 2000; row++)
        fprintf(out, "%u,%u\n", scramble(row) % 3000, row % 10);
    fclose(out);
    must(schema_script_parse("returns.sql", script_of_returns, strlen(script_of_returns), &schema, error));
    const enum status status = tables_load(&schema, &options, &report, NULL, why);
    schema_script_free(&schema);
    return status;
}

/* Returns find the sales that they were loaded with. */
static void returns_find_their_sales(void)
{
    int64_t sum = 0;
    char expected[64];
    struct engine *engine;
    for (uint32_t row = 0; row < 2000; row++)
        sum += (int64_t)(scramble(row) % 3000) * (row % 10);
    snprintf(expected, sizeof expected, "count(*),sum(number * why)\n2000,%lld\n", (long long)sum);
    struct opened opened = open_table(path, "sales");
    must(engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, error));
    char *const found =
        sql_answer(engine, opened.database,
                   "select count(*), sum(number * why) from returns join sales on sale = number");
    assert_string_equal(found, expected);
    free(found);
    engine_close(engine);
    database_close(opened.database);
}

static void referenced_rows_stay_where_they_are(void **state)
{
    (void)state;
    both(all(2000), "shop,region", false);
    both(sales(2000, 1000), NULL, true);
    must(load_returns(error));
    returns_find_their_sales();
    both(sales(3000, 500), NULL, true);
    returns_find_their_sales();
    compact(path, NULL);
    compact(whole, NULL);
    clustered_by("");
    returns_find_their_sales();
    same_answers();
}

static void reference_meanwhile(struct progress *progress, const char *what, const char *unit, uint64_t done,
                                uint64_t total)
{
    atomic_bool *const once = progress->context;
    (void)what;
    (void)unit;
    (void)done;
    (void)total;
    const bool first = !atomic_exchange(once, true);
    if (first)
        must(load_returns(error));
}

static void rows_that_are_referenced_meanwhile_stay(void **state)
{
    atomic_bool once = false;
    struct progress progress = {.report = reference_meanwhile, .context = &once};
    (void)state;
    both(all(2000), "shop,region", false);
    both(sales(2000, 1000), NULL, true);
    compact(path, &progress);
    assert_true(once);
    compact(whole, NULL);
    clustered_by("");
    returns_find_their_sales();
    same_answers();
}

/* The script of an append says that sales are referenced: they are clustered no more. */
static void a_script_that_references_ends_the_clustering(void **state)
{
    static const char more[] = "CREATE TABLE returns (sale BIGINT REFERENCES sales, why INT);";
    char text[sizeof script + sizeof more];
    const struct sizes rows = sales(2000, 1000);
    (void)state;
    both(all(2000), "shop,region", false);
    snprintf(text, sizeof text, "%s%s", script, more);
    must(load_as(text, path, &rows, &(struct how){.append = true}, error));
    load(whole, rows, (struct how){.append = true});
    clustered_by("");
    segment_stands_by(0, by_shops);
    segment_stands_by(1, NULL);
    same_answers();
}

/* ---- Catalogues ---- */

/* Writes the catalogue with another list of terms. */
static void forge(const struct bytes *bytes, const char *terms)
{
    static const char member[] = "\"clustering\": ";
    const char *const body = strchr((const char *)bytes->data, '\n') + 1, *const end =
                                                                              (const char *)bytes->data +
                                                                              bytes->size;
    const char *const at = memmem(body, (size_t)(end - body), member, strlen(member));
    assert_non_null(at);
    const char *const list = at + strlen(member), *const after =
                                                      (const char *)memchr(list, ']', (size_t)(end - list)) +
                                                      1;
    char *text;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    fprintf(out, "%.*s%s%.*s", (int)(list - body), body, terms, (int)(end - after), after);
    fclose(out);
    catalogue_forge(bytes->path, 9, text, size);
    free(text);
}

#define TERM(column, number) "{\"column\":" column ",\"number\":" number "}"

static void wrong_catalogues_are_refused(void **state)
{
    static const char *const wrong[] = {
        "[]",
        "7",
        "null",
        "{}",
        "[7]",
        "[" TERM("10", "1") "]", /* the table has ten columns that are seen */
        "[" TERM("4294967297", "1") "]",
        "[" TERM("-1", "1") "]",
        "[" TERM("1", "0") "]",
        "[" TERM("1", "65") "]",
        "[" TERM("1", "\"2\"") "]",
        "[{\"column\": 1}]",
        "[" TERM("1", "1") ", " TERM("1", "1") "]",
        "[" TERM("0", "1") "," TERM("1", "1") "," TERM("2", "1") "," TERM("3", "1") "," TERM(
            "4", "1") "," TERM("5", "1") "," TERM("6", "1") "," TERM("7", "1") "," TERM("8", "1") "]",
    };
    struct database *database;
    (void)state;
    load(path, all(100), (struct how){.cluster_by = "shop:2"});
    struct bytes bytes = bytes_read(path, "catalogue");
    assert_memory_equal(bytes.data, "tessera catalogue 9 ", 20);
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        struct error error = {0};
        forge(&bytes, wrong[w]);
        const enum status status = database_open(path, &database, &error);
        if (status == STATUS_OK || !strstr(error.text, bytes.path))
            fail_msg("%s: status %d, %s", wrong[w], (int)status, error.text);
    }
    /* Numbers that levels do not have are those of levels that went: all levels are taken then. */
    forge(&bytes, "[" TERM("1", "64") "," TERM("7", "64") "]");
    load(path, sales(100, 2000), (struct how){.append = true});
    compact(path, NULL);
    load(whole, all(100), (struct how){0});
    load(whole, sales(100, 2000), (struct how){.append = true});
    same_answers();
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        CASE(rows_stand_by_their_cells),
        CASE(threads_do_not_change_the_order),
        CASE(auto_takes_as_many_levels_as_rows_fill),
        CASE(appends_go_on_unless_they_say_otherwise),
        CASE(an_append_with_new_strings_keeps_old_rows_in_place),
        CASE(levels_may_grow_or_go),
        CASE(compacted_rows_stand_as_those_of_one_load),
        CASE(an_append_while_rows_are_compacted_says_how_they_are_clustered),
        CASE(referenced_rows_stay_where_they_are),
        CASE(rows_that_are_referenced_meanwhile_stay),
        CASE(a_script_that_references_ends_the_clustering),
        CASE(wrong_catalogues_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
