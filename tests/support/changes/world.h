/*
 * world.h: a small star schema in a database and in SQLite, and random changes of both: appends to some of its tables, also in
 * the place of rows that pass a condition, deletes by one, compactions. A change is made in SQLite first, in a transaction, which tells whether it is
 * refused: a key is there already, or a row that another one references would be missing.
 *
 * Sales reference shops, goods (a table with levels), staff, and lots by two columns; shops reference regions, and staff
 * itself.
 */
#ifndef TESSERA_TESTS_SUPPORT_CHANGES_WORLD_H
#define TESSERA_TESTS_SUPPORT_CHANGES_WORLD_H

#include "tests/fuzz/fuzz_random.h"
#include "tests/support/sql/as_sqlite.h"

static const char world_schema[] =
    "CREATE TABLE regions (name TEXT PRIMARY KEY, zone INT);\n"
    "CREATE TABLE shops (id INT PRIMARY KEY, city TEXT, region TEXT REFERENCES regions);\n"
    "CREATE TABLE goods (code TEXT PRIMARY KEY, kind TEXT NOT NULL, brand INT NOT NULL, price INT);\n"
    "CREATE TABLE staff (id INT PRIMARY KEY, boss INT REFERENCES staff, name TEXT);\n"
    "CREATE TABLE lots (house INT NOT NULL, lot INT NOT NULL, owner TEXT, PRIMARY KEY (house, lot));\n"
    "CREATE TABLE sales (number INT PRIMARY KEY, shop INT REFERENCES shops, good TEXT REFERENCES goods, "
    "seller INT REFERENCES staff, house INT, lot INT, pieces INT, note TEXT, weight DOUBLE, "
    "FOREIGN KEY (house, lot) REFERENCES lots (house, lot));\n";

#define WORLD_LEVELS "goods=kind,brand"

enum world_table { REGIONS, SHOPS, GOODS, STAFF, LOTS, SALES, WORLD_TABLES };

static const struct {
    const char *name, *keys; /* a query of its keys as texts */
    uint32_t columns, most;  /* keys are below `most` */
} world_tables[WORLD_TABLES] = {
    [REGIONS] = {"regions", "SELECT name FROM regions", 2, 9},
    [SHOPS] = {"shops", "SELECT id FROM shops", 3, 120},
    [GOODS] = {"goods", "SELECT code FROM goods", 4, 150},
    [STAFF] = {"staff", "SELECT id FROM staff", 3, 80},
    [LOTS] = {"lots", "SELECT house || ',' || lot FROM lots", 3, 100},
    [SALES] = {"sales", NULL, 9, UINT32_MAX},
};

static struct {
    uint32_t next;    /* number of the next sale */
    uint32_t strings; /* how many notes there are */
} world;

enum change_kind { CHANGE_APPEND, CHANGE_DELETE, CHANGE_COMPACT };

struct change {
    enum change_kind kind;
    enum world_table table;     /* of a deletion; of a compaction, or WORLD_TABLES */
    char condition[512];        /* of a deletion; of an append of sales alone, which sales go, or "" */
    bool appends[WORLD_TABLES]; /* rows are in the file of that table */
    bool refused;               /* by SQLite; nothing was changed there */
    int64_t rows;               /* that were changed in SQLite */
};

static inline void execute(sqlite3 *sqlite, const char *sql)
{
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
}

static inline void world_create(sqlite3 *sqlite)
{
    execute(sqlite, world_schema);
    execute(sqlite, "CREATE INDEX a ON sales (shop); CREATE INDEX b ON sales (good); "
                    "CREATE INDEX c ON sales (seller); CREATE INDEX d ON sales (house, lot); "
                    "CREATE INDEX e ON shops (region); CREATE INDEX f ON staff (boss)");
    execute(sqlite, "PRAGMA foreign_keys = ON");
}

/* Where the rows of a table are that are loaded next: beside the database. */
static inline void world_file(enum world_table table, char file[PATH_BYTES])
{
    const int length = (int)strlen(path) - (int)strlen("/db");
    assert_true(snprintf(file, PATH_BYTES, "%.*s/%s.csv", length, path, world_tables[table].name) <
                PATH_BYTES);
}

/* ---- Rows ---- */

#define TEXT_BYTES 32u
#define KEYS_MOST  256u

struct key_list {
    uint32_t count;
    char keys[KEYS_MOST][TEXT_BYTES];
};

static inline void keys_read(sqlite3 *sqlite, enum world_table table, struct key_list *list)
{
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_prepare_v2(sqlite, world_tables[table].keys, -1, &query, NULL), SQLITE_OK);
    for (list->count = 0; list->count < KEYS_MOST && sqlite3_step(query) == SQLITE_ROW; list->count++)
        snprintf(list->keys[list->count], TEXT_BYTES, "%s", (const char *)sqlite3_column_text(query, 0));
    sqlite3_finalize(query);
}

static inline bool keys_have(const struct key_list *list, const char *key)
{
    for (uint32_t k = 0; k < list->count; k++)
        if (strcmp(list->keys[k], key) == 0)
            return true;
    return false;
}

static inline void make_key(enum world_table table, char key[TEXT_BYTES])
{
    const uint32_t number = below(world_tables[table].most);
    if (table == LOTS)
        snprintf(key, TEXT_BYTES, "%u,%u", number / 10, number % 10);
    else
        snprintf(key, TEXT_BYTES, "%s%u", table == REGIONS ? "r" : table == GOODS ? "g" : "", number);
}

/* A key of a row that is there, but for a third of them, which may then be deleted; seldom any key, and NULL ("") where there
 * is none. */
static inline void pick_key(const struct key_list *list, enum world_table table, char key[TEXT_BYTES])
{
    key[0] = '\0';
    if (below(5000) == 0)
        make_key(table, key);
    else if (list->count && chance(92))
        snprintf(key, TEXT_BYTES, "%s", list->keys[list->count / 3 + below(list->count - list->count / 3)]);
}

/* Writes rows to the table's file and to SQLite, until that refuses one. */
struct row_writer {
    FILE *out;
    sqlite3_stmt *insert;
    uint32_t columns, column;
    struct change *change;
};

static inline void rows_open(sqlite3 *sqlite, struct change *change, enum world_table table,
                             struct row_writer *rows)
{
    char file[PATH_BYTES], sql[128];
    *rows = (struct row_writer){.columns = world_tables[table].columns, .change = change};
    world_file(table, file);
    rows->out = fopen(file, "w");
    assert_non_null(rows->out);
    int used = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", world_tables[table].name);
    for (uint32_t c = 1; c < rows->columns; c++)
        used += snprintf(sql + used, sizeof sql - (size_t)used, ", ?");
    snprintf(sql + used, sizeof sql - (size_t)used, ")");
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &rows->insert, NULL), SQLITE_OK);
    change->appends[table] = true;
}

static inline void rows_close(struct row_writer *rows)
{
    fclose(rows->out);
    sqlite3_finalize(rows->insert);
}

/* A value of the row; "" is NULL. */
static inline void put(struct row_writer *rows, const char *text)
{
    fprintf(rows->out, "%s%c", text, rows->column + 1 == rows->columns ? '\n' : ',');
    rows->column++;
    if (text[0])
        sqlite3_bind_text(rows->insert, (int)rows->column, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(rows->insert, (int)rows->column);
    if (rows->column < rows->columns)
        return;
    rows->column = 0;
    if (!rows->change->refused)
        rows->change->refused = sqlite3_step(rows->insert) != SQLITE_DONE;
    rows->change->rows++;
    sqlite3_reset(rows->insert);
}

static inline void put_number(struct row_writer *rows, bool null, int64_t number)
{
    char text[TEXT_BYTES] = "";
    if (!null)
        snprintf(text, sizeof text, "%lld", (long long)number);
    put(rows, text);
}

static inline void put_word(struct row_writer *rows, bool null, const char *word, uint32_t number)
{
    char text[TEXT_BYTES] = "";
    if (!null)
        snprintf(text, sizeof text, "%s%u", word, number);
    put(rows, text);
}

static inline void put_pair(struct row_writer *rows, const char *pair)
{
    char first[TEXT_BYTES];
    const size_t length = strcspn(pair, ",");
    snprintf(first, sizeof first, "%.*s", (int)length, pair);
    put(rows, first);
    put(rows, pair[0] ? pair + length + 1 : "");
}

static inline void put_dimension_row(struct row_writer *rows, enum world_table table, const char *key,
                                     const struct key_list *lists)
{
    char other[TEXT_BYTES];
    if (table == LOTS)
        put_pair(rows, key);
    else
        put(rows, key);
    if (table == REGIONS) {
        put_number(rows, chance(10), below(4));
    } else if (table == SHOPS) {
        put_word(rows, chance(10), "city ", below(7));
        pick_key(&lists[REGIONS], REGIONS, other);
        put(rows, other);
    } else if (table == GOODS) {
        put_word(rows, false, "kind ", below(4));
        put_number(rows, false, below(6));
        put_number(rows, chance(10), below(100));
    } else if (table == STAFF) {
        pick_key(&lists[STAFF], STAFF, other);
        put(rows, other);
        put_word(rows, chance(10), "name ", below(50));
    } else {
        put_word(rows, chance(10), "owner ", below(20));
    }
}

static inline void append_dimension(sqlite3 *sqlite, struct change *change, enum world_table table,
                                    uint32_t count, struct key_list *lists)
{
    struct row_writer rows;
    rows_open(sqlite, change, table, &rows);
    for (uint32_t r = 0; r < count; r++) {
        char key[TEXT_BYTES];
        make_key(table, key);
        if (keys_have(&lists[table], key) && below(300))
            continue;
        put_dimension_row(&rows, table, key, lists);
        if (lists[table].count < KEYS_MOST)
            snprintf(lists[table].keys[lists[table].count++], TEXT_BYTES, "%s", key);
    }
    rows_close(&rows);
}

/* Some columns are NULL in all rows of one append. */
static inline void append_sales(sqlite3 *sqlite, struct change *change, uint32_t count,
                                const struct key_list *lists)
{
    static const enum world_table referenced[] = {SHOPS, GOODS, STAFF};
    const bool no_pieces = chance(15), no_notes = chance(15);
    struct row_writer rows;
    char text[TEXT_BYTES];
    rows_open(sqlite, change, SALES, &rows);
    world.strings += chance(30) ? below(3) : 0;
    for (uint32_t r = 0; r < count; r++) {
        put_number(&rows, false, world.next++);
        for (uint32_t k = 0; k < 3; k++) {
            pick_key(&lists[referenced[k]], referenced[k], text);
            put(&rows, text);
        }
        pick_key(&lists[LOTS], LOTS, text);
        put_pair(&rows, text);
        put_number(&rows, no_pieces || chance(10), (int64_t)below(300) - 40);
        const bool no_note = no_notes || chance(20);
        put_word(&rows, no_note, &"note m\0note z\0note k"[7 * (below(world.strings + 1) % 3)],
                 below(world.strings + 1));
        snprintf(text, sizeof text, "%.3f", below(1000) / 8.0);
        put(&rows, text);
    }
    rows_close(&rows);
}

static inline void make_append(sqlite3 *sqlite, struct change *change, bool first)
{
    static const uint32_t sizes[] = {1, 7, 31, 31, 200, 1023, 1025, 3000};
    static struct key_list lists[WORLD_TABLES];
    change->kind = CHANGE_APPEND;
    for (int t = REGIONS; t < SALES; t++)
        keys_read(sqlite, (enum world_table)t, &lists[t]);
    for (int t = REGIONS; t < SALES; t++)
        if (first || chance(25))
            append_dimension(sqlite, change, (enum world_table)t, first ? 60 : below(40), lists);
    bool any = false;
    for (int t = REGIONS; t < SALES; t++)
        any |= change->appends[t];
    if (first || !any || chance(70))
        append_sales(sqlite, change, first ? 500 : sizes[below(sizeof sizes / sizeof *sizes)], lists);
}

/* ---- Conditions ---- */

/* Numbers %u are below `most` (0: numbers of sales), the second at most 50 greater than the first. */
static const struct {
    enum world_table table;
    uint32_t most;
    const char *form;
} conditions[] = {
    {SALES, 200, "pieces BETWEEN %u AND %u"},
    {SALES, 0, "number > %u AND number < %u + 100"},
    {SALES, 120, "shop = %u OR pieces IS NULL AND number < %u"},
    {SALES, 0, "note LIKE 'note m%%' AND number > %u + %u"},
    {SALES, 0, "weight > 120 AND number > %u + %u"},
    {SALES, 0, "number < %u AND pieces < %u"},
    {SALES, 120, "good = 'g%u' OR seller = %u"},
    {SALES, 7, "shop IN (SELECT id FROM shops WHERE city = 'city %u')"},
    {SALES, 200, "pieces > (SELECT avg(pieces) + %u FROM sales)"},
    {SALES, 100, "good NOT IN (SELECT code FROM goods WHERE price < %u)"},
    {SALES, 7, "EXISTS (SELECT 1 FROM shops WHERE id = shop AND region IS NULL AND city = 'city %u')"},
    {SALES, 0, "number = (SELECT max(s.number) FROM sales s WHERE s.shop = sales.shop AND s.number < %u)"},
    {SALES, 40, "number IN (SELECT max(number) - %u FROM sales GROUP BY house) OR pieces = %u"},
    {SALES, 150, "seller IN (SELECT id FROM staff WHERE boss IS NULL) AND pieces > %u"},
    {REGIONS, 9, "name = 'r%u'"},
    {REGIONS, 4, "name NOT IN (SELECT region FROM shops WHERE region IS NOT NULL) AND zone = %u"},
    {SHOPS, 120, "id = %u OR id = %u"},
    {SHOPS, 7, "NOT EXISTS (SELECT * FROM sales WHERE shop = id) AND city <> 'city %u'"},
    {SHOPS, 120, "id NOT IN (SELECT shop FROM sales WHERE shop IS NOT NULL) AND id > %u"},
    {GOODS, 150, "code = 'g%u'"},
    {GOODS, 4, "kind = 'kind %u' AND code NOT IN (SELECT good FROM sales WHERE good IS NOT NULL)"},
    {GOODS, 30, "price > %u AND NOT EXISTS (SELECT * FROM sales WHERE sales.good = goods.code)"},
    {STAFF, 80, "id = %u"},
    {STAFF, 60,
     "id > %u AND id NOT IN (SELECT boss FROM staff WHERE boss IS NOT NULL) AND "
     "NOT EXISTS (SELECT * FROM sales WHERE seller = staff.id)"},
    {STAFF, 1, "id NOT IN (SELECT seller FROM sales WHERE seller IS NOT NULL)"},
    {LOTS, 10,
     "house <> %u AND NOT EXISTS (SELECT * FROM sales WHERE sales.house = lots.house AND "
     "sales.lot = lots.lot)"},
    {LOTS, 10, "house = %u AND lot < %u"},
};

static inline void make_deletion(sqlite3 *sqlite, struct change *change)
{
    char sql[640];
    const uint32_t form = below(sizeof conditions / sizeof *conditions),
                   most = conditions[form].most ? conditions[form].most : world.next + 1, first = below(most),
                   second = first + below(50);
    change->kind = CHANGE_DELETE;
    change->table = conditions[form].table;
    snprintf(change->condition, sizeof change->condition, conditions[form].form, first, second);
    if (chance(2))
        strcpy(change->condition, "true");
    else if (change->table == SALES && world.next > 20000 && chance(5))
        snprintf(change->condition, sizeof change->condition, "number < %u", world.next - 20000);
    snprintf(sql, sizeof sql, "DELETE FROM %s WHERE %s", world_tables[change->table].name, change->condition);
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) == SQLITE_OK)
        change->rows = sqlite3_changes(sqlite);
    else
        change->refused = strstr(sqlite3_errmsg(sqlite), "FOREIGN KEY") != NULL;
    if (!change->refused && sqlite3_errcode(sqlite) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(sqlite));
}

/* The number that a query gives. */
static inline int64_t ask_number(sqlite3 *sqlite, const char *sql)
{
    sqlite3_stmt *query;
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return number;
}

/* Sales in the place of others. A row that does not pass the condition, which is so of some if it does not name new numbers,
 * refuses all. */
static inline void make_replacement(sqlite3 *sqlite, struct change *change)
{
    static const uint32_t sizes[] = {0, 1, 31, 200, 1025};
    static struct key_list lists[WORLD_TABLES];
    const uint32_t form = below(7), most = conditions[form].most ? conditions[form].most : world.next + 1,
                   first = below(most), second = first + below(50), from = world.next;
    char sql[1100], text[256];
    snprintf(text, sizeof text, conditions[form].form, first, second);
    snprintf(change->condition, sizeof change->condition, "%s OR number >= %u", text,
             chance(90) ? from : from + 1);
    snprintf(sql, sizeof sql, "DELETE FROM sales WHERE %s", change->condition);
    execute(sqlite, sql);
    change->rows = sqlite3_changes(sqlite);
    for (int t = REGIONS; t < SALES; t++)
        keys_read(sqlite, (enum world_table)t, &lists[t]);
    append_sales(sqlite, change, sizes[below(sizeof sizes / sizeof *sizes)], lists);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM sales WHERE number >= %u AND (%s) IS NOT TRUE", from,
             change->condition);
    change->refused |= ask_number(sqlite, sql) > 0;
}

/* Makes a change in SQLite, in a transaction that the caller ends. */
static inline void make_change(sqlite3 *sqlite, struct change *change)
{
    const uint32_t kind = below(10);
    *change = (struct change){0};
    execute(sqlite, "BEGIN");
    if (kind < 1) {
        make_replacement(sqlite, change);
    } else if (kind < 5) {
        make_append(sqlite, change, false);
    } else if (kind < 9) {
        make_deletion(sqlite, change);
    } else {
        change->kind = CHANGE_COMPACT;
        change->table = (enum world_table)below(WORLD_TABLES + 3);
        change->table = change->table > WORLD_TABLES ? WORLD_TABLES : change->table;
    }
}

static inline void end_change(sqlite3 *sqlite, bool done)
{
    execute(sqlite, done ? "COMMIT" : "ROLLBACK");
}

#endif
