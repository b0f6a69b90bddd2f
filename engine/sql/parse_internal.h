/* engine/sql/parse_internal.h: the parser's two halves: engine/sql/parse.c (clauses) and
 * engine/sql/parse_expression.c. */
#ifndef TESSERA_ENGINE_SQL_PARSE_INTERNAL_H
#define TESSERA_ENGINE_SQL_PARSE_INTERNAL_H

#include "engine/sql/sql.h"
#include "storage/base/sql_token.h"

struct sql_statement_tree {
    struct sql_select select;
    void *blocks;     /* of memory, each with a pointer to the next in front */
    char *next, *end; /* what is left of the first of them */
};

struct parser {
    struct sql_statement_tree *tree;
    struct sql_tokens tokens; /* behind `token` */
    struct sql_token token;   /* the one at hand */
    const char *before_end;   /* where the token before it ended */
    uint32_t depth;
    struct error *error;
};

/* Memory of the tree, zeroed; NULL if there is none. */
void *parse_memory(struct parser *parser, size_t bytes);

NODISCARD enum status parse_advance(struct parser *parser);
bool parse_is(const struct parser *parser, const char *word);
/* Takes the word if it is there. */
NODISCARD enum status parse_take(struct parser *parser, const char *word, bool *taken);
NODISCARD enum status parse_expect(struct parser *parser, const char *word, const char *where);
struct sql_position parse_position(const struct parser *parser);

/* STATUS_BAD_INPUT with the position of the token at hand. */
enum status parse_refuse(const struct parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The token at hand without quotes, in the tree; `lower`: in lower case. */
NODISCARD enum status parse_text(struct parser *parser, bool lower, const char **text);
/* The token at hand as a name (a word that is no keyword of clauses, or a quoted name). */
NODISCARD enum status parse_name(struct parser *parser, const char *what, const char **name);
/* Whether the token at hand may be an alias without AS. */
bool parse_is_name(const struct parser *parser);

NODISCARD enum status parse_expression(struct parser *parser, struct sql_expression **expression);

/* A list that grows while it is parsed, kept in the tree's memory: appends one item of `bytes`. */
NODISCARD enum status parse_append(struct parser *parser, void *list, uint32_t *count, size_t bytes,
                                   const void *item);

#endif
