/*
 * catalogue_parser.h: what the two files that read a catalogue's text share. Of what is wrong, the error names the place.
 */
#ifndef TESSERA_STORAGE_DATABASE_CATALOGUE_PARSER_H
#define TESSERA_STORAGE_DATABASE_CATALOGUE_PARSER_H

#include "storage/database/catalogue.h"

#include <jansson.h>

#define CATALOGUE_INTEGER_MAX ((uint64_t)INT64_MAX)

/* The parser's place in the text, for error sentences. */
struct parser {
    const char *path;
    const char *table, *column; /* NULL: the parser is not inside one */
    struct error *error;
};

/* The error that this field is missing or not valid. */
NODISCARD enum status catalogue_parse_wrong(const struct parser *parser, const char *field);

/* Fields of an object. A number is from `low`, or 0, to `high`; an absent flag is false. */
NODISCARD enum status catalogue_parse_integer(const struct parser *parser, const json_t *object,
                                              const char *key, int64_t low, int64_t high, int64_t *out);
NODISCARD enum status catalogue_parse_count(const struct parser *parser, const json_t *object,
                                            const char *key, uint64_t high, uint64_t *out);
NODISCARD enum status catalogue_parse_flag(const struct parser *parser, const json_t *object, const char *key,
                                           bool *out);
NODISCARD enum status catalogue_parse_name(const struct parser *parser, const json_t *object, const char *key,
                                           char *out);

/* The numbers of a key's columns, which are checked when all tables are known. */
NODISCARD enum status catalogue_parse_key(const struct parser *parser, const json_t *object, const char *name,
                                          struct key_columns *key);

/* A column of a table of `rows` rows, whose segments are known (catalogue_column.c). */
NODISCARD enum status catalogue_parse_column(struct parser *parser, const json_t *object, uint64_t rows,
                                             struct column *column);

#endif
