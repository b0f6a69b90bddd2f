/*
 * tessera.h: Tessera as a library: opens a database, runs SQL, reads the answers, and loads star schemas.
 *
 *     struct tessera_error error;
 *     struct tessera_database *database;
 *     struct tessera_statement *statement;
 *     struct tessera_result *result;
 *     if (tessera_open("shop.db", NULL, 0, &database, &error) ||
 *         tessera_prepare(database, "select ...", &statement, &error) ||
 *         tessera_run(statement, &result, &error))
 *         puts(error.text);
 *
 * The header is C11 and also compiles as C++. Handles are opaque. Each call that can fail returns a
 * tessera_status (TESSERA_OK is 0) and fills the caller's error with a sentence. The library never exits and
 * never prints. Any number of threads may use an open database at once, each with statements of its own: a statement, and
 * a result, is used by one thread at a time, but for tessera_cancel. Runs of several threads share the threads of the CPU
 * in turn, a piece of a scan each, and the memory that tessera_options allows. tessera_close comes after all of them. The
 * caller frees each handle with the call
 * that is named where it is made; freeing NULL is legal. docs/library.md says how to build with the library.
 */
#ifndef TESSERA_H
#define TESSERA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises when a call changes; tessera_version gives the number with which the library was built. It is the
 * first number of every version: of the program, the shared library and the packages. */
#define TESSERA_API_VERSION 2
int tessera_version(void);

enum tessera_status {
    TESSERA_OK = 0,
    TESSERA_CHECK_FAILED = 1, /* a checksum does not match */
    TESSERA_BAD_INPUT = 2,    /* a wrong statement, file or row */
    TESSERA_MACHINE = 3,      /* out of memory, disk full */
    TESSERA_NOT_DURABLE = 4,  /* a load was made, but may not survive a power cut; do not repeat it */
    TESSERA_INTERRUPTED = 130 /* tessera_interrupt */
};

/* The text says what failed, on what, and what to do next. */
struct tessera_error {
    enum tessera_status status;
    char text[1024];
};

struct tessera_database;
struct tessera_statement;
struct tessera_result;

/* Opens the database in the directory `path`, for queries on `device` and `threads` threads of the CPU (0:
 * all). `device` is "cpu"; "cuda" or "cuda:1", which fail with TESSERA_MACHINE if that GPU cannot be used;
 * "cuda:0,1" or "cuda:all", several GPUs that share each statement's rows; or "auto" or NULL, which is the first
 * GPU if it can be used, else the CPU. Without a path (NULL or "") there is no database, and statements ask files
 * alone: FROM 'trips.parquet'. Where nothing is at the path, in a directory that exists, or an empty directory,
 * CREATE TABLE makes the database, and other statements are refused before. The database stays in the state of this
 * moment, whatever is loaded later, until a statement changes tables through this handle (tessera_run). Free it with
 * tessera_close, after everything that was made from it. */
enum tessera_status tessera_open(const char *path, const char *device, unsigned threads,
                                 struct tessera_database **database, struct tessera_error *error);

/* What else a database is opened with. Zero-initialise it and set `size` to sizeof(struct tessera_options): so a program
 * that was compiled with fewer options gets what is usual for the others. */
struct tessera_options {
    size_t size;
    const char *device; /* as above */
    unsigned threads;

    /* The most bytes of a GPU's memory that columns and statements take: "4G", "512M", "0"; NULL: what is free, less a reserve.
     * Columns that do not fit are streamed from the host's memory in every run; statements may have 4 GiB however little
     * it is. */
    const char *gpu_memory;

    /* The most bytes of the host's memory that answers, joins, groups and sorts of a statement take, written in the same way;
     * NULL: half of what is available when the database is opened. A statement that needs more fails with
     * TESSERA_MACHINE. An answer that tessera_run has given counts no more. */
    const char *memory;

    /* A folder for rows that are more than that; NULL: the environment's TMPDIR, or else /tmp. */
    const char *spill;

    /* The most bytes of statements that are kept with their plans after tessera_finalize, so that the same text is not
     * planned again; "0": none; NULL: a 32nd of `memory`, and at least "64M". */
    const char *plan_cache;

    /* Which kernel of a GPU answers: "auto" or NULL: the statement's own one if it is compiled, and meanwhile, while a
     * thread compiles it, the general one, which is compiled ahead; "specialised": the own one, for which NVRTC is
     * waited; "general": that one wherever it can (docs/general-kernel.md). */
    const char *kernel;
};
enum tessera_status tessera_open_with(const char *path, const struct tessera_options *options,
                                      struct tessera_database **database, struct tessera_error *error);

void tessera_close(struct tessera_database *database);

/* Whether bitmap indexes (docs/bitmaps.md) decide conditions of statements that are prepared after this call: AUTO, as it
 * is at first, where one is expected to be faster than reading the column; ON wherever one can, and a damaged one is an
 * error; OFF nowhere. Answers are the same. */
enum tessera_index_use { TESSERA_INDEX_AUTO, TESSERA_INDEX_ON, TESSERA_INDEX_OFF };
void tessera_use_indexes(struct tessera_database *database, enum tessera_index_use use);

/* As the statement SET TimeZone = '...' does: the zone, as "Europe/Berlin", whose clock shows timestamps with time zone in statements that are prepared after this
 * call: in their texts, and where a statement takes a time apart. At first it is UTC. */
enum tessera_status tessera_use_time_zone(struct tessera_database *database, const char *zone,
                                          struct tessera_error *error);

/* Parses one zero-terminated statement (docs/sql.md); text after its semicolon is an error. Free it with
 * tessera_finalize. */
enum tessera_status tessera_prepare(struct tessera_database *database, const char *sql,
                                    struct tessera_statement **statement, struct tessera_error *error);
void tessera_finalize(struct tessera_statement *statement);

/* 1 if tessera_run writes a file or changes tables or the time zone, and its result is the number of rows; 0 if it answers a question. */
int tessera_changes(const struct tessera_statement *statement);

/* Parameters (?) count from 0; all are NULL at first. Texts are copied. A decimal is value / 10^scale with
 * scale 0..18. A date is text, 'YYYY-MM-DD'. */
uint32_t tessera_parameters(const struct tessera_statement *statement);
enum tessera_status tessera_bind_null(struct tessera_statement *statement, uint32_t index,
                                      struct tessera_error *error);
enum tessera_status tessera_bind_int64(struct tessera_statement *statement, uint32_t index, int64_t value,
                                       struct tessera_error *error);
enum tessera_status tessera_bind_decimal(struct tessera_statement *statement, uint32_t index, int64_t value,
                                         unsigned scale, struct tessera_error *error);
enum tessera_status tessera_bind_double(struct tessera_statement *statement, uint32_t index, double value,
                                        struct tessera_error *error);
enum tessera_status tessera_bind_text(struct tessera_statement *statement, uint32_t index, const char *text,
                                      size_t length, struct tessera_error *error);

/* Runs the statement, any number of times. The result stays valid until tessera_result_free, also when the
 * statement runs again or is finalized, but not beyond tessera_close.
 *
 * COPY writes a file; INSERT, DELETE and CREATE TABLE change tables, in one commit. The result is then one row with the
 * number of rows that were written, inserted or deleted. A change begins with the newest state of the database, whoever
 * made it. Statements that are prepared after it see it; statements and results that are there already keep the state that
 * they have. Several threads and programs may change tables: they take turns. TESSERA_NOT_DURABLE: the change was made,
 * without a result. */
enum tessera_status tessera_run(struct tessera_statement *statement, struct tessera_result **result,
                                struct tessera_error *error);
void tessera_result_free(struct tessera_result *result);

enum tessera_type {
    TESSERA_INTEGER,   /* int64; of a decimal (tessera_column_is_decimal) value / 10^scale */
    TESSERA_DATE,      /* days since 1970-01-01 */
    TESSERA_TIMESTAMP, /* microseconds since 1970-01-01 00:00:00; in UTC if it is with time zone */
    TESSERA_BOOLEAN,   /* 0 or 1 */
    TESSERA_STRING,
    TESSERA_DOUBLE
};

uint64_t tessera_rows(const struct tessera_result *result);
uint32_t tessera_columns(const struct tessera_result *result);
/* Columns and rows count from 0 and must be below these numbers. */
const char *tessera_column_name(const struct tessera_result *result, uint32_t column);
enum tessera_type tessera_column_type(const struct tessera_result *result, uint32_t column);
unsigned tessera_column_scale(const struct tessera_result *result, uint32_t column);
/* Whether a TESSERA_INTEGER is a decimal. Its scale may be 0: DECIMAL(10,0) is no whole number, its quotients are doubles. */
int tessera_column_is_decimal(const struct tessera_result *result, uint32_t column);

/* Whether a TESSERA_TIMESTAMP is with time zone: an instant. */
int tessera_column_has_time_zone(const struct tessera_result *result, uint32_t column);

/* Read one value: whether it is NULL; as an int64 (a double is truncated); as a double (decimals are
 * divided); or as text: a string itself, any other value as SQL writes it. The text is not zero-terminated
 * and is valid until the next call for this result. A NULL gives 0, 0.0 or NULL. */
int tessera_is_null(const struct tessera_result *result, uint32_t column, uint64_t row);
int64_t tessera_int64(const struct tessera_result *result, uint32_t column, uint64_t row);
double tessera_double(const struct tessera_result *result, uint32_t column, uint64_t row);
const char *tessera_text(struct tessera_result *result, uint32_t column, uint64_t row, uint32_t *length);

/* A whole column: one int64 a row (a double's bits, a string's code). NULL for strings that the statement computed row by
 * row: they have no codes. *nulls gets one byte a row, 1 for NULL,
 * or NULL if no value is NULL. */
const int64_t *tessera_column_values(const struct tessera_result *result, uint32_t column,
                                     const uint8_t **nulls);

/* ---- Arrow ---- The structs of Arrow's C data and stream interfaces
 * (https://arrow.apache.org/docs/format/CDataInterface.html), by which pyarrow, DuckDB, Polars and others
 * exchange data without text in between. They are defined as in the specification; a program may include its
 * own definition first. A stream is released by its release(). */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* Exports the result as a stream of batches of 65,536 rows: int64, decimal128(19, scale), date32,
 * timestamp[us] (of UTC if it is with time zone), bool, large_utf8, float64. The stream takes the result over: it must not be used or freed
 * after this, even after a failure. The stream may outlive the database. */
enum tessera_status tessera_result_arrow(struct tessera_result *result, struct ArrowArrayStream *stream,
                                         struct tessera_error *error);

/* Exports all rows of a table that are not deleted in their order, decoded batch by batch. A foreign key has the value of the key
 * that it references. Release the stream before tessera_close. */
enum tessera_status tessera_table_arrow(struct tessera_database *database, const char *table,
                                        struct ArrowArrayStream *stream, struct tessera_error *error);

/* What happens to an existing table: NEW refuses the load, REPLACE replaces the table, and APPEND appends the
 * rows (then all tables must exist and have the columns of the script). */
enum tessera_load_mode { TESSERA_LOAD_NEW, TESSERA_LOAD_REPLACE, TESSERA_LOAD_APPEND };

/* Loads files into the database at `path`, like `tessera load` (docs/loading.md): tables[i] from files[i], which is a file, a
 * pattern as 'sales-*.csv', or a folder; a table that stands several times gets all of its files, in their order.
 * The database is created if it does not exist. `schema` is the text of the CREATE TABLE script; TESSERA_LOAD_APPEND needs
 * none (NULL), as the database knows its tables, but not their CHECK and UNIQUE. The load is all or nothing. */
enum tessera_status tessera_load(const char *path, const char *schema, const char *const *tables,
                                 const char *const *files, uint32_t count, enum tessera_load_mode mode,
                                 uint64_t *rows, struct tessera_error *error);

/* Loads Arrow streams: tables[i] from streams[i], each column by its name. It accepts whole numbers,
 * decimal128, dates, timestamps (of whole microseconds), bool and strings, also dictionary-encoded and as
 * views, and floating-point numbers for columns of DOUBLE. A string is converted to any type, like a field of
 * a file. All streams are released, also after a failure. */
enum tessera_status tessera_load_arrow(const char *path, const char *schema, const char *const *tables,
                                       struct ArrowArrayStream *const *streams, uint32_t count,
                                       enum tessera_load_mode mode, uint64_t *rows,
                                       struct tessera_error *error);

/* One column of rows in memory. It has `numbers` (for a decimal, whole units; for DOUBLE, whole numbers) or, if
 * that is NULL, `texts` (zero-terminated, written like fields of files; a NULL pointer is NULL). `nulls` has 1
 * for each number that is NULL, or is NULL. */
struct tessera_values {
    const char *name;
    const int64_t *numbers;
    const char *const *texts;
    const uint8_t *nulls;
};

/* Loads `count` rows of one table from memory. The script's other tables must be in the database. */
enum tessera_status tessera_load_rows(const char *path, const char *schema, const char *table,
                                      const struct tessera_values *columns, uint32_t column_count,
                                      uint64_t count, enum tessera_load_mode mode,
                                      struct tessera_error *error);

/* Stops the statement's run, if one is going on, which returns TESSERA_INTERRUPTED; other statements go on. Any thread or
 * signal handler may call it, as long as the statement exists. */
void tessera_cancel(struct tessera_statement *statement);

/* Stops all running calls in this process, which return TESSERA_INTERRUPTED. Any thread or signal handler may
 * call it. It takes effect until tessera_resume. */
void tessera_interrupt(void);
void tessera_resume(void);

#ifdef __cplusplus
}
#endif

#endif
