/*
 * generator.h: the rows of the Star Schema Benchmark, any range of them, byte-identical to ssb-dbgen.
 *
 * Reference: eyalroz/ssb-dbgen ae1e254, and the older variant that Crystal ships; docs/ssb.md says what they
 * share and where they differ. Every row can be generated on its own (jump-ahead in each random stream), so
 * threads share nothing.
 */
#ifndef TESSERA_SSB_DATA_GENERATOR_H
#define TESSERA_SSB_DATA_GENERATOR_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ssb_mode { SSB_MODE_SINGLE, SSB_MODE_ALL }; /* one stream set a table, or shared by all tables */
enum ssb_variant { SSB_VARIANT_EYALROZ, SSB_VARIANT_CRYSTAL };
enum ssb_dates {
    SSB_DATES_FULL,
    SSB_DATES_CLASSIC
}; /* below SF 1: every date, or cut as ssb-dbgen cuts it */

/* Keys of customers, 30000 a scale factor, are stored as int32. */
#define SSB_SCALE_FACTOR_MAX 71582

struct ssb_options {
    double scale_factor; /* > 0; its fraction is dropped above 1, as ssb-dbgen does */
    enum ssb_mode mode;
    enum ssb_variant variant;
    enum ssb_dates dates;
};

/* A scale factor from text: a decimal number > 0 and <= SSB_SCALE_FACTOR_MAX, else STATUS_BAD_INPUT. */
NODISCARD enum status ssb_scale_factor_parse(const char *text, double *scale_factor, struct error *error);

enum ssb_table { SSB_PART, SSB_SUPPLIER, SSB_CUSTOMER, SSB_DATE, SSB_LINEORDER, SSB_TABLES };

#define SSB_COLUMNS_MAX  17
#define SSB_STRING_BYTES 32 /* longest string of a dimension plus its zero: 25-character types fit */

struct ssb_column {
    const char *name; /* "lo_orderkey" */
    bool number;      /* else a string */
    bool wide;        /* the number needs int64 at some scale factor (lo_orderkey) */
    const char
        *references; /* the table whose first column this is a key of ("customer" for lo_custkey), or NULL */
};
struct ssb_table_info {
    const char *name; /* "lineorder" */
    uint32_t column_count;
    struct ssb_column columns[SSB_COLUMNS_MAX]; /* the first is the primary key, except in lineorder */
};
const struct ssb_table_info *ssb_table_info(enum ssb_table table);

/* Positions of lineorder's columns in ssb_table_info and in ssb_generate_lineorder. */
enum ssb_lineorder_column {
    LO_ORDERKEY,
    LO_LINENUMBER,
    LO_CUSTKEY,
    LO_PARTKEY,
    LO_SUPPKEY,
    LO_ORDERDATE,
    LO_ORDERPRIORITY,
    LO_SHIPPRIORITY,
    LO_QUANTITY,
    LO_EXTENDEDPRICE,
    LO_ORDTOTALPRICE,
    LO_DISCOUNT,
    LO_REVENUE,
    LO_SUPPLYCOST,
    LO_TAX,
    LO_COMMITDATE,
    LO_SHIPMODE,
    LO_COLUMNS
};

struct ssb_generator;

/* Scale factors that are not positive or above SSB_SCALE_FACTOR_MAX: STATUS_BAD_INPUT. Counts the lines of
 * every 1024 orders once (`threads` threads, 0: all available), so that lineorder can be entered at any row;
 * keeps 8 bytes for each such block: 12 MB at SF 1000. */
NODISCARD enum status ssb_generator_create(const struct ssb_options *options, unsigned threads,
                                           struct ssb_generator **generator, struct error *error);
void ssb_generator_destroy(struct ssb_generator *generator);

uint64_t ssb_rows(const struct ssb_generator *generator, enum ssb_table table);

/* Words that a lineorder string column (LO_ORDERPRIORITY, LO_SHIPMODE) draws from, by code, sorted by bytes.
 */
uint32_t ssb_lineorder_words(const struct ssb_generator *generator, uint32_t column,
                             const char *const **words);

/* `rows` rows of lineorder from `first_row` (0-based) into one array per column: int32_t, but int64_t for
 * lo_orderkey; dates as the yyyymmdd number; string columns as codes into ssb_lineorder_words. columns[c] may
 * be NULL: that column is not generated (and what only it needs is not computed). The rows must exist. Any
 * thread; about 200 KiB of stack. */
void ssb_generate_lineorder(const struct ssb_generator *generator, uint64_t first_row, uint64_t rows,
                            void *const columns[SSB_COLUMNS_MAX]);

/* One row (0-based) of a dimension: numbers[c] for number columns, strings[c] (zero-terminated) for the
 * others. */
struct ssb_row {
    int64_t numbers[SSB_COLUMNS_MAX];
    char strings[SSB_COLUMNS_MAX][SSB_STRING_BYTES];
};
void ssb_generate_row(const struct ssb_generator *generator, enum ssb_table table, uint64_t row,
                      struct ssb_row *out);

/* Text of a row at most, and what ssb_format_tbl may use of its buffer for each. */
#define SSB_TEXT_ROW_BYTES 256

/* Rows (0-based) as in ssb-dbgen's files: fields and a '|' behind each, '\n'. `text` holds rows *
 * SSB_TEXT_ROW_BYTES; returns the bytes written, no zero behind them. Any thread; about 400 KiB of stack. */
size_t ssb_format_tbl(const struct ssb_generator *generator, enum ssb_table table, uint64_t first_row,
                      uint64_t rows, char *text);

/* Writes TABLE.tbl into the folder `directory` (created if missing, its parent not), on `threads` threads (0:
 * all available) with about 4 MB each, to TABLE.tbl.partial, which is fsynced and renamed when complete; an
 * existing file is replaced. Nothing is left behind when it fails or is cancelled. Progress in rows. */
NODISCARD enum status ssb_write_tbl(const struct ssb_generator *generator, enum ssb_table table,
                                    const char *directory, unsigned threads, struct progress *progress,
                                    struct error *error);

#endif
