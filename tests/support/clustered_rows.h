/*
 * clustered_rows.h: what tests of clustered tables share: a star schema whose rows depend on their numbers, loaded into `path` and
 * `whole` (shop_rows.h); and whether the sales of `path` stand where a stable sort by their cells puts those of `whole`.
 * Included once by a test program, after cmocka.
 */
#ifndef TESSERA_TESTS_SUPPORT_CLUSTERED_ROWS_H
#define TESSERA_TESTS_SUPPORT_CLUSTERED_ROWS_H

#include "loader/table/table_loader.h"
#include "storage/column/column_data.h"
#include "storage/column/levels_file.h"
#include "tests/support/database_files.h"
#include "tests/support/shop_rows.h"

static const char script[] =
    "CREATE TABLE shops (s_name TEXT PRIMARY KEY, s_country TEXT, s_city TEXT);\n"
    "CREATE TABLE regions (id INT PRIMARY KEY, kind TEXT, brand INT);\n"
    "CREATE TABLE days (day DATE PRIMARY KEY, feast TEXT);\n"
    "CREATE TABLE lots (house INT NOT NULL, lot INT NOT NULL, owner TEXT, PRIMARY KEY (house, lot));\n"
    "CREATE TABLE sales (number BIGINT PRIMARY KEY, shop TEXT REFERENCES shops, region INT NOT NULL "
    "REFERENCES regions, day DATE REFERENCES days, house INT, lot INT, note TEXT, weight DOUBLE, "
    "price DECIMAL(12,2) NOT NULL, big BIGINT, FOREIGN KEY (house, lot) REFERENCES lots (house, lot));\n";

/* ---- Rows as text, which depend on their number alone ---- */

static inline void write_shop(FILE *out, uint32_t row)
{
    const uint32_t city = row < 200 ? scramble(row) % 20 : 20 + row % 5;
    fprintf(out, "shop %u,country %02u,city %02u\n", row, city / 4, city);
}

static inline void write_region(FILE *out, uint32_t row)
{
    const uint32_t brand = scramble(row + 7) % 40;
    fprintf(out, "%u,kind %u,%u\n", 5 * row, brand % 7, brand);
}

static inline void write_day(FILE *out, uint32_t row)
{
    fprintf(out, "2024-01-%02u,feast %u\n", row + 1, row % 2);
}

static inline void write_lot(FILE *out, uint32_t row)
{
    fprintf(out, "%u,%u,owner %u\n", row / 6, row % 6, row % 4);
}

/* Shop 999 is none, and becomes NULL. */
static inline void write_one_sale(FILE *out, uint32_t row)
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

static inline struct sizes sales(uint32_t first, uint32_t count)
{
    return (struct sizes){.first = {[4] = first}, .count = {[4] = count}};
}

static inline struct sizes all(uint32_t count)
{
    return (struct sizes){.count = {200, 60, 10, 60, count}};
}

struct how {
    const char *cluster_by, *levels, *codecs;
    bool append, by_file;
    unsigned threads;
};

static inline enum status load_as(const char *schema_text, const char *directory, const struct sizes *rows,
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

static inline void load(const char *directory, struct sizes rows, struct how how)
{
    must(load_as(script, directory, &rows, &how, error));
}

/* ---- What is stored ---- */

/* The stored values of a column, in the order of the rows. */
struct stored {
    int64_t *values;
    bool *valid;
};

static inline struct stored read_stored(const char *directory, const struct table *table,
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

static inline void stored_free(struct stored *stored)
{
    free(stored->values);
    free(stored->valid);
}

struct opened {
    struct database *database;
    const struct table *table;
};

static inline struct opened open_table(const char *directory, const char *name)
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

static inline int by_codes(const void *a, const void *b)
{
    const struct cell_row *const x = a, *const y = b;
    for (uint32_t t = 0; t < TERMS_MOST; t++)
        if (x->codes[t] != y->codes[t])
            return x->codes[t] < y->codes[t] ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The codes of a term in one segment. */
static inline void add_codes(const struct column *column, uint32_t number, const struct stored *of,
                             uint32_t first, uint32_t rows, struct cell_row *cells, uint32_t term)
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
static inline void segment_stands_by(uint32_t segment, const struct term *terms)
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

static inline void same_answers(void)
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
static inline void clustered_by(const char *expected)
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

static inline void both(struct sizes rows, const char *cluster_by, bool append)
{
    load(path, rows, (struct how){.cluster_by = cluster_by, .append = append});
    load(whole, rows, (struct how){.append = append});
}

#endif
