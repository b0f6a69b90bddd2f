/*
 * test_sql_fuzz.c: answers to random queries over random star schemas equal SQLite's, value by value.
 *
 * A schema has a fact table with three foreign keys into two dimensions (one is referenced twice), one of which
 * references a third; columns of every type, NULLs, skewed and sparse values; tables of 0 to some thousand rows.
 * A query is built from parts, in Tessera's words and SQLite's side by side (there decimals and dates are plain
 * numbers), so that one that fails can be shrunk part by part. Every line of the answer is ordered by, so answers
 * are compared row by row. Refusals count only if their reason is one that is documented.
 *
 * `test_sql_fuzz SECONDS SEED DEVICE` does more of the same; each failure prints the seed that makes it again. DEVICE:
 * as TESSERA_TEST_DEVICE says (cpu), or cuda, or `compile`, which answers on the CPU and also compiles each query's kernels for a GPU.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/sql.h"
#include "tests/database_cases.h"
#include "tests/star_compile.h"

#include <math.h>
#include <sqlite3.h>
#include <time.h>

#define TEXT 1500

static uint64_t seed, random_state;
static double seconds = 20;
static const char *device;

static uint32_t below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16) % bound;
}

static bool chance(uint32_t percent)
{
    return below(100) < percent;
}

/* ---- Tables ---- */

struct column_plan {
    const char *name;
    enum column_type type;
    uint8_t precision, scale;
    const char *references; /* table */
};

static const struct column_plan fuzz_region_columns[] = {{"r_id", TYPE_INT32, 0, 0, NULL},
                                                         {"r_name", TYPE_STRING, 0, 0, NULL},
                                                         {"r_size", TYPE_INT32, 0, 0, NULL}};
static const struct column_plan fuzz_shop_columns[] = {{"s_id", TYPE_STRING, 0, 0, NULL},
                                                       {"s_region", TYPE_INT32, 0, 0, "region"},
                                                       {"s_kind", TYPE_STRING, 0, 0, NULL},
                                                       {"s_opened", TYPE_DATE, 0, 0, NULL},
                                                       {"s_area", TYPE_DECIMAL, 9, 1, NULL}};
static const struct column_plan fuzz_item_columns[] = {{"i_id", TYPE_INT64, 0, 0, NULL},
                                                       {"i_name", TYPE_STRING, 0, 0, NULL},
                                                       {"i_price", TYPE_DECIMAL, 12, 2, NULL},
                                                       {"i_fresh", TYPE_BOOL, 0, 0, NULL}};
static const struct column_plan fuzz_sale_columns[] = {
    {"shop", TYPE_STRING, 0, 0, "shop"},  {"item", TYPE_INT64, 0, 0, "item"},
    {"gift", TYPE_INT64, 0, 0, "item"},   {"amount", TYPE_INT32, 0, 0, NULL},
    {"big", TYPE_INT64, 0, 0, NULL},      {"paid", TYPE_DECIMAL, 8, 2, NULL},
    {"tax", TYPE_DECIMAL, 15, 3, NULL},   {"day", TYPE_DATE, 0, 0, NULL},
    {"online", TYPE_BOOL, 0, 0, NULL},    {"note", TYPE_STRING, 0, 0, NULL},
    {"stamp", TYPE_TIMESTAMP, 0, 0, NULL}};

struct table_plan {
    const char *name;
    uint32_t column_count;
    const struct column_plan *columns;
    bool keyed; /* the first column is the primary key */
};

static const struct table_plan tables[] = {{"region", 3, fuzz_region_columns, true},
                                           {"shop", 5, fuzz_shop_columns, true},
                                           {"item", 4, fuzz_item_columns, true},
                                           {"sale", 11, fuzz_sale_columns, false}};

#define TABLES    4
#define ROWS_MOST 5000

static uint32_t table_rows[TABLES];

static uint32_t table_number(const char *name)
{
    uint32_t t = 0;
    while (strcmp(tables[t].name, name) != 0)
        t++;
    return t;
}

/* Sorted, as a dictionary must be. */
static const char *const words[] = {"",      "AIR",    "Air",  "MFGR#1", "MFGR#12", "a_b", "blue",
                                    "green", "green1", "it's", "mail",   "red",     "z%y", "\xc3\xa4rger"};
#define WORDS (sizeof words / sizeof *words)

static int32_t sparse_key(uint32_t row)
{
    return (int32_t)(row * 7919u % 100003u) - 50000;
}

static int64_t random_value(const struct column_plan *column)
{
    switch (column->type) {
    case TYPE_STRING:
        return chance(50) ? below(3) : below(WORDS);
    case TYPE_DATE:
        return 8000 + (chance(50) ? below(30) : below(4000));
    case TYPE_BOOL:
        return below(2);
    case TYPE_INT64:
        return chance(50) ? (int64_t)below(100) - 50 : ((int64_t)below(2000000) - 1000000) * 1000003;
    case TYPE_TIMESTAMP:
        return (8000ll + below(50)) * CALENDAR_DAY_MICROSECONDS + (int64_t)below(86400) * 1000000;
    case TYPE_DECIMAL:
        return chance(50) ? (int64_t)below(2000) - 1000 : (int64_t)below(90000000) - 45000000;
    default:
        return chance(50) ? below(10) : (int64_t)below(2000000) - 1000000;
    }
}

static void execute(sqlite3 *sqlite, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(sqlite, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static void bind_key(sqlite3_stmt *insert, int place, const char *table, int64_t position)
{
    char text[32];
    if (strcmp(table, "shop") == 0) {
        snprintf(text, sizeof text, "k%05lld", (long long)position);
        sqlite3_bind_text(insert, place, text, -1, SQLITE_TRANSIENT);
    } else {
        sqlite3_bind_int64(insert, place,
                           strcmp(table, "item") == 0 ? sparse_key((uint32_t)position) * 3ll : position + 1);
    }
}

static void write_dictionary(struct table_writer *writer, uint32_t c, bool keys, uint32_t rows)
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

static void make_column(struct table_writer *writer, uint32_t t, uint32_t c, sqlite3_stmt *const *inserts)
{
    static int64_t wide[ROWS_MOST];
    static int32_t narrow[ROWS_MOST];
    static uint64_t validity[ROWS_MOST / 64 + 1];
    const struct column_plan *column = &tables[t].columns[c];
    const bool key = c == 0 && tables[t].keyed;
    const uint32_t rows = table_rows[t];
    const uint32_t target = column->references ? table_rows[table_number(column->references)] : 0;
    const uint32_t nulls = key                                 ? 0
                           : column->references && target == 0 ? 100
                                                               : (uint32_t[]){0, 0, 10, 90}[below(4)];
    const bool eight = !column->references && (column->type == TYPE_INT64 || column->type == TYPE_TIMESTAMP ||
                                               (column->type == TYPE_DECIMAL && column->precision > 9));
    memset(validity, 0, sizeof validity);
    for (uint32_t row = 0; row < rows; row++) {
        const bool null = chance(nulls);
        const int place = (int)c + 1;
        int64_t value =
            column->references ? (target ? below(chance(30) ? 1 : target) : 0) : random_value(column);
        if (key)
            value = column->type == TYPE_STRING  ? row
                    : column->type == TYPE_INT64 ? sparse_key(row) * 3ll
                                                 : (int64_t)row + 1;
        wide[row] = value;
        narrow[row] = (int32_t)value;
        if (!null)
            validity[row / 64] |= 1ull << row % 64;
        if (null)
            sqlite3_bind_null(inserts[row], place);
        else if (key || column->references)
            bind_key(inserts[row], place, key ? tables[t].name : column->references, key ? row : value);
        else if (column->type == TYPE_STRING)
            sqlite3_bind_text(inserts[row], place, words[value], -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(inserts[row], place, value);
    }
    if (column->type == TYPE_STRING && !column->references)
        write_dictionary(writer, c, key, rows);
    if (rows)
        must(table_writer_segment(writer, c, 0, eight ? (void *)wide : narrow, nulls ? validity : NULL,
                                  error));
}

static void make_table(struct database_writer *database, sqlite3 *sqlite, uint32_t t)
{
    static sqlite3_stmt *inserts[ROWS_MOST];
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 2000, 4999};
    struct column_schema schema[16] = {0};
    char create[TEXT] = "", insert[TEXT] = "";
    table_rows[t] = tables[t].keyed ? (chance(5) ? 0 : 1 + below(chance(50) ? 20 : 1500))
                                    : sizes[chance(70) ? 3 + below(4) : below(7)];
    snprintf(create, sizeof create, "CREATE TABLE %s (", tables[t].name);
    snprintf(insert, sizeof insert, "INSERT INTO %s VALUES (", tables[t].name);
    for (uint32_t c = 0; c < tables[t].column_count; c++) {
        const struct column_plan *column = &tables[t].columns[c];
        const bool text = column->type == TYPE_STRING;
        snprintf(schema[c].name, sizeof schema[c].name, "%s", column->name);
        schema[c].type = column->type;
        schema[c].precision = column->precision;
        schema[c].scale = column->scale;
        schema[c].primary_key = c == 0 && tables[t].keyed;
        schema[c].nullable = !schema[c].primary_key;
        if (column->references) {
            const struct table_plan *target = &tables[table_number(column->references)];
            snprintf(schema[c].references_table, sizeof schema[c].references_table, "%s", target->name);
            snprintf(schema[c].references_column, sizeof schema[c].references_column, "%s",
                     target->columns[0].name);
        }
        const bool last = c + 1 == tables[t].column_count;
        snprintf(create + strlen(create), sizeof create - strlen(create), "%s %s%s", column->name,
                 text ? "TEXT" : "INTEGER", last ? ")" : ", ");
        strcat(insert, last ? "?)" : "?, ");
    }
    struct table_writer *writer;
    execute(sqlite, create);
    must(database_writer_table(database, tables[t].name, schema, tables[t].column_count, table_rows[t],
                               &writer, error));
    for (uint32_t row = 0; row < table_rows[t]; row++)
        assert_int_equal(sqlite3_prepare_v2(sqlite, insert, -1, &inserts[row], NULL), SQLITE_OK);
    for (uint32_t c = 0; c < tables[t].column_count; c++)
        make_column(writer, t, c, inserts);
    for (uint32_t row = 0; row < table_rows[t]; row++) {
        assert_int_equal(sqlite3_step(inserts[row]), SQLITE_DONE);
        sqlite3_finalize(inserts[row]);
    }
}

static sqlite3 *make_star(char path[PATH_BYTES], struct database **database)
{
    sqlite3 *sqlite;
    struct database_writer *writer;
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    execute(sqlite, "BEGIN");
    must(database_writer_open(path, &writer, error));
    for (uint32_t t = 0; t < TABLES; t++)
        make_table(writer, sqlite, t);
    must(database_writer_commit(writer, error));
    execute(sqlite, "COMMIT");
    must(database_open(path, database, error));
    return sqlite;
}

/* ---- Expressions, in both dialects ---- */

enum kind { NUMBER, DATE, TRUTH, STRING, STAMP };

struct term {
    enum kind kind;
    uint8_t scale;
    char ours[TEXT], sqlites[TEXT];
};

struct scope {
    bool shop, region, item, gift;
};

/* A column of a table that is in scope, of that kind; false if there is none. */
static bool column_term(const struct scope *scope, enum kind kind, struct term *term)
{
    static const struct {
        const char *name, *alias;
        enum kind kind;
        uint8_t scale;
        int table; /* 0 fact, 1 shop, 2 region, 3 item, 4 gift */
    } columns[] = {
        {"amount", "f", NUMBER, 0, 0},   {"amount", "f", NUMBER, 0, 0}, {"big", "f", NUMBER, 0, 0},
        {"paid", "f", NUMBER, 2, 0},     {"tax", "f", NUMBER, 3, 0},    {"day", "f", DATE, 0, 0},
        {"online", "f", TRUTH, 0, 0},    {"note", "f", STRING, 0, 0},   {"stamp", "f", STAMP, 0, 0},
        {"item", "f", NUMBER, 0, 0},     {"shop", "f", STRING, 0, 0},   {"s_id", "s", STRING, 0, 1},
        {"s_kind", "s", STRING, 0, 1},   {"s_opened", "s", DATE, 0, 1}, {"s_area", "s", NUMBER, 1, 1},
        {"s_region", "s", NUMBER, 0, 1}, {"r_name", "r", STRING, 0, 2}, {"r_size", "r", NUMBER, 0, 2},
        {"i_id", "i", NUMBER, 0, 3},     {"i_name", "i", STRING, 0, 3}, {"i_price", "i", NUMBER, 2, 3},
        {"i_fresh", "i", TRUTH, 0, 3},   {"i_name", "g", STRING, 0, 4}, {"i_price", "g", NUMBER, 2, 4},
        {"i_fresh", "g", TRUTH, 0, 4}};
    const bool present[] = {true, scope->shop, scope->region, scope->item, scope->gift};
    for (uint32_t tries = 0; tries < 200; tries++) {
        const uint32_t c = below(sizeof columns / sizeof *columns);
        if (columns[c].kind != kind || !present[columns[c].table])
            continue;
        term->kind = kind;
        term->scale = columns[c].scale;
        snprintf(term->ours, TEXT, "%s.%s", columns[c].alias, columns[c].name);
        snprintf(term->sqlites, TEXT, "%s.%s", columns[c].alias, columns[c].name);
        return true;
    }
    return false;
}

static int64_t unit(unsigned scale)
{
    int64_t power = 1;
    while (scale--)
        power *= 10;
    return power;
}

static void number_constant(struct term *term)
{
    const int64_t value = chance(70) ? below(20) : below(100000);
    *term = (struct term){.kind = NUMBER, .scale = (uint8_t)(chance(70) ? 0 : 1 + below(2))};
    if (term->scale == 0)
        snprintf(term->ours, TEXT, "%lld", (long long)value);
    else
        snprintf(term->ours, TEXT, "%lld.%0*lld", (long long)(value / unit(term->scale)), term->scale,
                 (long long)(value % unit(term->scale)));
    while (term->scale > 1 && value % 10 == 0) { /* as literals lose their zeros */
        int64_t digits = value;
        uint8_t scale = term->scale;
        while (scale > 1 && digits % 10 == 0) {
            digits /= 10;
            scale--;
        }
        term->scale = scale;
        snprintf(term->sqlites, TEXT, "%lld", (long long)digits);
        return;
    }
    snprintf(term->sqlites, TEXT, "%lld", (long long)value);
}

static void date_constant(struct term *term)
{
    const int64_t days = 8000 + below(4000);
    const struct calendar_date date = calendar_date_of(days);
    *term = (struct term){.kind = DATE};
    snprintf(term->ours, TEXT, "%s'%04d-%02d-%02d'", "DATE ", (int)date.year, date.month, date.day);
    snprintf(term->sqlites, TEXT, "%lld", (long long)days);
}

static void string_constant(struct term *term)
{
    const char *const word = chance(85) ? words[below(WORDS)] : "nowhere";
    char quoted[64];
    size_t at = 0;
    for (const char *c = word; *c; c++) {
        quoted[at++] = *c;
        if (*c == '\'')
            quoted[at++] = '\'';
    }
    quoted[at] = '\0';
    *term = (struct term){.kind = STRING};
    snprintf(term->ours, TEXT, "'%s'", quoted);
    snprintf(term->sqlites, TEXT, "'%s'", quoted);
}

static void truth_term(const struct scope *scope, uint32_t depth, struct term *term);

static void rescale(struct term *term, uint8_t scale)
{
    char text[TEXT];
    if (term->scale == scale)
        return;
    snprintf(text, TEXT, "(%.1400s * %lld)", term->sqlites, (long long)unit((unsigned)(scale - term->scale)));
    memcpy(term->sqlites, text, TEXT);
    term->scale = scale;
}

static void number_term(const struct scope *scope, uint32_t depth, struct term *term)
{
    struct term a, b;
    if (depth == 0 || chance(45)) {
        if (chance(25) || !column_term(scope, NUMBER, term))
            number_constant(term);
        return;
    }
    number_term(scope, depth - 1, &a);
    *term = (struct term){.kind = NUMBER};
    switch (below(8)) {
    case 0:
    case 1: {
        const char sign = chance(50) ? '+' : '-';
        number_term(scope, depth - 1, &b);
        const uint8_t scale = a.scale > b.scale ? a.scale : b.scale;
        rescale(&a, scale);
        rescale(&b, scale);
        term->scale = scale;
        snprintf(term->ours, TEXT, "(%.700s %c %.700s)", a.ours, sign, b.ours);
        snprintf(term->sqlites, TEXT, "(%.700s %c %.700s)", a.sqlites, sign, b.sqlites);
        return;
    }
    case 2:
        number_constant(&b);
        term->scale = (uint8_t)(a.scale + b.scale);
        snprintf(term->ours, TEXT, "(%.700s * %.700s)", a.ours, b.ours);
        snprintf(term->sqlites, TEXT, "(%.700s * %.700s)", a.sqlites, b.sqlites);
        return;
    case 3:
        if (a.scale)
            break;
        number_term(scope, depth - 1, &b);
        if (b.scale)
            break;
        {
            const char sign = chance(50) ? '/' : '%';
            snprintf(term->ours, TEXT, "(%.700s %c %.700s)", a.ours, sign, b.ours);
            snprintf(term->sqlites, TEXT, "(%.700s %c %.700s)", a.sqlites, sign, b.sqlites);
        }
        return;
    case 4: {
        struct term condition;
        truth_term(scope, 1, &condition);
        number_term(scope, depth - 1, &b);
        const uint8_t scale = a.scale > b.scale ? a.scale : b.scale;
        const bool other = chance(70);
        if (other)
            rescale(&a, scale);
        rescale(&b, scale);
        term->scale = other ? scale : a.scale;
        snprintf(term->ours, TEXT, "CASE WHEN %.500s THEN %.450s%s%.450s END", condition.ours, a.ours,
                 other ? " ELSE " : "", other ? b.ours : "");
        snprintf(term->sqlites, TEXT, "CASE WHEN %.500s THEN %.450s%s%.450s END", condition.sqlites,
                 a.sqlites, other ? " ELSE " : "", other ? b.sqlites : "");
        return;
    }
    case 5: {
        static const struct {
            const char *ours, *format;
        } fields[] = {{"YEAR", "%Y"}, {"MONTH", "%m"}, {"DAY", "%d"}, {"DOW", "%w"}, {"DOY", "%j"}};
        const uint32_t f = below(5);
        struct term date;
        if (!column_term(scope, DATE, &date))
            break;
        snprintf(term->ours, TEXT, "EXTRACT(%s FROM %.900s)", fields[f].ours, date.ours);
        snprintf(term->sqlites, TEXT, "CAST(strftime('%s', %.900s * 86400, 'unixepoch') AS INTEGER)",
                 fields[f].format, date.sqlites);
        return;
    }
    case 6:
        number_constant(&b);
        if (a.scale > b.scale)
            rescale(&b, a.scale);
        else
            rescale(&a, b.scale);
        term->scale = a.scale;
        snprintf(term->ours, TEXT, "coalesce(%.700s, %.700s)", a.ours, b.ours);
        snprintf(term->sqlites, TEXT, "coalesce(%.700s, %.700s)", a.sqlites, b.sqlites);
        return;
    default:
        term->scale = a.scale;
        snprintf(term->ours, TEXT, "%s%.1300s%s", chance(50) ? "abs(" : "(-", a.ours, ")");
        snprintf(term->sqlites, TEXT, "%s%.1300s%s", term->ours[0] == 'a' ? "abs(" : "(-", a.sqlites, ")");
        return;
    }
    *term = a;
}

static void any_term(const struct scope *scope, uint32_t depth, struct term *term)
{
    const enum kind kind = (enum kind)below(5);
    if (kind == NUMBER || !column_term(scope, kind, term))
        number_term(scope, depth, term);
    else if (kind == DATE && chance(20)) {
        strcat(term->ours, " + 7");
        strcat(term->sqlites, " + 7");
    } else if (kind == STRING && chance(15)) {
        struct term inner = *term;
        snprintf(term->ours, TEXT, "substr(upper(%.900s), 1, 3)", inner.ours);
        snprintf(term->sqlites, TEXT, "substr(upper(%.900s), 1, 3)", inner.sqlites);
    }
}

static void comparison(const struct scope *scope, uint32_t depth, struct term *term)
{
    static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};
    const char *const sign = signs[below(6)];
    struct term a, b;
    switch (below(4)) {
    case 0:
        if (column_term(scope, DATE, &a)) {
            if (chance(70) || !column_term(scope, DATE, &b))
                date_constant(&b);
            break;
        }
        /* fall through */
    case 1:
        if (column_term(scope, STRING, &a)) {
            if (chance(70) || !column_term(scope, STRING, &b))
                string_constant(&b);
            break;
        }
        /* fall through */
    default:
        number_term(scope, depth, &a);
        if (chance(60))
            number_constant(&b);
        else
            number_term(scope, depth, &b);
        if (a.scale > b.scale)
            rescale(&b, a.scale);
        else
            rescale(&a, b.scale);
    }
    snprintf(term->ours, TEXT, "%.700s %s %.700s", a.ours, sign, b.ours);
    snprintf(term->sqlites, TEXT, "%.700s %s %.700s", a.sqlites, sign, b.sqlites);
}

static void list_test(const struct scope *scope, struct term *term)
{
    struct term value, item;
    const bool strings = chance(50) && column_term(scope, STRING, &value);
    const char *const negated = chance(30) ? "NOT " : "";
    if (!strings && (!column_term(scope, NUMBER, &value) || value.scale))
        snprintf(value.ours, TEXT, "f.amount"), snprintf(value.sqlites, TEXT, "f.amount");
    snprintf(term->ours, TEXT, "%.600s %sIN (", value.ours, negated);
    snprintf(term->sqlites, TEXT, "%.600s %sIN (", value.sqlites, negated);
    for (uint32_t i = 0, count = 1 + below(5); i < count; i++) {
        if (strings)
            string_constant(&item);
        else
            snprintf(item.ours, TEXT, "%d", (int)below(12)), memcpy(item.sqlites, item.ours, TEXT);
        if (chance(5))
            snprintf(item.ours, TEXT, "NULL"), snprintf(item.sqlites, TEXT, "NULL");
        strcat(strcat(term->ours, i ? ", " : ""), item.ours);
        strcat(strcat(term->sqlites, i ? ", " : ""), item.sqlites);
    }
    strcat(term->ours, ")");
    strcat(term->sqlites, ")");
}

static void truth_term(const struct scope *scope, uint32_t depth, struct term *term)
{
    struct term a, b, c;
    *term = (struct term){.kind = TRUTH};
    if (depth > 0 && chance(40)) {
        const char *const word = chance(50) ? "AND" : "OR";
        truth_term(scope, depth - 1, &a);
        truth_term(scope, depth - 1, &b);
        const char *const negated = chance(15) ? "NOT " : "";
        snprintf(term->ours, TEXT, "%s(%.700s %s %.700s)", negated, a.ours, word, b.ours);
        snprintf(term->sqlites, TEXT, "%s(%.700s %s %.700s)", negated, a.sqlites, word, b.sqlites);
        return;
    }
    switch (below(8)) {
    case 0:
        if (column_term(scope, TRUTH, term))
            return;
        break;
    case 1:
        any_term(scope, 1, &a);
        snprintf(term->ours, TEXT, "%.900s IS %sNULL", a.ours, chance(50) ? "NOT " : "");
        snprintf(term->sqlites, TEXT, "%.900s IS %sNULL", a.sqlites,
                 strstr(term->ours + strlen(a.ours), "NOT") ? "NOT " : "");
        return;
    case 2:
        list_test(scope, term);
        return;
    case 3: {
        static const char *const patterns[] = {"a%", "%e%", "_r%", "MFGR#1_", "%", "", "gr__n%", "%'%"};
        const char *pattern = patterns[below(8)];
        if (!column_term(scope, STRING, &a))
            break;
        if (strchr(pattern, '\''))
            pattern = "%''%";
        snprintf(term->ours, TEXT, "%.900s %sLIKE '%s'", a.ours, chance(20) ? "NOT " : "", pattern);
        snprintf(term->sqlites, TEXT, "%.900s %sLIKE '%s'", a.sqlites,
                 strstr(term->ours, "NOT LIKE") ? "NOT " : "", pattern);
        return;
    }
    case 4:
        number_term(scope, depth, &a);
        number_constant(&b);
        number_constant(&c);
        {
            uint8_t scale = a.scale > b.scale ? a.scale : b.scale;
            scale = scale > c.scale ? scale : c.scale;
            rescale(&a, scale);
            rescale(&b, scale);
            rescale(&c, scale);
        }
        snprintf(term->ours, TEXT, "%.600s BETWEEN %.300s AND %.300s", a.ours, b.ours, c.ours);
        snprintf(term->sqlites, TEXT, "%.600s BETWEEN %.300s AND %.300s", a.sqlites, b.sqlites, c.sqlites);
        return;
    default:
        break;
    }
    comparison(scope, depth, term);
}

/* ---- Queries ---- */

#define PARTS 6

struct query {
    char from[2][TEXT];
    struct term where[PARTS], groups[PARTS], aggregates[PARTS], having;
    uint32_t where_count, group_count, aggregate_count;
    bool aggregated, has_having, distinct, descending[2 * PARTS];
    int limit, offset;
};

static void aggregate_term(const struct scope *scope, struct term *term)
{
    struct term value;
    const uint32_t which = below(8);
    if (which == 0) {
        *term = (struct term){.kind = NUMBER};
        strcpy(term->ours, "count(*)");
        strcpy(term->sqlites, "count(*)");
        return;
    }
    static const char *const names[] = {"",     "sum(", "sum(",   "avg(",
                                        "min(", "max(", "count(", "count(DISTINCT "};
    if (which <= 3)
        number_term(scope, 2, &value);
    else
        any_term(scope, 1, &value);
    *term = value;
    if (which >= 6)
        term->scale = 0, term->kind = NUMBER;
    snprintf(term->ours, TEXT, "%s%.1400s)", names[which], value.ours);
    snprintf(term->sqlites, TEXT, "%s%.1400s)%s", names[which], value.sqlites, "");
    if (which == 3)
        term->scale = (uint8_t)(100 + value.scale); /* a double, in SQLite too large by 10^scale */
}

static void make_query(struct query *query)
{
    struct scope scope = {0};
    const uint32_t mode = below(3); /* commas, JOIN, LEFT JOIN */
    static const char *const joins[] = {", %s", " JOIN %s ON %s", " LEFT JOIN %s ON %s"};
    *query = (struct query){.limit = -1};
    strcpy(query->from[0], "sale f");
    char where[TEXT] = "";
    const struct {
        bool *in;
        const char *table, *on;
    } dimensions[] = {{&scope.shop, "shop s", "f.shop = s.s_id"},
                      {&scope.region, "region r", "s.s_region = r.r_id"},
                      {&scope.item, "item i", "f.item = i.i_id"},
                      {&scope.gift, "item g", "g.i_id = f.gift"}};
    for (uint32_t d = 0; d < 4; d++) {
        char part[200];
        if (!chance(50) || (d == 1 && !scope.shop))
            continue;
        *dimensions[d].in = true;
        if (mode == 0) {
            snprintf(part, sizeof part, ", %s", dimensions[d].table);
            strcat(strcat(where, *where ? " AND " : ""), dimensions[d].on);
        } else {
            snprintf(part, sizeof part, joins[mode], dimensions[d].table, dimensions[d].on);
        }
        strcat(query->from[0], part);
    }
    if (mode == 2 && chance(30) && scope.item)
        strcpy(strstr(query->from[0], "f.item = i.i_id"),
               strstr(query->from[0], "item g")
                   ? "f.item = i.i_id LEFT JOIN item g ON g.i_id = f.gift AND g.i_fresh"
                   : "f.item = i.i_id AND i.i_price > 0");
    memcpy(query->from[1], query->from[0], TEXT);
    if (*where) {
        strcpy(query->where[0].ours, where);
        strcpy(query->where[0].sqlites, where);
        query->where_count = 1;
    }
    for (uint32_t i = below(4); i > 0; i--)
        truth_term(&scope, 2, &query->where[query->where_count++]);
    query->aggregated = chance(80);
    if (query->aggregated) {
        query->group_count = below(4);
        query->aggregate_count = query->group_count && chance(10) ? 0 : 1 + below(3);
    } else {
        query->group_count = 1 + below(4);
        query->distinct = chance(30);
    }
    for (uint32_t g = 0; g < query->group_count; g++)
        do /* a lone number in GROUP BY is a place in the select list */
            any_term(&scope, query->aggregated ? 1 : 2, &query->groups[g]);
        while (strspn(query->groups[g].sqlites, "-(0123456789.)") == strlen(query->groups[g].sqlites));
    for (uint32_t a = 0; a < query->aggregate_count; a++)
        aggregate_term(&scope, &query->aggregates[a]);
    if (query->aggregate_count && chance(25) && query->aggregates[0].scale < 100 &&
        query->aggregates[0].kind == NUMBER) {
        struct term bound;
        number_constant(&bound);
        struct term value = query->aggregates[0];
        if (value.scale > bound.scale)
            rescale(&bound, value.scale);
        else
            rescale(&value, bound.scale);
        query->has_having = true;
        snprintf(query->having.ours, TEXT, "%.700s > %.700s", value.ours, bound.ours);
        snprintf(query->having.sqlites, TEXT, "%.700s > %.700s", value.sqlites, bound.sqlites);
    }
    for (uint32_t o = 0; o < 2 * PARTS; o++)
        query->descending[o] = chance(30);
    if (chance(30)) {
        query->limit = (int)below(50);
        query->offset = chance(30) ? (int)below(20) : 0;
    }
}

static void write_query(const struct query *query, bool ours, char *text, size_t bytes)
{
    size_t at = 0;
#define PUT(...)   at += (size_t)snprintf(text + at, at < bytes ? bytes - at : 0, __VA_ARGS__)
#define SIDE(term) (ours ? (term).ours : (term).sqlites)
    const uint32_t outputs = query->group_count + query->aggregate_count;
    PUT("SELECT %s", query->distinct ? "DISTINCT " : "");
    for (uint32_t o = 0; o < outputs; o++)
        PUT("%s%s AS c%u", o ? ", " : "",
            o < query->group_count ? SIDE(query->groups[o]) : SIDE(query->aggregates[o - query->group_count]),
            o);
    PUT(" FROM %s", query->from[!ours]);
    for (uint32_t w = 0; w < query->where_count; w++)
        PUT("%s%s", w ? " AND " : " WHERE ", SIDE(query->where[w]));
    for (uint32_t g = 0; query->aggregated && g < query->group_count; g++)
        PUT("%s%s", g ? ", " : " GROUP BY ", SIDE(query->groups[g]));
    if (query->has_having)
        PUT(" HAVING %s", SIDE(query->having));
    for (uint32_t o = 0; o < outputs; o++)
        PUT("%s%u%s", o ? ", " : " ORDER BY ", o + 1, query->descending[o] ? " DESC" : "");
    if (query->limit >= 0)
        PUT(" LIMIT %d OFFSET %d", query->limit, query->offset);
#undef PUT
#undef SIDE
}

/* ---- Comparing ---- */

enum verdict { SAME, REFUSED, DIFFERENT };

static char why[2 * TEXT];

static bool same_value(const struct rowset_column *column, uint64_t row, const struct term *term,
                       sqlite3_stmt *statement, int place)
{
    const int type = sqlite3_column_type(statement, place);
    const bool null = column->nulls && column->nulls[row];
    char buffer[ROWSET_TEXT_BYTES];
    uint32_t length;
    if (null || type == SQLITE_NULL)
        return null && type == SQLITE_NULL;
    if (column->type.kind == VALUE_STRING) {
        const char *text = rowset_text(column, row, buffer, &length);
        return (int)length == sqlite3_column_bytes(statement, place) &&
               memcmp(text, sqlite3_column_text(statement, place), length) == 0;
    }
    if (column->type.kind == VALUE_DOUBLE) {
        double number;
        memcpy(&number, &column->values[row], sizeof number);
        const double expected = sqlite3_column_double(statement, place) / (double)unit(term->scale - 100u);
        return fabs(number - expected) <= 1e-9 * (fabs(expected) + 1);
    }
    return column->values[row] == sqlite3_column_int64(statement, place) &&
           (column->type.kind != VALUE_INTEGER || column->type.scale == term->scale);
}

static bool documented_refusal(const char *text)
{
    static const char *const reasons[] = {"64 bits", "2^63", "18 digits", "digits behind the point",
                                          "use a codec with random access"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(text, reasons[i]))
            return true;
    return false;
}

static enum verdict compare_rows(const struct query *query, const struct rowset *rows,
                                 sqlite3_stmt *statement)
{
    uint64_t row = 0;
    int step;
    for (; (step = sqlite3_step(statement)) == SQLITE_ROW; row++) {
        if (row >= rows->rows) {
            snprintf(why, sizeof why, "SQLite has more than our %llu rows", (unsigned long long)rows->rows);
            return DIFFERENT;
        }
        for (uint32_t c = 0; c < rows->column_count; c++) {
            const struct term *term =
                c < query->group_count ? &query->groups[c] : &query->aggregates[c - query->group_count];
            if (same_value(&rows->columns[c], row, term, statement, (int)c))
                continue;
            char buffer[ROWSET_TEXT_BYTES];
            uint32_t length;
            const char *text = rowset_text(&rows->columns[c], row, buffer, &length);
            snprintf(why, sizeof why, "row %llu, column %u: %.*s, SQLite says %s", (unsigned long long)row, c,
                     text ? (int)length : 4, text ? text : "NULL",
                     (const char *)sqlite3_column_text(statement, (int)c));
            return DIFFERENT;
        }
    }
    if (step != SQLITE_DONE)
        return REFUSED; /* SQLite's sum overflowed */
    if (row != rows->rows) {
        snprintf(why, sizeof why, "%llu rows, SQLite has %llu", (unsigned long long)rows->rows,
                 (unsigned long long)row);
        return DIFFERENT;
    }
    return SAME;
}

static enum verdict try_query(struct engine *engine, struct database *database, sqlite3 *sqlite,
                              const struct query *query, const char *codec)
{
    static char ours[40 * TEXT], theirs[40 * TEXT];
    struct sql_statement *statement = NULL;
    sqlite3_stmt *expected = NULL;
    struct error error = {0};
    struct rowset rows = {0};
    size_t used;
    enum verdict verdict = DIFFERENT;
    write_query(query, true, ours, sizeof ours);
    write_query(query, false, theirs, sizeof theirs);
    if (sqlite3_prepare_v2(sqlite, theirs, -1, &expected, NULL) != SQLITE_OK) {
        snprintf(why, sizeof why, "SQLite does not take it: %s", sqlite3_errmsg(sqlite));
        return DIFFERENT;
    }
    enum status status = sql_prepare(engine, database, ours, strlen(ours), codec, &statement, &used, &error);
    if (status == STATUS_OK)
        status = sql_run(statement, &rows, NULL, &error);
    if (status == STATUS_OK && strcmp(device, "compile") == 0)
        status = compile_statement(database, ours, codec, &compile_targets[2], &error);
    if (status == STATUS_OK)
        verdict = compare_rows(query, &rows, expected);
    else if (documented_refusal(error.text))
        verdict = REFUSED;
    else
        snprintf(why, sizeof why, "refused: %s", error.text);
    rowset_free(&rows);
    sql_statement_free(statement);
    sqlite3_finalize(expected);
    return verdict;
}

/* Leaves out whatever can be left out while the answers differ. */
static void shrink(struct engine *engine, struct database *database, sqlite3 *sqlite, struct query *query,
                   const char *codec)
{
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (uint32_t part = 0; part < 3 * PARTS + 3 && !smaller; part++) {
            struct query less = *query;
            struct term *const lists[] = {less.where, less.groups, less.aggregates};
            uint32_t *const counts[] = {&less.where_count, &less.group_count, &less.aggregate_count};
            const uint32_t list = part / PARTS, at = part % PARTS;
            if (list < 3) {
                if (at >= *counts[list] || (list && less.group_count + less.aggregate_count == 1) ||
                    (list == 2 && at == 0 && less.has_having))
                    continue;
                for (uint32_t i = at; i + 1 < *counts[list]; i++)
                    lists[list][i] = lists[list][i + 1];
                (*counts[list])--;
            } else if (at == 0 && less.has_having) {
                less.has_having = false;
            } else if (at == 1 && less.limit >= 0) {
                less.limit = -1;
            } else if (at == 2 && less.distinct) {
                less.distinct = false;
            } else {
                continue;
            }
            if (try_query(engine, database, sqlite, &less, codec) == DIFFERENT &&
                !strstr(why, "SQLite does not take it") && !strstr(why, "nothing joins")) {
                *query = less;
                smaller = true;
            }
        }
    }
    (void)try_query(engine, database, sqlite, query, codec);
}

static void random_queries_answer_as_sqlite_does(void **state)
{
    static const char *const codecs[] = {NULL,         NULL,       "plain",    "nsf",
                                         "gpu-for",    "gpu-dfor", "gpu-rfor", "lane-for",
                                         "lane-delta", "rank-rle", "smallest"};
    static char text[40 * TEXT];
    static struct query query;
    struct engine *engine;
    uint64_t compared = 0, refused = 0, stars = 0;
    struct timespec begin, now;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        char path[PATH_BYTES];
        struct database *database;
        random_state = seed + 0x9e3779b97f4a7c15ull * ++stars;
        sqlite3 *sqlite = make_star(path, &database);
        must(engine_open(strcmp(device, "compile") ? device : "cpu", 2, &engine, error));
        for (uint32_t q = 0; q < 60; q++) {
            const char *const codec = codecs[below(sizeof codecs / sizeof *codecs)];
            make_query(&query);
            const enum verdict verdict = try_query(engine, database, sqlite, &query, codec);
            compared += verdict == SAME;
            refused += verdict == REFUSED;
            if (verdict != DIFFERENT)
                continue;
            shrink(engine, database, sqlite, &query, codec);
            write_query(&query, true, text, sizeof text);
            print_message("codec %s; region %u, shop %u, item %u, sale %u rows\n%s\n", codec ? codec : "own",
                          table_rows[0], table_rows[1], table_rows[2], table_rows[3], text);
            write_query(&query, false, text, sizeof text);
            print_message("SQLite: %s\n", text);
            fail_msg("seed %llu, star %llu, query %u: %s", (unsigned long long)seed,
                     (unsigned long long)stars, q, why);
        }
        engine_close(engine);
        database_close(database);
        sqlite3_close(sqlite);
        directory_remove(path);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) < seconds);
    print_message("seed %llu: %llu stars, %llu queries alike, %llu refused for a documented reason\n",
                  (unsigned long long)seed, (unsigned long long)stars, (unsigned long long)compared,
                  (unsigned long long)refused);
    assert_true(compared > refused);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_queries_answer_as_sqlite_does)};
    seconds = argc > 1 ? atof(argv[1]) : 120;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261121;
    device = argc > 3 ? argv[3] : test_device();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
