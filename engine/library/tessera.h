/*
 * tessera.h: Tessera as a library: open a database, ask SQL of it, read the answer; load a star schema.
 *
 *     struct tessera_error error;
 *     struct tessera_database *database;
 *     struct tessera_statement *statement;
 *     struct tessera_result *result;
 *     if (tessera_open("shop.db", NULL, 0, &database, &error) || tessera_prepare(database, "select ...", &statement, &error) ||
 *         tessera_run(statement, &result, &error))
 *         puts(error.text);
 *
 * C11, and C++ as it is. Handles are opaque; each call that can fail returns a tessera_status, TESSERA_OK being 0, and
 * fills the caller's error with a sentence. The library never exits and never prints. A database and what was made of
 * it belong to one thread at a time; different databases, also of one directory, are independent. What a create
 * call gives, the caller frees with the call named there; NULL may be freed. docs/library.md says how
 * to build with it.
 */
#ifndef TESSERA_H
#define TESSERA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises when a call changes; tessera_version says what the library was built as. The first number of every version that
 * is told: of the program, the shared library and the packages. */
#define TESSERA_API_VERSION 2
int tessera_version(void);

enum tessera_status {
    TESSERA_OK = 0,
    TESSERA_CHECK_FAILED = 1, /* a checksum that does not match */
    TESSERA_BAD_INPUT = 2,    /* a statement, file or row that is not what it should be */
    TESSERA_MACHINE = 3,      /* out of memory, disk full */
    TESSERA_INTERRUPTED = 130 /* tessera_interrupt */
};

/* What failed, on what, what to do next. */
struct tessera_error {
    enum tessera_status status;
    char text[1024];
};

struct tessera_database;
struct tessera_statement;
struct tessera_result;

/* Opens the database in directory `path` for queries on `device` ("cpu"; "cuda" or "cuda:1", which fail with
 * TESSERA_MACHINE where that GPU cannot be used; "auto" or NULL: the first GPU if it can be used, else the CPU) and
 * `threads` threads of the CPU (0: all). It sees the state of this moment, whatever is loaded later. tessera_close it,
 * after all that was made of it. */
enum tessera_status tessera_open(const char *path, const char *device, unsigned threads,
                                 struct tessera_database **database, struct tessera_error *error);
void tessera_close(struct tessera_database *database);

/* Parses one statement (docs/sql.md), zero-terminated; what follows its semicolon is an error. tessera_finalize it. */
enum tessera_status tessera_prepare(struct tessera_database *database, const char *sql,
                                    struct tessera_statement **statement, struct tessera_error *error);
void tessera_finalize(struct tessera_statement *statement);

/* Parameters (?), counted from 0; NULL at first. Texts are copied. A decimal is value / 10^scale, scale 0..18; a
 * date is written 'YYYY-MM-DD', as text. */
uint32_t tessera_parameters(const struct tessera_statement *statement);
enum tessera_status tessera_bind_null(struct tessera_statement *statement, uint32_t index,
                                      struct tessera_error *error);
enum tessera_status tessera_bind_int64(struct tessera_statement *statement, uint32_t index, int64_t value,
                                       struct tessera_error *error);
enum tessera_status tessera_bind_decimal(struct tessera_statement *statement, uint32_t index, int64_t value,
                                         unsigned scale, struct tessera_error *error);
enum tessera_status tessera_bind_text(struct tessera_statement *statement, uint32_t index, const char *text,
                                      size_t length, struct tessera_error *error);

/* Answers the statement, any number of times. The result stays valid when the statement is run again or finalized,
 * until tessera_result_free, but not beyond tessera_close. */
enum tessera_status tessera_run(struct tessera_statement *statement, struct tessera_result **result,
                                struct tessera_error *error);
void tessera_result_free(struct tessera_result *result);

enum tessera_type {
    TESSERA_INTEGER,   /* int64; a decimal if its scale is not 0: value / 10^scale */
    TESSERA_DATE,      /* days since 1970-01-01 */
    TESSERA_TIMESTAMP, /* microseconds since 1970-01-01 00:00:00 */
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

/* One value: whether it is NULL; as an int64 (of a double: cut); as a double (decimals divided); as bytes, not
 * zero-terminated, good until the next call for this result: a string itself, anything else as SQL writes it. Of
 * NULL: 0, 0.0, NULL. */
int tessera_is_null(const struct tessera_result *result, uint32_t column, uint64_t row);
int64_t tessera_int64(const struct tessera_result *result, uint32_t column, uint64_t row);
double tessera_double(const struct tessera_result *result, uint32_t column, uint64_t row);
const char *tessera_text(struct tessera_result *result, uint32_t column, uint64_t row, uint32_t *length);

/* A whole column as it lies there, one int64 a row (a double's bits; a string's code) and its NULLs, a byte each, or
 * NULL if none is. */
const int64_t *tessera_column_values(const struct tessera_result *result, uint32_t column,
                                     const uint8_t **nulls);

/* ---- Arrow ----
 * The structs of Arrow's C data and stream interfaces (https://arrow.apache.org/docs/format/CDataInterface.html), which
 * pyarrow, DuckDB, Polars and others give and take without text in between: as the specification has them, so that a
 * program may include its own definition first. A stream is released by calling its release(). */
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

/* The result as a stream of batches of 65,536 rows: int64, decimal128(19, scale), date32, timestamp[us], bool,
 * large_utf8, float64. The result is taken over: it must not be used or freed any more, whatever is returned. The stream
 * may outlive the database. */
enum tessera_status tessera_result_arrow(struct tessera_result *result, struct ArrowArrayStream *stream,
                                         struct tessera_error *error);

/* All rows of a table in their order, decoded batch by batch; a foreign key has the value of the key that it references.
 * Released before tessera_close. */
enum tessera_status tessera_table_arrow(struct tessera_database *database, const char *table,
                                        struct ArrowArrayStream *stream, struct tessera_error *error);

/* What becomes of a table that exists: the load is refused, it is replaced, or the rows are added behind its own (then
 * all tables must exist, with the columns of the script). */
enum tessera_load_mode { TESSERA_LOAD_NEW, TESSERA_LOAD_REPLACE, TESSERA_LOAD_APPEND };

/* Loads files into the database at `path`, which is made if it does not exist, as `tessera load` does
 * (docs/loading.md): tables[i] from files[i]; `schema` is the text of the CREATE TABLE script. All of it or nothing. */
enum tessera_status tessera_load(const char *path, const char *schema, const char *const *tables,
                                 const char *const *files, uint32_t count, enum tessera_load_mode mode,
                                 uint64_t *rows, struct tessera_error *error);

/* The same from Arrow streams, tables[i] from streams[i], each column by its name: whole numbers, decimal128, dates,
 * timestamps (whole microseconds), bool, strings (also dictionary-encoded and views; a string can become any type, as a
 * field of a file does). Floating-point numbers are refused: cast them to decimals. All streams are released, also on
 * failure. */
enum tessera_status tessera_load_arrow(const char *path, const char *schema, const char *const *tables,
                                       struct ArrowArrayStream *const *streams, uint32_t count,
                                       enum tessera_load_mode mode, uint64_t *rows,
                                       struct tessera_error *error);

/* One column of rows in memory: `numbers` (a decimal's in units of one; NULL: it has texts) or `texts` (zero-terminated, as
 * fields of files are written; NULL pointers are NULL). nulls: 1 for each number that is NULL, or NULL. */
struct tessera_values {
    const char *name;
    const int64_t *numbers;
    const char *const *texts;
    const uint8_t *nulls;
};

/* Loads `count` rows of one table from memory; other tables that the script has must be in the database. */
enum tessera_status tessera_load_rows(const char *path, const char *schema, const char *table,
                                      const struct tessera_values *columns, uint32_t column_count,
                                      uint64_t count, enum tessera_load_mode mode,
                                      struct tessera_error *error);

/* Asks whatever runs in this process to stop, from any thread or signal handler: it returns
 * TESSERA_INTERRUPTED. Takes effect until tessera_resume. */
void tessera_interrupt(void);
void tessera_resume(void);

#ifdef __cplusplus
}
#endif

#endif
