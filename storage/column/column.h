/*
 * column.h: what a column is: its type, its dictionary, its statistics, the encodings that are stored of it, the
 * table that it belongs to, and what it looks like once its files are open.
 *
 * Plain data, filled from the catalogue; the functions here look things up in it and touch no file.
 */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_H
#define TESSERA_STORAGE_COLUMN_COLUMN_H

#include "storage/base/status.h"
#include "storage/codec/codec.h"

#include <stdbool.h>
#include <stdint.h>

#define NAME_BYTES 64 /* names of tables and columns, the closing zero included */

/* 2^40: 65536 segments, 180 times lineorder at SF 1000; keeps every product of rows and bytes in 64 bits. */
#define TABLE_ROWS_MAX (1ull << 40)

/* Names become file names: 1 .. 63 of A-Z a-z 0-9 _ # $ - and inner spaces, first a letter or _. */
bool name_valid(const char *name);

/* ---- Schema ---- */

enum column_type { TYPE_INT32, TYPE_INT64, TYPE_DECIMAL, TYPE_DATE, TYPE_TIMESTAMP, TYPE_BOOL, TYPE_STRING };

/* What is stored for each row: TYPE_STRING: its code (int32) in the column's sorted dictionary. A column that
 * references another table: the row position (int32) of the referenced row, whatever the key's type.
 * TYPE_DECIMAL: the scaled integer, int64 if precision > 9. TYPE_DATE: days since 1970-01-01, int32.
 * TYPE_TIMESTAMP: microseconds since 1970-01-01 00:00:00, int64. TYPE_BOOL: 0 or 1, int32. */
struct column_schema {
    char name[NAME_BYTES];
    enum column_type type;
    uint8_t precision, scale; /* TYPE_DECIMAL */
    bool nullable;
    bool primary_key;
    char references_table[NAME_BYTES];  /* "" if the column is no foreign key */
    char references_column[NAME_BYTES]; /* the referenced table's primary key column */
};

/* "int32", "decimal(12,2)", ... into text of at least 32 bytes. */
const char *column_type_text(const struct column_schema *schema, char *text);

/* Bytes of a stored value of that column: 4 or 8. */
uint32_t column_schema_value_bytes(const struct column_schema *schema);

/* ---- Dictionaries ---- */

/* Sorted by bytes (memcmp order), without duplicates; codes 0 .. count-1. Strings are not zero-terminated. */
struct dictionary {
    uint32_t count;
    const uint64_t *starts; /* count + 1 byte offsets into bytes */
    const char *bytes;
};

/* The code of a string, or -1; the number of strings that are less than it (lower bound); a string by its
 * code, which need not be one: beyond the dictionary, as only a damaged file has them, all are empty. */
int64_t dictionary_find(const struct dictionary *dictionary, const char *string, uint32_t length);
uint32_t dictionary_lower_bound(const struct dictionary *dictionary, const char *string, uint32_t length);
/* The first code whose string is not greater than the one before it, or -1 if the dictionary is as it should
 * be. */
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

/* ---- Columns and tables ---- */

/* Over the stored values (codes, positions, scaled integers) of the rows that are not NULL; min > max if
 * there are none. */
struct column_statistics {
    int64_t min, max;
    uint64_t nulls;
    uint64_t runs;     /* maximal runs of equal values, segments counted apart */
    uint64_t distinct; /* exact up to some limit, else an estimate (docs/format.md) */
};

/* One stored encoding of a column, as the catalogue knows it. */
struct encoding_info {
    enum codec_id codec;
    uint64_t bytes;      /* of all chunks, headers and directories included: what a kernel may read */
    uint64_t generation; /* the change that wrote it, a part of its file's name */
};

struct column {
    struct column_schema schema;
    uint32_t value_bytes;                /* 4 or 8 */
    const struct table *table;           /* that it belongs to */
    const struct column *references;     /* the resolved primary key column, or NULL */
    const struct dictionary *dictionary; /* TYPE_STRING that is no foreign key; else NULL */
    struct column_statistics statistics;
    enum codec_id own;    /* the encoding that the catalogue calls the column's own */
    const char *own_name; /* what chose it: "auto", "gpu-star", a codec, ... */
    uint32_t encoding_count;
    const struct encoding_info *encodings;
    uint64_t side_generation;               /* the change that wrote the column and its side file */
    enum codec_id chosen[CHOOSER_AUTO + 1]; /* by each chooser that was asked; else CODEC_NONE */
};

struct table {
    char name[NAME_BYTES];
    uint64_t rows;
    uint32_t segment_count;
    const uint32_t *segment_rows; /* each 1 .. SEGMENT_ROWS */
    uint32_t column_count;
    const struct column *columns;
};

/* ---- An opened column ---- */

/* A column opened in one encoding. All chunks are of one codec. */
struct segment_data {
    struct chunk_view chunk;
    const uint32_t
        *validity; /* NULL: no row is NULL. Else 32 words a tile: bit j of word l: row 32j+l is not NULL */
    const int64_t *tile_min_max; /* min, max of each tile (over rows that are not NULL; min > max if none) */
};

struct column_data {
    const struct column *column;
    const struct codec *codec;
    uint32_t segment_count;
    const struct segment_data *segments;
    uint64_t bytes; /* of all chunks */
    /* For who looks at every value: that it was done, and all row positions and codes lie in the table or dictionary. */
    _Atomic bool positions_checked;
};

/* ---- What readers and writers of columns ask of them ---- */

/* True for TYPE_STRING that is no foreign key. */
bool column_has_dictionary(const struct column_schema *schema);

/* The column's encoding by codec, or NULL. */
const struct encoding_info *column_encoding(const struct column *column, enum codec_id codec);

/* STATUS_BAD_INPUT with a sentence that lists the columns there are. */
NODISCARD enum status table_column(const struct table *table, const char *name, const struct column **column,
                                   struct error *error);

/* The most segments of a table: 16 times what TABLE_ROWS_MAX full ones are, 9 MB of the catalogue. */
#define TABLE_SEGMENTS_MAX (1u << 20)

/* Sets segment_count and segment_rows of a table from its rows (at most TABLE_ROWS_MAX). */
NODISCARD enum status table_segments_set(struct table *table, struct error *error);

/* Frees what a table owns, not the struct. */
void table_free(struct table *table);

/* "decimal", "gpu-star": the words of the catalogue. */
const char *column_type_name(enum column_type type);
const char *chooser_name(enum chooser chooser);

#endif
