/* infer_internal.h: what is known of columns (infer_column.c), of files (infer_file.c, infer_columnar.c), of keys
 * (infer_keys.c); the proposal is written by infer.c. */
#ifndef TESSERA_LOADER_INFER_INFER_INTERNAL_H
#define TESSERA_LOADER_INFER_INFER_INTERNAL_H

#include "loader/infer/infer.h"

#include "loader/columnar/columnar_file.h"
#include "storage/base/hash_table.h"

/* ---- Columns ---- */

#define DISTINCT_MAX 1000000u  /* values of a column that has duplicates, further ones are not counted */
#define UNIQUE_MAX   16000000u /* values of a column that has none */
#define SHOWN_BYTES  24u

/* Values of a column that wait to be counted: a table of millions is not in the cache, and a value is 50 ns of work. */
#define INFER_WAITING 16u

/* The kinds of values, each as a bit. A column has those that all of its values have. */
enum {
    KIND_INT = 1,
    KIND_DECIMAL = 2,
    KIND_FLOAT = 4, /* any number */
    KIND_DATE = 8,
    KIND_TIME = 16,
    KIND_BOOL = 32,
    KIND_ALL = 63
};

#define ZONED_TYPE "TIMESTAMP WITH TIME ZONE"

/* A number's digits. */
struct number_shape {
    bool number, point, exponent, zeros_in_front;
    uint32_t whole, scale;
};

/* Forms of numbers and times that options of a load read (infer_forms.c). */
#define INFER_TIME_FORMS   18u
#define INFER_NUMBER_FORMS 2u
struct infer_forms {
    struct time_format times[INFER_TIME_FORMS];
};
struct infer_number_form {
    bool dead; /* a value is none of this form */
    uint32_t whole, scale;
};

struct infer_column {
    char name[NAME_BYTES];
    struct text_reading reading;       /* how its values are written */
    bool unnamed;                      /* the header has no name for it, or no table can have it */
    char skipped[COLUMNAR_TYPE_BYTES]; /* of a columnar file: its type, if no table can have it */
    bool declared;                     /* the file says its type: one of `kinds` */
    uint32_t precision;                /* of a declared decimal */
    uint32_t kinds;
    uint64_t values, nulls;
    uint32_t whole, scale; /* the most digits before and after the point */
    uint32_t longest;      /* bytes */
    uint32_t time_forms;   /* those that all values have, as bits */
    struct infer_number_form number_forms[INFER_NUMBER_FORMS];
    bool points;               /* a value has one */
    struct number_shape plain; /* of the last value, without marks */
    bool zeros_in_front, nanoseconds, duplicates, uncounted;
    bool has_range;
    bool offsets, no_offsets;     /* some times have an offset from UTC, and some have none */
    int64_t least, greatest;      /* of INT, DATE and TIME; of doubles of columnar files their keys */
    char not_number[SHOWN_BYTES]; /* the first value that is none, if an earlier one is */
    struct hash_words distinct;
    uint64_t waiting[INFER_WAITING]; /* the last values' hashes, whose slots come into the cache meanwhile */
    uint64_t counted;                /* values that are in `distinct` or wait */

    bool key;
    const struct infer_table *references;
    uint64_t missing; /* values that are no keys of `references` */
    bool sure;        /* `references` is proposed, not only mentioned */
};

struct infer_table {
    const struct load_input *input;
    const struct columnar_format *format; /* NULL: text */
    uint64_t parts;                       /* of its columnar files */
    char name[NAME_BYTES];
    bool types_alone; /* values are not counted, and of columnar files not read, unless a type needs it */
    char delimiter;
    bool json;            /* its rows are objects */
    bool header, renamed; /* renamed: a column cannot have the name that the header gives it */
    uint64_t rows, faults;
    char fault[ERROR_TEXT_BYTES];
    uint32_t column_count;
    struct infer_column *columns;
};

/* Takes a field into account, until infer_column_finish not in `distinct`. `forms` are those that are looked for. */
NODISCARD enum status infer_column_add(struct infer_column *column, const struct infer_forms *forms,
                                       const struct text_field *field, struct error *error);

struct number_shape infer_number_shape(const struct text_field *field, const struct text_reading *reading);

/* Counts a value that is not NULL, by its text; the kinds stay. */
NODISCARD enum status infer_column_count(struct infer_column *column, const struct text_field *field,
                                         struct error *error);
/* The same of one that no text has. */
NODISCARD enum status infer_column_count_word(struct infer_column *column, uint64_t word,
                                              struct error *error);
/* Counts the values that wait; afterwards none is added. */
NODISCARD enum status infer_column_finish(struct infer_column *column, struct error *error);
void infer_column_widen(struct infer_column *column, int64_t value);

/* The type of a column, "DECIMAL(9,2)"; that of its form, if it has one. */
void infer_column_type(const struct infer_column *column, char type[32]);

NODISCARD enum status infer_forms_compile(struct infer_forms *forms, struct error *error);
void infer_forms_add(struct infer_column *column, const struct infer_forms *forms,
                     const struct text_field *field);

/* The option by which a load reads all values of a column that is text without it, and the type that it gives. False: there
 * is none, or several read them. */
struct infer_form {
    const char *option, *value;
    char type[32];
};
bool infer_form_find(const struct infer_column *column, struct infer_form *form);

/* Whether a value is a number, a date or a time. */
bool infer_is_value(const struct text_field *field, const struct text_reading *reading);

/* Finds names, delimiter and header of the table's files, and reads them on `threads` threads (0: all). */
NODISCARD enum status infer_table_read(struct infer_table *table, const struct text_options *options,
                                       unsigned threads, struct error *error);
/* The same for the files of table->format. */
NODISCARD enum status infer_columnar_read(struct infer_table *table, const struct load_options *options,
                                          struct error *error);
void infer_table_free(struct infer_table *table);

/* Whether a file of text that begins so is JSON; the columns of such files, whose values are then read as those of others are.
 * infer_json_value takes account of a value that is a string: it is no number. */
bool infer_is_json(const char *path, const struct text_options *options, const char *text, size_t bytes);
NODISCARD enum status infer_json_names(struct infer_table *table, const struct text_options *options,
                                       struct error *error);
void infer_json_value(struct infer_column *column, const struct text_field *field, const char *row,
                      const char *end);

/* Finds the keys and references of all tables. */
void infer_keys_find(struct infer_table *tables, uint32_t count);

#endif
