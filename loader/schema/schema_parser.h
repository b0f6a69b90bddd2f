/*
 * schema_parser.h: the parts of the parser of schema scripts (loader/table/schema_script.h): tokens and text that is
 * skipped (schema_tokens.c), types (schema_type.c), constraints (schema_constraint.c), tables and other statements
 * (schema_statement.c), keys of several columns (schema_keys.c).
 *
 * Scripts are as pg_dump, DuckDB and SQLite write them. What has no meaning for a load (owners, sequences, triggers) is
 * skipped as text, with no look at its words, so that it may contain anything.
 */
#ifndef TESSERA_LOADER_SCHEMA_SCHEMA_PARSER_H
#define TESSERA_LOADER_SCHEMA_SCHEMA_PARSER_H

#include "loader/table/schema_script.h"
#include "storage/base/sql_token.h"

#define SCHEMA_OWN_TYPES_MAX  256u  /* that a script creates */
#define SCHEMA_CONDITIONS_MAX 1024u /* of CHECK, that are tested */

/* The text of a CHECK, and where it begins. */
struct schema_condition {
    uint32_t table, line, column;
    const char *text;
    size_t length;
};

/* A reference that is no column of its own: of several columns, or to the table itself. */
struct schema_reference {
    uint32_t table, line;
    struct key_columns of;
    char target[NAME_BYTES];
    uint32_t name_count; /* 0: the target's primary key */
    char names[KEY_COLUMNS_MAX][NAME_BYTES];
};
#define SCHEMA_REFERENCES_MAX 512u

/* The place of a token, to which the parser can go back. */
struct schema_place {
    struct sql_tokens tokens, before;
    struct sql_token token;
};

struct schema_parser {
    const char *path;
    struct sql_tokens tokens; /* after `token` */
    struct sql_tokens before; /* at `token`, or at white space before it */
    struct sql_token token;
    struct schema_script *schema;
    struct error error; /* of the clause that is parsed */

    /* The errors so far, a line each. */
    char complaints[ERROR_TEXT_BYTES];
    uint32_t complaint_count;

    /* Names of CREATE TYPE ... AS ENUM and CREATE DOMAIN. */
    struct {
        char name[NAME_BYTES];
        struct column_schema type;
    } * own_types;
    uint32_t own_type_count;
    bool has_rows; /* in INSERT */

    struct schema_condition *conditions;
    uint32_t condition_count;

    struct schema_reference *references;
    uint32_t reference_count;
};

static inline struct schema_place schema_here(const struct schema_parser *parser)
{
    return (struct schema_place){parser->tokens, parser->before, parser->token};
}

static inline void schema_go_back(struct schema_parser *parser, const struct schema_place *place)
{
    parser->tokens = place->tokens;
    parser->before = place->before;
    parser->token = place->token;
}

static inline struct schema_table *schema_own_table(const struct schema_parser *parser, const char *name)
{
    return (struct schema_table *)schema_table(parser->schema, name);
}

/* ---- schema_tokens.c ---- */

/* Sets the error "PATH:LINE:COLUMN: ..." at the current token; *_of puts its text for %s of `format`. */
enum status schema_complain(struct schema_parser *parser, const char *what);
enum status schema_complain_of(struct schema_parser *parser, const char *format);

/* The same at another place. */
enum status schema_complain_at(struct schema_parser *parser, const struct schema_place *place,
                               const char *format);

/* Keeps the error, so that the rest of the script is parsed, too. Out of memory and the like are not kept. */
NODISCARD enum status schema_error_keep(struct schema_parser *parser, enum status status);

/* Keeps a sentence for the user about a clause that was understood and has no effect. */
NODISCARD enum status schema_note(struct schema_parser *parser, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

NODISCARD enum status schema_advance(struct schema_parser *parser);
bool schema_is(const struct schema_parser *parser, const char *word);
NODISCARD enum status schema_take(struct schema_parser *parser, const char *word, bool *taken);
NODISCARD enum status schema_expect(struct schema_parser *parser, const char *word);

/* Takes a name; qualified: SCHEMA.NAME, of which the last part counts. */
NODISCARD enum status schema_take_name(struct schema_parser *parser, const char *what, char name[NAME_BYTES]);
NODISCARD enum status schema_take_qualified(struct schema_parser *parser, const char *what,
                                            char name[NAME_BYTES]);

/* Skips text up to one of the characters `stops` outside of quotes, comments and brackets, or up to one of `words`
 * (NULL-terminated; NULL: none), but not at its beginning. The next token is then the current one. */
NODISCARD enum status schema_skip_to(struct schema_parser *parser, const char *stops,
                                     const char *const *words);

/* The same from the current token on. With the current token "(", skips to the token after its ")". */
NODISCARD enum status schema_skip_brackets(struct schema_parser *parser);

/* Moves tokens->at to the place where schema_skip_to stops, without reading a token. */
void schema_text_skip(struct sql_tokens *tokens, const char *stops, const char *const *words);

/* ---- schema_type.c ---- */

NODISCARD enum status schema_take_type(struct schema_parser *parser, struct column_schema *column);
NODISCARD enum status schema_create_type(struct schema_parser *parser, bool domain);

/* ---- schema_constraint.c ---- */

struct column_schema *schema_column_named(const struct schema_table *table, const char *name);
NODISCARD enum status schema_take_column_constraints(struct schema_parser *parser, struct schema_table *table,
                                                     struct column_schema *column);
/* Whether the current token begins a constraint of a table, and not a column. */
NODISCARD enum status schema_at_table_constraint(struct schema_parser *parser, bool *constraint);
NODISCARD enum status schema_take_table_constraint(struct schema_parser *parser, struct schema_table *table);
/* Takes the columns of UNIQUE, of a unique index too. */
NODISCARD enum status schema_take_unique(struct schema_parser *parser, struct schema_table *table);

NODISCARD enum status schema_skip_actions(struct schema_parser *parser);

/* ---- schema_keys.c ---- */

/* Keeps PRIMARY KEY or UNIQUE of several columns. */
NODISCARD enum status schema_add_tuple(struct schema_parser *parser, struct schema_table *table,
                                       struct column_schema *const *columns, uint32_t count, bool primary);
/* Parses REFERENCES table [(column, ...)] of these columns. */
NODISCARD enum status schema_take_wide_reference(struct schema_parser *parser,
                                                 const struct schema_table *table,
                                                 struct column_schema *const *columns, uint32_t count);
/* Makes the reference of one column such a reference. */
NODISCARD enum status schema_widen_reference(struct schema_parser *parser, const struct schema_table *table,
                                             struct column_schema *column);
/* Makes columns of all such references, when the others are known. */
NODISCARD enum status schema_resolve_wide(struct schema_parser *parser);

/* ---- schema_statement.c, schema_references.c ---- */

NODISCARD enum status schema_take_script(struct schema_parser *parser);
NODISCARD enum status schema_resolve(struct schema_parser *parser);

#endif
