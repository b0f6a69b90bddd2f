/*
 * column.h: a column: its type, its dictionary, its statistics, its stored encodings, its table, and the
 * column as it is when its files are open.
 *
 * All of it is plain data, filled from the catalogue. The functions here look things up in it and touch no
 * file.
 */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_H
#define TESSERA_STORAGE_COLUMN_COLUMN_H

#include "storage/base/doubles/double_bits.h"
#include "storage/base/status.h"
#include "storage/codec/codec.h"
#include "storage/column/column_index.h"
#include "storage/column/levels.h"

#include <stdbool.h>
#include <stdint.h>

#define NAME_BYTES 64 /* names of tables and columns, with the terminating zero */

/* 2^40: 65536 segments, 180 times lineorder at SF 1000. Every product of rows and bytes fits 64 bits. */
#define TABLE_ROWS_MAX (1ull << 40)

/* A name has 1 .. 63 bytes of UTF-8 without control characters, and no blank at its ends. */
bool name_valid(const char *name);
#define NAME_RULE \
    "up to 63 bytes of UTF-8 without control characters, and no blank at the ends" /* for complaints */

/* The name as part of a file's name: bytes of ASCII other than A-Z a-z 0-9 _ # $ - and blanks are %XX, so it has no dot
 * and no slash. name_of_file is the way back; false if no name gives that file. */
#define NAME_FILE_BYTES (3 * NAME_BYTES)
void name_to_file(const char *name, char file[NAME_FILE_BYTES]);
bool name_of_file(const char *file, size_t length, char name[NAME_BYTES]);

/* ---- Schema ---- */

enum column_type {
    TYPE_INT32,
    TYPE_INT64,
    TYPE_DECIMAL,
    TYPE_DATE,
    TYPE_TIMESTAMP,
    TYPE_BOOL,
    TYPE_STRING,
    TYPE_DOUBLE
};

/* The stored value of a row is
 *
 *     foreign key       the position of the referenced row (levels.h), int32, for any type of key
 *     TYPE_STRING       the string's code in the column's sorted dictionary, int32
 *     TYPE_DECIMAL      the scaled integer, int32, or int64 if precision > 9
 *     TYPE_DATE         days since 1970-01-01, int32
 *     TYPE_TIMESTAMP    microseconds since 1970-01-01 00:00:00, int64
 *     TYPE_BOOL         0 or 1, int32
 *     TYPE_DOUBLE       the number's key, which has the same order (storage/base/double_key.h), int64
 */
/* Columns by their numbers, in the order of a key. */
#define KEY_COLUMNS_MAX 16u
struct key_columns {
    uint32_t count; /* 0: there is no such key */
    uint16_t columns[KEY_COLUMNS_MAX];
};

struct column_schema {
    char name[NAME_BYTES];
    enum column_type type;
    uint8_t precision, scale; /* TYPE_DECIMAL */
    bool zoned; /* TYPE_TIMESTAMP: with time zone, so an instant in UTC, which statements show by a clock */
    bool nullable;
    bool primary_key;
    char references_table[NAME_BYTES];  /* "" if the column is not a foreign key */
    char references_column[NAME_BYTES]; /* the referenced table's primary key column */

    /* A reference that is no column of the user's: the values of the columns `of` of this table are those of the columns
     * `key` of the referenced one, which may be this one. Such columns come after all others, and statements do not see
     * them. references_column is the first of the key. */
    struct key_columns of, key;

    /* No column of the user's either, and the last one: a boolean that is false in rows that were deleted. */
    bool live;
};

/* Writes "int32", "decimal(12,2)", ... to `text` of at least 32 bytes. */
const char *column_type_text(const struct column_schema *schema, char *text);

/* The bytes of the column's stored values: 4 or 8. */
uint32_t column_schema_value_bytes(const struct column_schema *schema);

/* ---- Dictionaries ---- */

struct stored_dictionary;

/* Sorted by bytes (memcmp order), without duplicates; codes 0 .. count-1. Strings are not zero-terminated. */
struct dictionary {
    uint32_t count;
    const uint64_t *starts; /* count + 1 byte offsets into bytes */
    const char *bytes;
};

/* Allocates a dictionary in one block of memory; the caller fills in count + 1 starts, of which the first is 0, and
 * `bytes` of text, and frees it. NULL if there is no memory. */
struct dictionary *dictionary_new(uint32_t count, uint64_t bytes, uint64_t **starts, char **text);

/* dictionary_find gives the code of a string, or -1. dictionary_lower_bound gives the number of strings that
 * are less than the string. dictionary_string gives the string of a code; for a code beyond the dictionary,
 * which only a damaged file has, it is empty. */
int64_t dictionary_find(const struct dictionary *dictionary, const char *string, uint32_t length);
uint32_t dictionary_lower_bound(const struct dictionary *dictionary, const char *string, uint32_t length);
/* The first code whose string is not greater than the string before it; -1 if the dictionary is sorted. */
int64_t dictionary_unsorted(const struct dictionary *dictionary);
static inline const char *dictionary_string(const struct dictionary *dictionary, int64_t code,
                                            uint32_t *length)
{
    *length = 0;
    if (code < 0 || code >= (int64_t)dictionary->count)
        return "";
    *length = (uint32_t)(dictionary->starts[code + 1] - dictionary->starts[code]);
    return dictionary->bytes + dictionary->starts[code];
}

/* ---- Rows ---- */

/* Row `row` of int32 or int64 values. */
static inline int64_t row_value(const void *values, uint32_t value_bytes, uint64_t row)
{
    return value_bytes == 4 ? ((const int32_t *)values)[row] : ((const int64_t *)values)[row];
}

/* A bit a row, in row order. */
static inline bool row_valid(const uint64_t *validity, uint64_t row)
{
    return validity[row / 64] >> row % 64 & 1;
}

/* A bit a row of a tile, as column files have them (struct segment_data). */
static inline bool tile_row_valid(const uint32_t *validity, uint32_t row)
{
    return validity[row % TILE_LANES] >> row / TILE_LANES & 1;
}

/* Transposes 32 words of 32 bits, from row order to tile order or back: bit l of word j becomes bit j of word l. It
 * takes five rounds of swapping halves. */
static inline void tile_words_transpose(uint32_t words[TILE_LANES])
{
    uint32_t mask = 0x0000ffffu;
    for (uint32_t step = 16; step; step >>= 1, mask ^= mask << step)
        for (uint32_t i = 0; i < TILE_LANES; i = (i + step + 1) & ~step) {
            const uint32_t swap = (words[i] >> step ^ words[i + step]) & mask;
            words[i] ^= swap << step;
            words[i + step] ^= swap;
        }
}

/* ---- Columns and tables ---- */

/* min, max and distinct are over the stored values (codes, positions, scaled integers) of rows that are not
 * NULL; min > max if there are none. */
struct column_statistics {
    int64_t min, max;
    uint64_t nulls;
    uint64_t runs;           /* maximal runs of equal values; each segment is counted separately */
    uint64_t distinct;       /* exact up to a limit, else an estimate (docs/format.md) */
    struct double_bits bits; /* of TYPE_DOUBLE: of all values; else 0 */
};

/* A file of consecutive segments of a column, which have numbers from 0 in it (column_span.h). */
struct column_span {
    uint64_t generation;   /* the change that wrote it; part of the file's name */
    uint64_t bytes;        /* of its chunks; 0 of a side file */
    uint32_t first, count; /* its segments of the table */
};

struct column_spans {
    uint32_t count;
    struct column_span *list;
};

/* A column's bitmap index, as the catalogue knows it. An append adds a file, with the bins of those before. */
struct column_index {
    struct index_wish wish;
    uint32_t bin_count;    /* 0 if all rows are NULL or there is none */
    const int64_t *bounds; /* bin_count of them, ascending; the first is the column's minimum */
    bool exact;            /* each bin has one value: its bound */
    uint64_t words;        /* of all vectors: literals and fills, or flat words */
    uint64_t fills;        /* those that are fills */
    uint64_t bytes;        /* of all parts of the files */
    struct column_spans files;
};

/* One stored encoding of a column, as the catalogue knows it. */
struct encoding_info {
    enum codec_id codec;
    uint64_t bytes; /* of all chunks with headers and directories: what a kernel may read */
    struct column_spans files;
};

struct column_data; /* column_data.h */

struct column {
    struct column_schema schema;
    uint32_t value_bytes;            /* 4 or 8 */
    bool untyped;                    /* of an answer: no statement gave it a type, all its values are NULL */
    const struct table *table;       /* the column's table */
    const struct column *references; /* the referenced primary key column, or NULL */
    /* Of a TYPE_STRING that is not a foreign key, where its strings are; else both are NULL (column_dictionary). */
    const struct dictionary *memory_dictionary;  /* of rows in memory */
    struct stored_dictionary *stored_dictionary; /* of an open database */
    bool dictionary_blocks; /* it is compressed on disk (dictionary/dictionary_blocks.h) */
    struct column_statistics statistics;
    enum codec_id own;    /* the encoding that the catalogue calls the column's own */
    const char *own_name; /* the chooser or codec that the load asked for */
    uint32_t encoding_count;
    const struct encoding_info *encodings;
    struct column_data *memory;             /* its values, of a table of rows in memory; else NULL */
    const struct column_index *index;       /* the bitmap index, or NULL */
    struct column_spans sides;              /* its side files */
    uint64_t strings_generation;            /* of the side file that has its dictionary */
    enum codec_id chosen[CHOOSER_AUTO + 1]; /* by each chooser that has chosen; else CODEC_NONE */
};

/* What a table is that has a part of a load's rows, and not all of them; the others are in databases of their own. */
struct table_part {
    uint32_t number, of; /* 1 .. of; of 0: the table has all rows */
    uint64_t first;      /* the place of its first row among all */
    uint64_t whole_rows; /* of all parts */
    uint64_t origin;     /* the same number in all parts of one load */
};
#define TABLE_PARTS_MAX (1u << 20)

/* How rows are ordered within each segment: next to those that are alike in some levels of the rows that they reference, or in
 * leading bits of values (storage/database/clustering/). */
#define CLUSTER_TERMS_MAX 8u
struct cluster_term {
    uint32_t column;
    uint32_t number; /* of levels, if it is a foreign key of a table that has them; else of bits */
};
struct clustering {
    uint32_t count; /* 0: rows are in the order in which they came */
    struct cluster_term terms[CLUSTER_TERMS_MAX];
};

struct table {
    char name[NAME_BYTES];
    uint64_t rows;
    struct table_part part;
    uint32_t segment_count;
    const uint32_t *segment_rows; /* each 1 .. SEGMENT_ROWS */
    uint32_t column_count;
    const struct column *columns;
    struct key_columns key;            /* the primary key, if it has several columns */
    const struct table_levels *levels; /* NULL: a row's position is its number */
    struct clustering clustering;
};

/* The rows of all parts. */
static inline uint64_t table_whole_rows(const struct table *table)
{
    return table->part.of ? table->part.whole_rows : table->rows;
}

/* Positions 0 .. table_positions - 1 may have a row; foreign keys have these values. */
static inline uint64_t table_positions(const struct table *table)
{
    return table->levels ? table->levels->positions : table->rows;
}

/* The number of columns that are the user's. */
uint32_t table_visible_columns(const struct table *table);
/* The column that tells which rows were deleted; NULL: none. */
const struct column *table_live(const struct table *table);

/* ---- An opened column ---- */

/* Between which values the minima and the maxima of some tiles are: they decide most tests for all these tiles at once. */
struct tile_bounds {
    int64_t min_low, min_high, max_low, max_high;
};
#define BOUNDS_TILES 64u

/* One segment of a column opened in one encoding. */
struct segment_data {
    struct chunk_view chunk;

    /* NULL: no row is NULL. Else 32 words a tile: bit j of word l is set if row 32j+l is not NULL. */
    const uint32_t *validity;

    /* The min and the max of each tile, over rows that are not NULL; min > max if there are none. */
    const int64_t *tile_min_max;

    /* Of tile_min_max: of all tiles, and then of each BOUNDS_TILES; or NULL: unknown. */
    const struct tile_bounds *bounds;
};

struct column_data {
    const struct column *column;
    const struct codec *codec;
    uint32_t segment_count;
    const struct segment_data *segments;
    uint64_t bytes; /* of all chunks */
    /* Of rows in the memory of a device: where their values are there, one after the other, and the words of their validity, or 0.
     * Chunks have no bytes then; a segment's validity only says that there is one. Else 0. */
    uint64_t resident, resident_validity;
    /* Set when every value was looked at: all positions have rows, and all codes are inside their dictionary. */
    _Atomic bool positions_checked;
};

/* True if the table's rows are in the memory of a device. */
static inline bool table_is_resident(const struct table *table)
{
    return table->column_count && table->columns[0].memory && table->columns[0].memory->resident;
}

/* The narrowest and the widest packed width of all chunks; both 0 if there is none. */
void column_data_widths(const struct column_data *data, uint32_t *low, uint32_t *high);

/* ---- For readers and writers of columns ---- */

/* True for a TYPE_STRING that is not a foreign key. */
bool column_has_dictionary(const struct column_schema *schema);

/* Gives the column's dictionary; NULL if it has none. The first call for a stored column reads its strings from its side
 * file, on `threads` threads (0: all); they stay until the database is closed. STATUS_CHECK_FAILED or STATUS_BAD_INPUT
 * for a damaged file. Thread-safe. */
NODISCARD enum status column_dictionary(const struct column *column, unsigned threads,
                                        const struct dictionary **dictionary, struct error *error);

/* The column's values as a codec takes them: with the bits of a position if the column is a key of a table with levels.
 * The bits to keep apart are those of the levels, and the rest's too if it has at most COLUMN_REST_BITS_FEW: a date, for
 * example, is then tested by its planes alone. */
#define COLUMN_REST_BITS_FEW 8u
struct codec_input column_codec_input(const struct column *column, const void *values, uint32_t rows);

/* The column's encoding in that codec, or NULL. */
const struct encoding_info *column_encoding(const struct column *column, enum codec_id codec);

/* Finds a column by its name. If it is missing: STATUS_BAD_INPUT with a sentence that lists the columns. */
NODISCARD enum status table_column(const struct table *table, const char *name, const struct column **column,
                                   struct error *error);

/* The most segments of a table: 16 times as many as TABLE_ROWS_MAX rows fill, and 9 MB of the catalogue. */
#define TABLE_SEGMENTS_MAX (1u << 20)

/* Sets segment_count and segment_rows of a table from its rows (at most TABLE_ROWS_MAX). */
NODISCARD enum status table_segments_set(struct table *table, struct error *error);

/* Frees everything that a table owns, but not the struct. */
void table_free(struct table *table);

/* "decimal", "gpu-star": the words of the catalogue. NULL if there is no such type. */
const char *column_type_name(enum column_type type);
const char *chooser_name(enum chooser chooser);

#endif
