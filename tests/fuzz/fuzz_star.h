/*
 * fuzz_star.h: random star schemas with random rows, in a database of ours and in SQLite alike.
 *
 * One to four dimensions, whose keys are integers (sparse, negative), strings or dates and of which each may reference
 * an earlier one; one or two fact tables with foreign keys into any of them, some twice. Columns of every type: few
 * values, skewed, wide, in runs, one value alone, extreme; without NULLs, with some, mostly, only NULL. Tables of 0 to
 * some thousand rows; where fuzz_indexed is set, bitmap indexes on most columns of facts. SQLite holds decimals, dates,
 * times and truth values as plain numbers.
 *
 * Some dimensions have hierarchies, if a fuzzer wants them: rows of one group have one value or NULL in a column, but for
 * a row now and then, and groups of one column are parts of groups of another. Their rows are stored in the order of
 * levels, and foreign keys have gaps.
 */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_STAR_H
#define TESSERA_TESTS_FUZZ_FUZZ_STAR_H

#include "storage/base/calendar.h"
#include "storage/base/double_key.h"
#include "tests/support/database_cases.h"
#include "tests/fuzz/fuzz_random.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- Schemas ---- */

enum spread { FEW, SKEWED, WIDE, RUNS, SINGLE, EXTREME };

struct fuzz_column {
    char name[16];
    enum column_type type;
    uint8_t precision, scale;
    enum spread spread;
    int references;    /* a table's number, or -1 */
    uint32_t together; /* so many of the table's smallest groups have one value; 0: each row has its own */
};

struct fuzz_table {
    char name[16];
    bool keyed; /* the first column is the primary key */
    uint32_t rows, column_count;
    struct fuzz_column columns[16];
    uint32_t groups;          /* of the hierarchy; 0: none */
    const int32_t *positions; /* of the rows, if it has levels; the writer's */
};

#define DIMENSIONS_MAX 4u
#define FUZZ_TABLES    (DIMENSIONS_MAX + 2)
#define ROWS_MOST      5000u

/* The percentage of dimensions that have hierarchies. A fuzzer sets it. */
static uint32_t fuzz_hierarchies;

static struct fuzz_table fuzz_tables[FUZZ_TABLES];
static uint32_t fuzz_leveled; /* dimensions with levels so far */
static uint32_t fuzz_table_count, fuzz_dimension_count;

static inline struct fuzz_column *add_column(struct fuzz_table *table, const char *prefix,
                                             enum column_type type)
{
    struct fuzz_column *column = &table->columns[table->column_count];
    *column = (struct fuzz_column){
        .type = type, .references = -1, .spread = chance(4) ? EXTREME : (enum spread)below(5)};
    snprintf(column->name, sizeof column->name, "%s%u", prefix, table->column_count++);
    if (type == TYPE_DECIMAL) {
        column->precision = (uint8_t)(1 + below(18));
        column->scale = (uint8_t)below(column->precision < 4 ? column->precision + 1u : 5u);
    }
    return column;
}

static inline void add_reference(struct fuzz_table *table, const char *prefix, uint32_t target)
{
    const struct fuzz_column *key = &fuzz_tables[target].columns[0];
    add_column(table, prefix, key->type)->references = (int)target;
}

static inline void add_values(struct fuzz_table *table, const char *prefix, uint32_t count)
{
    static const enum column_type types[] = {TYPE_INT32,   TYPE_INT32,  TYPE_INT64,  TYPE_DECIMAL,
                                             TYPE_DECIMAL, TYPE_DATE,   TYPE_BOOL,   TYPE_TIMESTAMP,
                                             TYPE_STRING,  TYPE_STRING, TYPE_DOUBLE, TYPE_DOUBLE};
    while (count--)
        add_column(table, prefix, types[below(sizeof types / sizeof *types)]);
}

/* Groups of 1, 4, 16, ... of the smallest ones, so that each column decides those of larger groups. */
static inline void make_hierarchy(struct fuzz_table *table)
{
    table->groups = 1 + below(chance(60) ? 30 : table->rows / 2 + 1);
    for (uint32_t c = 1; c < table->column_count; c++)
        if (table->columns[c].references < 0 && chance(75))
            table->columns[c].together = 1u << 2 * below(4);
}

static inline void make_schema(void)
{
    static const enum column_type keys[] = {TYPE_INT32, TYPE_INT64, TYPE_STRING, TYPE_DATE};
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 2000, 4999};
    fuzz_dimension_count = 1 + below(DIMENSIONS_MAX);
    fuzz_table_count = fuzz_dimension_count + 1 + chance(30);
    for (uint32_t t = 0; t < fuzz_table_count; t++) {
        struct fuzz_table *table = &fuzz_tables[t];
        const bool fact = t >= fuzz_dimension_count;
        char prefix[4] = {fact ? 'f' : 'd', (char)('a' + t), '\0'};
        *table = (struct fuzz_table){.keyed = !fact};
        snprintf(table->name, sizeof table->name, "%s_%u", fact ? "fact" : "dim", t);
        if (fact) {
            table->rows = sizes[chance(70) ? 3 + below(4) : below(7)];
            for (uint32_t f = 1 + below(4); f > 0; f--)
                add_reference(table, prefix, below(fuzz_dimension_count));
            add_values(table, prefix, 3 + below(8));
        } else {
            const bool hierarchy = fuzz_hierarchies && chance(fuzz_hierarchies);
            table->rows = chance(5) ? 0 : 1 + below(chance(50) ? 20 : hierarchy && chance(30) ? 4500 : 1500);
            add_column(table, prefix, keys[below(4)]);
            if (t && chance(50))
                add_reference(table, prefix, below(t));
            add_values(table, prefix, 1 + below(5));
            if (hierarchy)
                make_hierarchy(table);
        }
    }
}

/* ---- Values ---- */

/* Sorted, as a dictionary must be. */
static const char *const words[] = {"",        " pad ", "AIR",  "Air",   "MFGR#1",
                                    "MFGR#12", "a_b",   "blue", "green", "green1",
                                    "it's",    "mail",  "red",  "z%y",   "\xc3\xa4rger"};
#define WORDS (sizeof words / sizeof *words)

/* Unique for rows below 100003. */
static inline int32_t sparse_key(uint32_t row)
{
    return (int32_t)(row * 7919u % 100003u) - 50000;
}

/* The key of a row of a dimension, as it is stored; of a string the number of its text. */
static inline int64_t key_value(enum column_type type, uint32_t row)
{
    return type == TYPE_STRING ? row
           : type == TYPE_DATE ? 6000 + (int64_t)row * 3
                               : sparse_key(row) * (type == TYPE_INT64 ? 3000000019ll : 1);
}

static inline void bind_key(sqlite3_stmt *insert, int place, enum column_type type, uint32_t row)
{
    char text[32];
    snprintf(text, sizeof text, "k%05u", row);
    if (type == TYPE_STRING)
        sqlite3_bind_text(insert, place, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_int64(insert, place, key_value(type, row));
}

/* Small numbers, most of them not negative; `wide` ones up to a million either way. */
static inline int64_t random_number(enum spread spread, uint32_t row)
{
    switch (spread) {
    case FEW:
        return below(6);
    case SKEWED:
        return chance(60) ? 3 : (int64_t)below(1000) - 100;
    case RUNS:
        return row / 23;
    case SINGLE:
        return 7;
    default:
        return (int64_t)below(2000001) - 1000000;
    }
}

static inline int64_t random_value(const struct fuzz_column *column, uint32_t row)
{
    const int64_t number = random_number(column->spread, row), size = number < 0 ? -number : number;
    switch (column->type) {
    case TYPE_STRING:
        return size % (int64_t)WORDS;
    case TYPE_DATE:
        return 8000 + size % 5000 - (column->spread == EXTREME ? 7999 : 0);
    case TYPE_DOUBLE: /* decimals, whole numbers, numbers of 53 bits, and tiny ones */
        return double_key_of(column->spread == WIDE      ? (double)number / 100
                             : column->spread == EXTREME ? (double)number / 7
                             : column->spread == SKEWED  ? (double)number / 3 * 1e-300
                                                         : (double)number);
    case TYPE_BOOL:
        return size & 1;
    case TYPE_TIMESTAMP:
        return (8000 + size % 900) * CALENDAR_DAY_MICROSECONDS + (int64_t)below(86400) * 1000000 +
               (chance(10) ? below(1000000) : 0);
    case TYPE_INT64:
        return column->spread == WIDE      ? number * 1000003
               : column->spread == EXTREME ? (int64_t)((uint64_t)number * 9000000000000ull)
                                           : number;
    case TYPE_DECIMAL: {
        int64_t bound = 1;
        for (uint32_t digit = 0; digit < column->precision && digit < 10; digit++)
            bound *= 10;
        return (column->spread == EXTREME ? number * 1000 : number) % bound;
    }
    default:
        return column->spread == EXTREME ? (chance(50) ? INT32_MAX - size % 9 : INT32_MIN + 1 + size % 9)
                                         : number;
    }
}

static inline bool is_wide(const struct fuzz_column *column)
{
    return column->references < 0 &&
           (column->type == TYPE_INT64 || column->type == TYPE_TIMESTAMP || column->type == TYPE_DOUBLE ||
            (column->type == TYPE_DECIMAL && column->precision > 9));
}

/* ---- Writing them ---- */

static inline void execute(sqlite3 *sqlite, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(sqlite, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static inline void write_dictionary(struct table_writer *writer, uint32_t c, bool keys, uint32_t rows)
{
    static char bytes[ROWS_MOST * 8 + 512];
    static uint64_t starts[ROWS_MOST + WORDS + 1];
    const uint32_t count = keys ? rows : (uint32_t)WORDS;
    struct dictionary dictionary = {.count = count, .starts = starts, .bytes = bytes};
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "k%05u", i);
        const char *const string = keys ? text : words[i];
        memcpy(bytes + starts[i], string, strlen(string));
        starts[i + 1] = starts[i] + strlen(string);
    }
    must(table_writer_dictionary(writer, c, &dictionary, error));
}

/* The group of each row of the table that is made. */
static uint32_t group_of[ROWS_MOST];

/* The first row of this row's group of the column, or the row itself. */
static inline uint32_t first_alike(const struct fuzz_column *column, uint32_t row, uint32_t odd_row,
                                   uint32_t first[ROWS_MOST])
{
    uint32_t *const known = &first[column->together ? group_of[row] / column->together : 0];
    if (!column->together || row == odd_row)
        return row;
    *known = *known == UINT32_MAX ? row : *known;
    return *known;
}

/* Half of the tables that no other references are clustered by a column, which is written first; UINT32_MAX: not. */
static uint32_t fuzz_term;

static inline void make_column(struct table_writer *writer, const struct fuzz_table *table, uint32_t c,
                               sqlite3_stmt *const *inserts)
{
    static int64_t wide[ROWS_MOST];
    static int32_t narrow[ROWS_MOST];
    static uint64_t validity[ROWS_MOST / 64 + 1];
    static uint32_t first[ROWS_MOST];
    const struct fuzz_column *column = &table->columns[c];
    const bool key = c == 0 && table->keyed, reference = column->references >= 0;
    const uint32_t target = reference ? fuzz_tables[column->references].rows : 0;
    const uint32_t nulls = key                        ? 0
                           : reference && target == 0 ? 100
                           : chance(3)                ? 100
                                       : (uint32_t[]){0, 0, 0, 5, 5, 30, 90}[below(reference ? 6 : 7)];
    const int place = (int)c + 1;
    const int32_t *const positions = reference ? fuzz_tables[column->references].positions : NULL;
    const uint32_t odd_row = column->together && chance(15) ? below(table->rows + 1) : UINT32_MAX;
    memset(validity, 0, sizeof validity);
    memset(first, 0xff, sizeof first);
    for (uint32_t row = 0; row < table->rows; row++) {
        const uint32_t to = target ? below(chance(30) ? 1 : target) : 0;
        const uint32_t alike = first_alike(column, row, odd_row, first);
        const bool null = alike == row ? chance(nulls) : !(validity[alike / 64] >> alike % 64 & 1);
        wide[row] = alike < row ? wide[alike]
                    : key       ? key_value(column->type, row)
                    : reference ? to
                                : random_value(column, row);
        narrow[row] = positions && target ? positions[to] : (int32_t)wide[row];
        validity[row / 64] |= (uint64_t)!null << row % 64;
        if (null)
            sqlite3_bind_null(inserts[row], place);
        else if (key || reference)
            bind_key(inserts[row], place, column->type, key ? row : to);
        else if (column->type == TYPE_STRING)
            sqlite3_bind_text(inserts[row], place, words[wide[row]], -1, SQLITE_STATIC);
        else if (column->type == TYPE_DOUBLE)
            sqlite3_bind_double(inserts[row], place, double_of_key(wide[row]));
        else
            sqlite3_bind_int64(inserts[row], place, wide[row]);
    }
    if (column->type == TYPE_STRING && !reference)
        write_dictionary(writer, c, key, table->rows);
    const struct cluster_values values = {.values = is_wide(column) ? (void *)wide : narrow,
                                          .validity = nulls ? validity : NULL};
    if (table->rows && c == fuzz_term)
        must(table_writer_cells(writer, 0, &values, 1 + below(3), error));
    if (table->rows)
        must(table_writer_segment(writer, c, 0, is_wide(column) ? (void *)wide : narrow,
                                  nulls ? validity : NULL, error));
}

static bool fuzz_indexed; /* columns of fact tables get bitmap indexes at random */

/* Any bins and format; a bin a value is only possible for at most INDEX_BINS_MAX values. */
static inline void make_index(struct table_writer *writer, uint32_t c, uint32_t rows)
{
    struct index_wish wish = {.format = (enum index_format)(1 + below(INDEX_FORMAT_COUNT - 1)),
                              .bins = (enum index_bins)below(INDEX_BINS_COUNT)};
    if (wish.bins == INDEX_VALUES && rows > INDEX_BINS_MAX)
        wish.bins = INDEX_AUTO;
    if (wish.bins == INDEX_WIDTH || wish.bins == INDEX_DEPTH)
        wish.count = 1 + below(chance(50) ? 8 : 300);
    must(table_writer_index(writer, c, wish, error));
}

static inline void choose_term(struct table_writer *writer, const struct fuzz_table *table)
{
    fuzz_term = UINT32_MAX;
    if (table->keyed || chance(50))
        return;
    const struct clustering wish = {.count = 1, .terms = {{.column = below(table->column_count)}}};
    must(table_writer_cluster(writer, &wish, error));
    fuzz_term = wish.terms[0].column;
}

static inline void make_table(struct database_writer *database, sqlite3 *sqlite, struct fuzz_table *table)
{
    static sqlite3_stmt *inserts[ROWS_MOST];
    struct column_schema schema[16] = {0};
    char create[1500] = "", insert[200] = "";
    snprintf(create, sizeof create, "CREATE TABLE %.15s (", table->name);
    snprintf(insert, sizeof insert, "INSERT INTO %.15s VALUES (", table->name);
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct fuzz_column *column = &table->columns[c];
        const bool last = c + 1 == table->column_count;
        memcpy(schema[c].name, column->name, sizeof column->name);
        schema[c].type = column->type;
        schema[c].precision = column->precision;
        schema[c].scale = column->scale;
        schema[c].primary_key = c == 0 && table->keyed;
        schema[c].nullable = !schema[c].primary_key;
        if (column->references >= 0) {
            const struct fuzz_table *target = &fuzz_tables[column->references];
            memcpy(schema[c].references_table, target->name, sizeof target->name);
            memcpy(schema[c].references_column, target->columns[0].name, sizeof target->columns[0].name);
        }
        snprintf(create + strlen(create), sizeof create - strlen(create), "%s %s%s", column->name,
                 column->type == TYPE_STRING   ? "TEXT"
                 : column->type == TYPE_DOUBLE ? "REAL"
                                               : "INTEGER",
                 last ? ")" : ", ");
        strcat(insert, last ? "?)" : "?, ");
    }
    struct table_writer *writer;
    execute(sqlite, create);
    must(database_writer_table(database, table->name, schema, table->column_count, table->rows, &writer,
                               error));
    if (table->groups)
        must(table_writer_levels(writer, &(struct levels_wish){0}, error));
    for (uint32_t row = 0; row < table->rows; row++) {
        assert_int_equal(sqlite3_prepare_v2(sqlite, insert, -1, &inserts[row], NULL), SQLITE_OK);
        group_of[row] = table->groups ? below(table->groups) : 0;
    }
    choose_term(writer, table);
    if (fuzz_term < table->column_count)
        make_column(writer, table, fuzz_term, inserts);
    for (uint32_t c = 0; c < table->column_count; c++)
        if (c != fuzz_term)
            make_column(writer, table, c, inserts);
    for (uint32_t c = 0; fuzz_indexed && !table->keyed && c < table->column_count; c++)
        if (chance(60))
            make_index(writer, c, table->rows);
    if (table_writer_sorts(writer))
        must(table_writer_sort(writer, 1 + below(3), NULL, error));
    table->positions = table_writer_positions(writer);
    fuzz_leveled += table->positions != NULL;
    for (uint32_t row = 0; row < table->rows; row++) {
        assert_int_equal(sqlite3_step(inserts[row]), SQLITE_DONE);
        sqlite3_finalize(inserts[row]);
    }
}

static inline sqlite3 *make_star(char path[PATH_BYTES], struct database **database)
{
    sqlite3 *sqlite;
    struct database_writer *writer;
    make_schema();
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    execute(sqlite, "BEGIN");
    must(database_writer_open(path, &writer, error));
    for (uint32_t t = 0; t < fuzz_table_count; t++)
        make_table(writer, sqlite, &fuzz_tables[t]);
    must(database_writer_commit(writer, error));
    execute(sqlite, "COMMIT");
    must(database_open(path, database, error));
    return sqlite;
}

#endif
