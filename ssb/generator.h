/*
 * generator.h: the rows of the Star Schema Benchmark, any range of them, byte-identical to ssb-dbgen.
 *
 * Reference: eyalroz/ssb-dbgen ae1e254, and the older variant that Crystal ships; docs/ssb.md says what they
 * share and where they differ. Every row can be generated on its own (jump-ahead in each random stream), so
 * threads share nothing.
 */
#ifndef TESSERA_SSB_GENERATOR_H
#define TESSERA_SSB_GENERATOR_H

#include "storage/parallel.h"
#include "storage/status.h"

#include <stdbool.h>
#include <stdint.h>

enum ssb_mode { SSB_MODE_SINGLE, SSB_MODE_ALL }; /* one stream set a table, or shared by all tables */
enum ssb_variant { SSB_VARIANT_EYALROZ, SSB_VARIANT_CRYSTAL };
enum ssb_dates {
    SSB_DATES_FULL,
    SSB_DATES_CLASSIC
}; /* below SF 1: every date, or cut as ssb-dbgen cuts it */

struct ssb_options {
    double scale_factor; /* > 0 */
    enum ssb_mode mode;
    enum ssb_variant variant;
    enum ssb_dates dates;
};

enum ssb_table { SSB_PART, SSB_SUPPLIER, SSB_CUSTOMER, SSB_DATE, SSB_LINEORDER, SSB_TABLES };

#define SSB_COLUMNS_MAX  17
#define SSB_STRING_BYTES 32 /* longest string column plus its zero: 25-character types fit */

/* A column of a table: its name ("lo_orderkey"), whether its text is a number, and, for a string drawn from a
 * list, the list (so that loading straight into columns need not look at text). */
struct ssb_column {
    const char *name;
    bool number;
    bool wide;              /* the number needs int64 at some scale factor (lo_orderkey) */
    const char *references; /* "customer" for lo_custkey, ...; NULL */
};
struct ssb_table_info {
    const char *name; /* "lineorder" */
    uint32_t column_count;
    struct ssb_column columns[SSB_COLUMNS_MAX]; /* the first is the primary key, except in lineorder */
};
const struct ssb_table_info *ssb_table_info(enum ssb_table table);

struct ssb_generator;

/* Scale factors that are not numbers, not positive or beyond what 64-bit keys hold: STATUS_BAD_INPUT. Counts
 * lines per block of orders once (all threads), so that lineorder can be cut at any row; takes a few bytes
 * per thousand orders. */
NODISCARD enum status ssb_generator_create(const struct ssb_options *options, unsigned threads,
                                           struct ssb_generator **generator, struct error *error);
void ssb_generator_destroy(struct ssb_generator *generator);

uint64_t ssb_rows(const struct ssb_generator *generator, enum ssb_table table);

/* Words that a lineorder string column draws from, by code: order priorities and ship modes, sorted by bytes.
 */
uint32_t ssb_lineorder_words(const struct ssb_generator *generator, uint32_t column,
                             const char *const **words);

/* `rows` rows of lineorder from `first_row` (0-based) into one array per column: int32_t, but int64_t for
 * lo_orderkey; dates as the yyyymmdd number; string columns as codes into ssb_lineorder_words. columns[c] may
 * be NULL: that column is not generated (and what only it needs is not computed). Any thread. */
void ssb_generate_lineorder(const struct ssb_generator *generator, uint64_t first_row, uint64_t rows,
                            void *const columns[SSB_COLUMNS_MAX]);

/* One row of a dimension: numbers[c] for number columns, strings[c] (zero-terminated) for the others. */
struct ssb_row {
    int64_t numbers[SSB_COLUMNS_MAX];
    char strings[SSB_COLUMNS_MAX][SSB_STRING_BYTES];
};
void ssb_generate_row(const struct ssb_generator *generator, enum ssb_table table, uint64_t row,
                      struct ssb_row *out);

/* Writes TABLE.tbl into the folder `directory` (created if missing), in parallel and in bounded memory, to a
 * temporary name that is renamed when complete; an existing file is replaced. Progress in rows. */
NODISCARD enum status ssb_write_tbl(const struct ssb_generator *generator, enum ssb_table table,
                                    const char *directory, unsigned threads, struct progress *progress,
                                    struct error *error);

#endif
