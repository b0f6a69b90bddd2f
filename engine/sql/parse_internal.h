/* parse_internal.h: shared by the files of the parser: parse.c (clauses), parse_from.c (FROM), parse_query.c (WITH, UNION,
 * subqueries), parse_window.c (windows) and parse_expression.c. */
#ifndef TESSERA_ENGINE_SQL_PARSE_INTERNAL_H
#define TESSERA_ENGINE_SQL_PARSE_INTERNAL_H

#include "engine/sql/sql.h"
#include "storage/base/sql_token.h"

struct sql_statement_tree {
    struct sql_select select;
    void *blocks;     /* of memory; each begins with a pointer to the next */
    char *next, *end; /* the unused bytes of the first block */
    uint64_t bytes;   /* of all blocks */
};

/* The text of a WITH, up to the last of its queries that has been parsed. */
struct parser_with {
    const char *begin, *end;
    const struct parser_with *outer;
};

struct parser {
    struct sql_statement_tree *tree;
    struct sql_tokens tokens;  /* the text after `token` */
    struct sql_select *select; /* the SELECT that is being parsed */
    struct sql_token token;    /* the current token */
    const char *before_end;    /* the end of the token before it */
    uint32_t depth, blocks;
    const struct sql_asker *asker;   /* or NULL */
    const struct parser_with *withs; /* around what is parsed, the innermost first; or NULL */
    struct sql_position
        all; /* the place of all nodes, of a text that nobody wrote; line 0: each has its own */
    struct error *error;
};

/* Allocates zeroed memory in the tree's arena; NULL if there is no memory. */
void *parse_memory(struct parser *parser, size_t bytes);

NODISCARD enum status parse_advance(struct parser *parser);
bool parse_is(const struct parser *parser, const char *word);
/* Advances if the current token is the word. */
NODISCARD enum status parse_take(struct parser *parser, const char *word, bool *taken);
NODISCARD enum status parse_expect(struct parser *parser, const char *word, const char *where);
struct sql_position parse_position(const struct parser *parser);

/* STATUS_BAD_INPUT with the position of the current token. */
enum status parse_refuse(const struct parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The current token cannot stand where it does: it, or the name before it, may be a mistyped keyword; `first`: where a
 * statement begins (parse_typo.c). */
enum status parse_refuse_word(const struct parser *parser, bool first);

/* Copies the current token, without quotes, into the tree; `lower`: in lower case. */
NODISCARD enum status parse_text(struct parser *parser, bool lower, const char **text);
/* Copies the current token as a name: a word that is not a keyword of a clause, or a quoted name. */
NODISCARD enum status parse_name(struct parser *parser, const char *what, const char **name);
/* True if the current token may be an alias without AS. */
bool parse_is_name(const struct parser *parser);

/* parse_query.c: parses [WITH ...] SELECT ... [UNION ...] [ORDER BY ...] [LIMIT ...] into `select`. */
NODISCARD enum status parse_query(struct parser *parser, struct sql_select *select);
/* Parses a query and the parenthesis after it; the one before it has been read. */
NODISCARD enum status parse_subquery(struct parser *parser, struct sql_select **select);
/* Parses (a, b) after the name of an answer, if it is there. */
NODISCARD enum status parse_column_names(struct parser *parser, uint32_t *count, const char ***names);
/* True if a query begins at the current token. The second is for places where nothing else could stand: also in
 * parentheses, and SUMMARIZE and PIVOT, which are names elsewhere. */
bool parse_is_query(const struct parser *parser);
bool parse_begins_query(const struct parser *parser);

/* ---- parse_window.c ---- */

/* IGNORE NULLS or RESPECT NULLS after a function's arguments, or as their end; nothing if they are not there. */
NODISCARD enum status parse_nulls(struct parser *parser, struct sql_expression *function);
/* Parses what follows OVER, and WINDOW name AS (...), ... */
NODISCARD enum status parse_over(struct parser *parser, struct sql_window **window);
NODISCARD enum status parse_windows(struct parser *parser);

/* parse_from.c: parses what follows FROM. */
NODISCARD enum status parse_from(struct parser *parser);
/* [main.]table: a table, in the schema that clients take for the database's own; *position is the table's. */
NODISCARD enum status parse_table_name(struct parser *parser, struct sql_position *position,
                                       const char **name);

/* In parse.c: what follows SELECT, up to FROM; SELECT ... up to HAVING or WINDOW; ORDER BY and LIMIT. */
NODISCARD enum status parse_items(struct parser *parser);
NODISCARD enum status parse_select(struct parser *parser);
NODISCARD enum status parse_order_and_limit(struct parser *parser);
NODISCARD enum status parse_order(struct parser *parser, struct sql_order *order);
NODISCARD enum status parse_orders(struct parser *parser, struct sql_order **orders, uint32_t *count);

NODISCARD enum status parse_expression(struct parser *parser, struct sql_expression **expression);

/* Makes a node of up to two operands, which may be NULL, in the tree's arena; adds a child to one, unless it would be
 * too deep. */
NODISCARD enum status parse_node(struct parser *parser, enum sql_operation operation,
                                 struct sql_position position, struct sql_expression *first,
                                 struct sql_expression *second, struct sql_expression **out);
NODISCARD enum status parse_child(struct parser *parser, struct sql_expression *node,
                                  struct sql_expression *child);

/* In aggregates/parse_aggregate.c: what may follow a function's arguments, WITHIN GROUP (ORDER BY x) and FILTER (WHERE
 * condition); and ORDER BY x, which may end them. */
NODISCARD enum status parse_aggregate_clauses(struct parser *parser, struct sql_expression *function);
/* Puts the aggregate's first argument, or 1 for *, into CASE WHEN condition THEN argument END. */
NODISCARD enum status parse_filter_argument(struct parser *parser, struct sql_expression *aggregate,
                                            struct sql_expression *condition);
NODISCARD enum status parse_aggregate_order(struct parser *parser, struct sql_expression *function);
/* In aggregates/parse_grouping.c: what follows GROUP BY. */
NODISCARD enum status parse_grouping(struct parser *parser);

/* ---- parse_short.c ---- */

/* EXCLUDE, REPLACE and RENAME after a star. */
NODISCARD enum status parse_star_changes(struct parser *parser, struct sql_item *item);
/* FROM ... [SELECT ...]: a query that begins with FROM, up to FROM's end and the select list. */
NODISCARD enum status parse_from_first(struct parser *parser);
/* True if ALL and the end of ORDER BY follow BY, which is the current token. */
bool parse_is_order_all(const struct parser *parser);
/* SUMMARIZE table | query; SUMMARIZE is the current token. The first is for parentheses, where a table or column may have
 * that name. */
bool parse_is_summary(const struct parser *parser);
NODISCARD enum status parse_summary(struct parser *parser);

/* ---- parse_pivot.c ---- */

/* True if PIVOT begins a query in parentheses, where a table or column may have that name. */
bool parse_is_pivot(const struct parser *parser);
/* PIVOT ... up to GROUP BY; PIVOT is the current token. */
NODISCARD enum status parse_pivot(struct parser *parser);

/* ---- parse_forms.c ---- */

/* A row in parentheses, at the comma after its first value: with IN, = or <> and what they compare it with. */
NODISCARD enum status parse_row_test(struct parser *parser, struct sql_expression *first,
                                     struct sql_expression **out);
/* ANY, SOME or ALL and a query, after a comparison whose left side is *out. */
NODISCARD enum status parse_any(struct parser *parser, struct sql_position position,
                                enum sql_operation comparison, bool *taken, struct sql_expression **out);
/* if(c, a, b) becomes CASE. */
void parse_if(struct sql_expression *function);
/* The product of an INTERVAL and a number, if *left and right are these. */
NODISCARD enum status parse_interval_times(struct parser *parser, const struct sql_expression *right,
                                           struct sql_expression **left, bool *taken);
/* What follows DISTINCT; and the condition that it becomes, after ORDER BY. */
NODISCARD enum status parse_distinct_on(struct parser *parser);
NODISCARD enum status parse_first_of(struct parser *parser);
/* [OFFSET m] FETCH FIRST n ROWS ONLY; true if FETCH is no name here. */
NODISCARD enum status parse_fetch(struct parser *parser);
/* The number of LIMIT ALL. */
NODISCARD enum status parse_all_rows(struct parser *parser, struct sql_expression **limit);
bool parse_is_fetch(const struct parser *parser);

/* Appends one item of `bytes` to a list in the tree's arena. */
NODISCARD enum status parse_append(struct parser *parser, void *list, uint32_t *count, size_t bytes,
                                   const void *item);

#endif
