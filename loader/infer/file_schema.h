/*
 * file_schema.h: what files hold, so that a load can read them without a schema of the user's: for statements that name files.
 *
 * Columnar files say their types. Only where a number may have more digits than a stored one are values read. Text is read
 * once as a whole, as infer.h does: a column has the narrowest type that all its values have. No column is a key.
 */
#ifndef TESSERA_LOADER_INFER_FILE_SCHEMA_H
#define TESSERA_LOADER_INFER_FILE_SCHEMA_H

#include "loader/table/table_loader.h"
#include "loader/text/reading_options.h"

#include <stdio.h>

#define FILE_TABLE "t" /* the name of the table in scripts */

struct file_column {
    char name[NAME_BYTES];
    char type[32]; /* "DECIMAL(9,2)"; "": the column is skipped, as no table can have it */
};

struct file_schema {
    uint64_t rows;
    bool text;
    char delimiter;      /* of text */
    bool header, listed; /* of text; `listed`: its fields must be named, because its header does not */
    uint32_t column_count;
    struct file_column *columns;
    uint32_t reading_count;
    struct reading_option *readings; /* forms of numbers and times in text */
    char **reading_texts;
    uint32_t *reading_columns; /* of what column each is */
};

/* What options of a load refer to; free with file_loading_free. */
struct file_loading {
    char *list;
    struct reading_option *readings;
};

/* Finds it for the files of the one input. Of the other options threads and memory count. Free with file_schema_free, also
 * after an error. */
NODISCARD enum status file_schema_read(const struct load_options *options, struct file_schema *schema,
                                       struct error *error);
void file_schema_free(struct file_schema *schema);

/* Writes the script of a table of the columns for which `wanted` is true, in their order. */
void file_schema_write(const struct file_schema *schema, const bool *wanted, FILE *script);

/* Sets how a load reads these columns, in the options and in their one input. */
NODISCARD enum status file_schema_options(const struct file_schema *schema, const bool *wanted,
                                          struct load_options *options, struct load_input *input,
                                          struct file_loading *loading, struct error *error);
void file_loading_free(struct file_loading *loading);

#endif
