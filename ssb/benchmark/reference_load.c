/*
 * reference_load.c: raw rows into a new SQLite file.
 *
 * SQLite inserts from one thread, and that is what loading costs; so a second thread
 * makes the next batch of rows meanwhile, and everything that SQLite does for safety is off: the file gets its name only when it is
 * complete. Dimension keys are row ids (INTEGER PRIMARY KEY), so that a join is a look-up in a table's own
 * tree; lineorder has no index, because every query reads all of it.
 */
#define _GNU_SOURCE
#include "ssb/benchmark/reference_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of the 13 queries; a dimension's key comes first. */
static const struct {
    enum ssb_table table;
    const char *columns[REFERENCE_COLUMNS_MAX];
} TABLES[] = {
    {SSB_DATE, {"d_datekey", "d_year", "d_yearmonthnum", "d_yearmonth", "d_weeknuminyear"}},
    {SSB_CUSTOMER, {"c_custkey", "c_city", "c_nation", "c_region"}},
    {SSB_SUPPLIER, {"s_suppkey", "s_city", "s_nation", "s_region"}},
    {SSB_PART, {"p_partkey", "p_mfgr", "p_category", "p_brand1"}},
    {SSB_LINEORDER,
     {"lo_orderdate", "lo_custkey", "lo_partkey", "lo_suppkey", "lo_quantity", "lo_extendedprice",
      "lo_discount", "lo_revenue", "lo_supplycost"}},
};

static const char LOAD_PRAGMAS[] = "PRAGMA page_size = 32768; PRAGMA journal_mode = OFF;PRAGMA synchronous = "
                                   "OFF; PRAGMA locking_mode = EXCLUSIVE;PRAGMA cache_size = -65536;";

static void find_columns(size_t index, struct reference_table *table)
{
    const struct ssb_table_info *info = ssb_table_info(TABLES[index].table);
    *table = (struct reference_table){.table = TABLES[index].table};
    for (uint32_t i = 0; i < REFERENCE_COLUMNS_MAX && TABLES[index].columns[i]; i++)
        for (uint32_t c = 0; c < info->column_count; c++)
            if (strcmp(info->columns[c].name, TABLES[index].columns[i]) == 0)
                table->columns[table->column_count++] = c;
}

/* CREATE TABLE, and the statement that inserts a row. */
static enum status create_table(sqlite3 *connection, const char *path, const struct reference_table *table,
                                sqlite3_stmt **insert, struct error *error)
{
    const struct ssb_table_info *info = ssb_table_info(table->table);
    char create[512], values[512];
    int c = snprintf(create, sizeof create, "CREATE TABLE %s(", info->name);
    int v = snprintf(values, sizeof values, "INSERT INTO %s VALUES (", info->name);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct ssb_column *column = &info->columns[table->columns[i]];
        c += snprintf(create + c, sizeof create - (size_t)c, "%s%s %s%s", i ? ", " : "", column->name,
                      column->number ? "INTEGER" : "TEXT",
                      i == 0 && table->table != SSB_LINEORDER ? " PRIMARY KEY" : "");
        v += snprintf(values + v, sizeof values - (size_t)v, "%s?", i ? ", " : "");
    }
    snprintf(create + c, sizeof create - (size_t)c, ")");
    snprintf(values + v, sizeof values - (size_t)v, ")");
    RETURN_IF_ERROR(reference_execute(connection, path, create, "creating tables", error));
    if (sqlite3_prepare_v2(connection, values, -1, insert, NULL) != SQLITE_OK)
        return reference_error(connection, path, "loading", error);
    return STATUS_OK;
}

static enum status insert_row(sqlite3 *connection, const char *path, sqlite3_stmt *insert,
                              struct error *error)
{
    if (sqlite3_step(insert) != SQLITE_DONE)
        return reference_error(connection, path, "loading", error);
    sqlite3_reset(insert);
    return STATUS_OK;
}

static enum status load_dimension(sqlite3 *connection, const char *path, const struct reference_table *table,
                                  sqlite3_stmt *insert, struct reference_rows *rows, uint64_t *loaded,
                                  struct error *error)
{
    const struct ssb_table_info *info = ssb_table_info(table->table);
    struct ssb_row row;
    for (;; ++*loaded) {
        bool end;
        RETURN_IF_ERROR(reference_rows_next(rows, &row, &end, error));
        if (end)
            return cancel_check(error);
        for (uint32_t i = 0; i < table->column_count; i++) {
            uint32_t column = table->columns[i];
            if (info->columns[column].number)
                sqlite3_bind_int64(insert, (int)i + 1, row.numbers[column]);
            else
                sqlite3_bind_text(insert, (int)i + 1, row.strings[column], -1, SQLITE_STATIC);
        }
        RETURN_IF_ERROR(insert_row(connection, path, insert, error));
    }
}

/* ---- lineorder: a batch is made while the one before it is inserted ---- */

struct batch {
    int32_t values[REFERENCE_COLUMNS_MAX][REFERENCE_BATCH_ROWS];
    uint32_t count; /* 0: behind the last row */
};

struct lineorder_load {
    sqlite3 *connection;
    const char *path;
    sqlite3_stmt *insert;
    uint32_t column_count;
    struct reference_rows *rows;
    struct batch *made, *next;
};

static enum status insert_batch(const struct lineorder_load *load, struct error *error)
{
    for (uint32_t row = 0; row < load->made->count; row++) {
        for (uint32_t i = 0; i < load->column_count; i++)
            sqlite3_bind_int(load->insert, (int)i + 1, load->made->values[i][row]);
        RETURN_IF_ERROR(insert_row(load->connection, load->path, load->insert, error));
    }
    return cancel_check(error);
}

static enum status make_or_insert(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct lineorder_load *load = context;
    int32_t *columns[REFERENCE_COLUMNS_MAX];
    (void)thread;
    if (item == 0) /* usually the calling thread: SQLite stays on its processor */
        return insert_batch(load, error);
    for (uint32_t i = 0; i < REFERENCE_COLUMNS_MAX; i++)
        columns[i] = load->next->values[i];
    return reference_rows_batch(load->rows, columns, &load->next->count, error);
}

static enum status load_lineorder(sqlite3 *connection, const char *path, const struct reference_table *table,
                                  sqlite3_stmt *insert, struct reference_rows *rows, uint64_t expected,
                                  struct progress *progress, uint64_t *loaded, struct error *error)
{
    struct batch *const batches = malloc(2 * sizeof *batches);
    if (!batches)
        return error_out_of_memory(error, 2 * sizeof *batches, "rows for SQLite");
    batches[0].count = 0;
    struct lineorder_load load = {.connection = connection,
                                  .path = path,
                                  .insert = insert,
                                  .column_count = table->column_count,
                                  .rows = rows,
                                  .made = &batches[0],
                                  .next = &batches[1]};
    enum status status;
    do {
        status = parallel_for(2, 2, make_or_insert, &load, error);
        *loaded += load.made->count;
        progress_report(progress, "loading SQLite", "rows", *loaded, expected);
        struct batch *const inserted = load.made;
        load.made = load.next;
        load.next = inserted;
    } while (status == STATUS_OK && load.made->count);
    free(batches);
    return status;
}

static enum status load_table(sqlite3 *connection, const char *path, const struct reference_source *source,
                              const struct reference_table *table, struct reference_rows *rows,
                              struct progress *progress, struct error *error)
{
    sqlite3_stmt *insert = NULL;
    RETURN_IF_ERROR(create_table(connection, path, table, &insert, error));
    uint64_t expected = source->rows[table->table], loaded = 0;
    enum status status = reference_rows_begin(rows, table, error);
    if (status == STATUS_OK && table->table == SSB_LINEORDER)
        status = load_lineorder(connection, path, table, insert, rows, expected, progress, &loaded, error);
    else if (status == STATUS_OK)
        status = load_dimension(connection, path, table, insert, rows, &loaded, error);
    sqlite3_finalize(insert);
    if (status == STATUS_OK && loaded != expected)
        status = error_set(error, STATUS_CHECK_FAILED,
                           "the raw rows of %s are %" PRIu64 ", but the database has %" PRIu64
                           "; it was loaded from other rows, load it again",
                           ssb_table_info(table->table)->name, loaded, expected);
    return status;
}

enum status reference_load(sqlite3 *connection, const char *path, const struct reference_source *source,
                           unsigned threads, struct progress *progress, struct error *error)
{
    struct reference_rows *rows;
    RETURN_IF_ERROR(reference_rows_open(source, threads, &rows, error));
    enum status status = reference_execute(connection, path, LOAD_PRAGMAS, "preparing", error);
    status = AND_THEN(status, reference_execute(connection, path, "BEGIN", "preparing", error));
    for (size_t t = 0; status == STATUS_OK && t < sizeof TABLES / sizeof *TABLES; t++) {
        struct reference_table table;
        find_columns(t, &table);
        status = load_table(connection, path, source, &table, rows, progress, error);
    }
    reference_rows_close(rows);
    /* with row counts SQLite puts Bloom filters before its look-ups: Q2.1 at SF 1 1.8 s without, 0.21 s with
     */
    status = AND_THEN(status, reference_execute(connection, path, "ANALYZE", "counting", error));
    return status;
}
