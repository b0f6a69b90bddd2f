/* text_source_internal.h: the parts of a source of text: its files (text_source.c), delimiters and headers
 * (text_header.c), blocks of rows (text_block.c). */
#ifndef TESSERA_LOADER_TEXT_TEXT_SOURCE_INTERNAL_H
#define TESSERA_LOADER_TEXT_TEXT_SOURCE_INTERNAL_H

#include "loader/text/text_encoding.h"
#include "loader/text/text_file.h"
#include "loader/text/text_format.h"
#include "loader/text/text_rows.h"

#include <pthread.h>

/* A piece of memory that grows. */
struct text_memory {
    char *bytes;
    size_t room;
};
NODISCARD enum status text_memory_reserve(struct text_memory *memory, size_t wanted, struct error *error);

struct text_source {
    pthread_mutex_t lock;
    const char *const *paths;
    uint32_t path_count, path; /* `path`: the current file */
    enum text_header header;
    char given;                     /* options->delimiter */
    uint32_t *listed, listed_count; /* the places that options->columns gives fields; or NULL */
    size_t block_bytes;
    struct text_shape shape;
    bool trailing_known;
    uint32_t **places;             /* for each file that was begun: the column of each of its fields */
    struct text_decoder *file;     /* NULL: there are no more files */
    struct text_encoding encoding; /* as the options say */
    bool encoded;                  /* they say one */
    bool ended;                    /* the current file has no more bytes */
    bool closed;                   /* the list of objects that it is has ended */
    struct text_memory carry;
    size_t carry_bytes;      /* read from the current file, not yet in a block; they begin a row */
    uint64_t line;           /* of the carry's first row */
    uint64_t number;         /* of the next block */
    uint64_t done, size;     /* bytes of finished files; of all files, 0 if one is not known */
    struct text_index index; /* for first rows */
    size_t index_room;
    enum status status; /* the first error, which every later call returns */
    struct error error;
};

/* text_source_open with another size of blocks, for tests, so that boundaries fall anywhere. */
NODISCARD enum status text_source_open_sized(const char *const *paths, uint32_t path_count,
                                             const char *const *column_names, uint32_t columns,
                                             const struct text_options *options, size_t block_bytes,
                                             struct text_source **source, struct error *error);

/* ---- text_header.c ---- */

/* A header's name without the blanks around it, as in "id, name, city". */
struct text_field text_field_trim(const struct text_field *field);

/* Find the delimiter: by the file's name (0 if it does not tell), or by the first line of its text. */
char text_delimiter_of_name(const char *path);

/* .json, .jsonl or .ndjson, maybe of a compressed file */
bool text_name_is_json(const char *path);

/* Whether a file that begins as JSON does is JSON: neither an option (`given`, or 0) nor its name says that it is text with
 * tabs, say, whose first field may be anything. */
bool text_may_be_json(char given, const char *path);
NODISCARD enum status text_delimiter_of_line(struct text_source *source, const char *text, size_t length,
                                             bool comma, char *delimiter, struct error *error);

/* Looks at the file's first row. *bytes and *lines are those of a header and of empty lines before it, or 0.
 * *places gets the column of each field, or TEXT_SKIPPED; the caller frees it. Sets shape.fields. */
NODISCARD enum status text_header_read(struct text_source *source, const char *text, size_t length,
                                       uint32_t **places, size_t *bytes, uint64_t *lines,
                                       struct error *error);

/* Reads options->columns, "a,b,-,c", as the places of fields. */
NODISCARD enum status text_columns_read(struct text_source *source, const char *list, struct error *error);

/* *trailing: whether the first row that is not empty ends with a delimiter after its last field. *known:
 * there is such a row. */
NODISCARD enum status text_trailing_find(struct text_source *source, const char *text, size_t length,
                                         bool *known, bool *trailing, struct error *error);

/* ---- text_block.c ---- */

struct block_memory {
    struct text_memory text, spare, raw; /* raw: text before its encoding's table was applied */
    struct text_index index;
    size_t index_room, field_room, row_room, fault_room;
    uint32_t *columns; /* of objects: the lengths of the columns' names, and the last row that has each */
};

/* What splitting a block into rows and fields needs from the source, which another thread may use
 * meanwhile. */
struct block_text {
    struct text_shape shape;
    const uint32_t *places;
    size_t bytes;
    uint64_t line; /* of its first row */

    const struct text_encoding *table; /* NULL, or the source's encoding, by which the text becomes UTF-8 */
    char encoding[64];                 /* the name of the file's, for complaints; "": UTF-8 */
};
/* Makes room for `rows` rows; the block's old content is lost. */
NODISCARD enum status text_block_reserve(struct text_block *block, uint32_t rows, uint32_t columns,
                                         struct error *error);
NODISCARD enum status text_block_fault(struct text_block *block, const char *complaint, bool no_text,
                                       struct error *error);
NODISCARD enum status text_block_split(struct text_block *block, const struct block_text *text,
                                       struct error *error);

#endif
