/*
 * generator.h: generates any range of rows of the Star Schema Benchmark, byte-identical to ssb-dbgen
 * unless skew is asked for.
 *
 * The references are eyalroz/ssb-dbgen ae1e254 and the older variant that Crystal ships; docs/ssb.md says
 * what they share and where they differ. Every row can be generated alone, because each random stream can
 * jump ahead; so threads share nothing.
 */
#ifndef TESSERA_SSB_DATA_GENERATOR_H
#define TESSERA_SSB_DATA_GENERATOR_H

#include "storage/base/parallel.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SINGLE: each table starts its streams anew. ALL: tables share their streams, as when one ssb-dbgen process
 * writes all tables. */
enum ssb_mode { SSB_MODE_SINGLE, SSB_MODE_ALL };

enum ssb_variant { SSB_VARIANT_EYALROZ, SSB_VARIANT_CRYSTAL };

/* The date table below SF 1. FULL: all dates. CLASSIC: only the first ones, as many as ssb-dbgen writes. */
enum ssb_dates { SSB_DATES_FULL, SSB_DATES_CLASSIC };

/* What the three are called, by value: on the command line, in ssb.json, in the reference. */
extern const char *const ssb_mode_words[2], *const ssb_variant_words[2], *const ssb_dates_words[2];

/* At this scale factor the customer keys, 30000 per unit of the scale factor, fill an int32. */
#define SSB_SCALE_FACTOR_MAX 71582

struct ssb_options {
    double scale_factor; /* > 0; above 1 the fraction is dropped, as in ssb-dbgen */
    enum ssb_mode mode;
    enum ssb_variant variant;
    enum ssb_dates dates;
    bool skew; /* values are not uniform: skew.h */
};

/* Reads a scale factor: a decimal number > 0 and <= SSB_SCALE_FACTOR_MAX, else STATUS_BAD_INPUT. */
NODISCARD enum status ssb_scale_factor_parse(const char *text, double *scale_factor, struct error *error);

enum ssb_table { SSB_PART, SSB_SUPPLIER, SSB_CUSTOMER, SSB_DATE, SSB_LINEORDER, SSB_TABLES };

#define SSB_COLUMNS_MAX  17
#define SSB_STRING_BYTES 32 /* room for the longest string of a dimension (25 characters) and its zero */

struct ssb_column {
    const char *name;       /* "lo_orderkey" */
    bool number;            /* else a string */
    bool wide;              /* the number needs int64 at some scale factor (lo_orderkey) */
    const char *references; /* a foreign key's table ("customer" for lo_custkey), or NULL */
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

/* STATUS_BAD_INPUT if the scale factor is not positive or above SSB_SCALE_FACTOR_MAX. Counts the lines of
 * every 1024 orders once, on `threads` threads (0: all available), so that generation can start at any row of
 * lineorder. It keeps 8 bytes for each such block: 12 MB at SF 1000. */
NODISCARD enum status ssb_generator_create(const struct ssb_options *options, unsigned threads,
                                           struct ssb_generator **generator, struct error *error);
void ssb_generator_destroy(struct ssb_generator *generator);

uint64_t ssb_rows(const struct ssb_generator *generator, enum ssb_table table);

/* The words of a string column of lineorder (LO_ORDERPRIORITY, LO_SHIPMODE), by code; codes follow the order
 * of the words' bytes. Returns their number. */
uint32_t ssb_lineorder_words(const struct ssb_generator *generator, uint32_t column,
                             const char *const **words);

/* Generates `rows` rows of lineorder from `first_row` (0-based) into one array per column: int32_t, except
 * int64_t for lo_orderkey. Dates are yyyymmdd numbers; strings are codes into ssb_lineorder_words. A column
 * whose columns[c] is NULL is not generated, and values that only it needs are not computed. The rows must
 * exist. Any thread may call; the call takes about 200 KiB of stack. */
void ssb_generate_lineorder(const struct ssb_generator *generator, uint64_t first_row, uint64_t rows,
                            void *const columns[SSB_COLUMNS_MAX]);

/* One row of a dimension: number columns are in numbers[c], the others in strings[c] (zero-terminated). Rows
 * count from 0. */
struct ssb_row {
    int64_t numbers[SSB_COLUMNS_MAX];
    char strings[SSB_COLUMNS_MAX][SSB_STRING_BYTES];
};
void ssb_generate_row(const struct ssb_generator *generator, enum ssb_table table, uint64_t row,
                      struct ssb_row *out);

/* The most bytes of a row's text, and the room that ssb_format_tbl needs in its buffer for each row. */
#define SSB_TEXT_ROW_BYTES 256

/* Prints rows (0-based) as in ssb-dbgen's files: each field is followed by '|', each row by '\n'. `text` has
 * room for rows * SSB_TEXT_ROW_BYTES. Returns the number of bytes; there is no terminating zero. Any thread
 * may call; the call takes about 400 KiB of stack. */
size_t ssb_format_tbl(const struct ssb_generator *generator, enum ssb_table table, uint64_t first_row,
                      uint64_t rows, char *text);

/* Writes TABLE.tbl into the folder `directory`, on `threads` threads (0: all available) with about 4 MB each.
 * The folder is created if it is missing, but not its parent. The rows go to TABLE.tbl.partial, which is
 * fsynced and renamed when it is complete; an existing TABLE.tbl is replaced. If the call fails or is
 * cancelled, it removes the partial file. Progress counts rows. */
NODISCARD enum status ssb_write_tbl(const struct ssb_generator *generator, enum ssb_table table,
                                    const char *directory, unsigned threads, struct progress *progress,
                                    struct error *error);

#endif
