/*
 * parse_expression.c: parses expressions (ast.h). The precedences are SQLite's, from the lowest: OR; AND;
 * NOT; comparisons, BETWEEN, IN, LIKE and IS; + and -; *, / and %; -> and ->>; signs.
 */
#include "engine/sql/functions/functions.h"
#include "engine/sql/functions/parse_words.h"
#include "engine/sql/parse_internal.h"
#include "storage/base/words/word.h"

#include <string.h>

static enum status parse_or(struct parser *parser, struct sql_expression **out);
static enum status parse_sum(struct parser *parser, struct sql_expression **out);
static enum status parse_primary(struct parser *parser, struct sql_expression **out);

enum status parse_child(struct parser *parser, struct sql_expression *node, struct sql_expression *child)
{
    if (child->depth == SQL_TREE_DEPTH_MAX)
        return parse_refuse(parser, "an expression is more than %u operators deep; use fewer, or split it",
                            SQL_TREE_DEPTH_MAX);
    node->depth = child->depth < node->depth ? node->depth : child->depth + 1;
    return parse_append(parser, &node->children, &node->child_count, sizeof child, &child);
}

/* What `operand` parses becomes a child. */
static enum status child_parse(struct parser *parser, struct sql_expression *node,
                               enum status (*operand)(struct parser *, struct sql_expression **))
{
    struct sql_expression *child;
    RETURN_IF_ERROR(operand(parser, &child));
    return parse_child(parser, node, child);
}

enum status parse_node(struct parser *parser, enum sql_operation operation, struct sql_position position,
                       struct sql_expression *first, struct sql_expression *second,
                       struct sql_expression **out)
{
    struct sql_expression *const node = parse_memory(parser, sizeof *node);
    if (!node)
        return error_out_of_memory(parser->error, sizeof *node, "a statement");
    node->operation = operation;
    node->position = position;
    node->depth = 1;
    if (first)
        RETURN_IF_ERROR(parse_child(parser, node, first));
    if (second)
        RETURN_IF_ERROR(parse_child(parser, node, second));
    *out = node;
    return STATUS_OK;
}

/* Bounds the recursion: every nested expression is parsed through this function. */
enum status parse_expression(struct parser *parser, struct sql_expression **out)
{
    if (parser->depth == SQL_DEPTH_MAX)
        return parse_refuse(
            parser,
            "expressions are nested more than %u deep; use fewer parentheses or functions in each other",
            SQL_DEPTH_MAX);
    parser->depth++;
    const enum status status = parse_or(parser, out);
    parser->depth--;
    return status;
}

/* ---- Primaries ---- */

/* Parses an item of a list. A single number or string does not descend through all precedences, because lists
 * of literals can be long. */
static enum status parse_list_item(struct parser *parser, struct sql_expression **item)
{
    const struct parser before = *parser;
    if (parser->token.kind == TOKEN_NUMBER || parser->token.kind == TOKEN_STRING) {
        RETURN_IF_ERROR(parse_primary(parser, item));
        if (parse_is(parser, ",") || parse_is(parser, ")"))
            return STATUS_OK;
        *parser = before;
    }
    return parse_expression(parser, item);
}

static enum status parse_list(struct parser *parser, struct sql_expression *node, const char *where)
{
    bool more = true;
    while (more) {
        RETURN_IF_ERROR(child_parse(parser, node, parse_list_item));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    if (node->operation == SQL_FUNCTION && parse_is(parser, "ORDER"))
        RETURN_IF_ERROR(parse_aggregate_order(parser, node));
    if (node->operation == SQL_FUNCTION)
        RETURN_IF_ERROR(parse_nulls(parser, node));
    return parse_expect(parser, ")", where);
}

static enum status parse_function(struct parser *parser, struct sql_expression *node)
{
    node->operation = SQL_FUNCTION;
    char *const name = (char *)node->name; /* in the tree's memory */
    for (char *c = name; *c; c++)
        *c += *c >= 'A' && *c <= 'Z' ? 'a' - 'A' : 0;
    RETURN_IF_ERROR(parse_advance(parser)); /* the parenthesis */
    RETURN_IF_ERROR(parse_take(parser, "DISTINCT", &node->distinct));
    if (parse_is(parser, "*")) {
        struct sql_expression *star;
        RETURN_IF_ERROR(parse_node(parser, SQL_STAR, parse_position(parser), NULL, NULL, &star));
        RETURN_IF_ERROR(parse_child(parser, node, star));
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_expect(parser, ")", "behind *"));
    } else if (parse_is(parser, ")")) {
        RETURN_IF_ERROR(parse_advance(parser));
    } else {
        RETURN_IF_ERROR(parse_list(parser, node, "behind a function's arguments"));
    }
    parse_if(node);
    if (node->operation == SQL_CASE)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_aggregate_clauses(parser, node));
    RETURN_IF_ERROR(parse_nulls(parser, node));
    if (node->ignores_nulls && !parse_is(parser, "OVER"))
        return parse_refuse(parser, "IGNORE NULLS stands in window functions only: OVER (...) follows it");
    return parse_is(parser, "OVER") ? parse_over(parser, &node->window) : STATUS_OK;
}

static enum status parse_case(struct parser *parser, struct sql_expression *node)
{
    bool taken;
    node->operation = SQL_CASE;
    if (!parse_is(parser, "WHEN")) {
        RETURN_IF_ERROR(child_parse(parser, node, parse_expression));
        node->has_operand = true;
    }
    if (!parse_is(parser, "WHEN"))
        return parse_expect(parser, "WHEN", "in CASE");
    while (parse_is(parser, "WHEN")) {
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(child_parse(parser, node, parse_expression));
        RETURN_IF_ERROR(parse_expect(parser, "THEN", "behind WHEN"));
        RETURN_IF_ERROR(child_parse(parser, node, parse_expression));
    }
    RETURN_IF_ERROR(parse_take(parser, "ELSE", &taken));
    if (taken) {
        RETURN_IF_ERROR(child_parse(parser, node, parse_expression));
        node->has_else = true;
    }
    return parse_expect(parser, "END", "at the end of CASE");
}

/* EXTRACT(field FROM x) and CAST(x AS type). */
static enum status parse_extract(struct parser *parser, struct sql_expression *node)
{
    node->operation = SQL_EXTRACT;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_text(parser, true, &node->name));
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expect(parser, "FROM", "in EXTRACT(field FROM value)"));
    RETURN_IF_ERROR(child_parse(parser, node, parse_expression));
    return parse_expect(parser, ")", "behind EXTRACT's value");
}

static enum status parse_cast(struct parser *parser, struct sql_expression *node)
{
    node->operation = SQL_CAST;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(child_parse(parser, node, parse_expression));
    RETURN_IF_ERROR(parse_expect(parser, "AS", "in CAST(value AS type)"));
    RETURN_IF_ERROR(parse_type(parser, node));
    return parse_expect(parser, ")", "behind CAST's type");
}

/* DATE '...', TIMESTAMP '...': a word that is followed by a string. */
static enum status parse_typed_literal(struct parser *parser, struct sql_expression *node)
{
    if (node->operation == SQL_CAST) { /* TIMESTAMPTZ '...' */
        struct sql_expression *string;
        RETURN_IF_ERROR(parse_node(parser, SQL_STRING, node->position, NULL, NULL, &string));
        RETURN_IF_ERROR(parse_child(parser, node, string));
        node = string;
    }
    RETURN_IF_ERROR(parse_text(parser, false, &node->text));
    return parse_advance(parser);
}

static enum status parse_word(struct parser *parser, struct sql_expression *node)
{
    static const struct {
        const char *word;
        enum sql_operation operation;
    } literals[] = {{"null", SQL_NULL}, {"true", SQL_TRUE}, {"false", SQL_FALSE}},
      typed[] = {{"date", SQL_DATE}, {"timestamp", SQL_TIMESTAMP}, {"timestamptz", SQL_CAST}};
    const struct sql_token word = parser->token;
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        if (sql_token_is(&word, literals[i].word)) {
            node->operation = literals[i].operation;
            return parse_advance(parser);
        }
    if (sql_token_is(&word, "case")) {
        RETURN_IF_ERROR(parse_advance(parser));
        return parse_case(parser, node);
    }
    if (sql_token_is(&word, "exists")) {
        node->operation = SQL_EXISTS;
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_expect(parser, "(", "behind EXISTS"));
        return parse_subquery(parser, &node->query);
    }
    if (sql_token_is(&word, "left") || sql_token_is(&word, "right")) { /* a join's word, and a function */
        RETURN_IF_ERROR(parse_text(parser, true, &node->name));
        RETURN_IF_ERROR(parse_advance(parser));
        return parse_is(parser, "(")
                   ? parse_function(parser, node)
                   : parse_refuse(parser, "%s is a function here: %s(s, n)", node->name, node->name);
    }
    RETURN_IF_ERROR(parse_name(parser, "a value", &node->name));
    if (sql_token_is(&word, "interval")) {
        bool taken;
        RETURN_IF_ERROR(parse_interval(parser, node, &taken));
        if (taken)
            return STATUS_OK;
    }
    if (sql_token_is(&word, "timestamp"))
        RETURN_IF_ERROR(parse_zoned(parser, &node->name));
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        if (word_compare(node->name, typed[i].word) == 0 && word.kind == TOKEN_WORD &&
            parser->token.kind == TOKEN_STRING) {
            node->operation = typed[i].operation;
            return parse_typed_literal(parser, node);
        }
    if (parse_is(parser, "(") && word.kind == TOKEN_WORD) {
        bool taken;
        if (sql_token_is(&word, "extract"))
            return parse_extract(parser, node);
        RETURN_IF_ERROR(parse_worded_function(parser, node, &taken));
        if (taken)
            return STATUS_OK;
        node->distinct = sql_token_is(&word, "try_cast");
        return node->distinct || sql_token_is(&word, "cast") ? parse_cast(parser, node)
                                                             : parse_function(parser, node);
    }
    node->operation = SQL_COLUMN;
    if (!parse_is(parser, "."))
        return STATUS_OK;
    RETURN_IF_ERROR(parse_advance(parser));
    node->qualifier = node->name;
    node->name = NULL;
    if (parse_is(parser, "*")) {
        node->operation = SQL_STAR;
        return parse_advance(parser);
    }
    return parse_name(parser, "a column's name", &node->name);
}

/* True if a name in brackets is what other systems write as a list: nothing, or several values of which the first is a
 * number, a string or a list. */
static bool is_list(const struct sql_token *token)
{
    const char *const text = token->text + 1;
    return token->text[0] == '[' && (token->length == 2 || (strchr("0123456789+-.'[", text[0]) &&
                                                            memchr(text, ',', token->length - 2)));
}

static enum status parse_value_word(struct parser *parser, struct sql_expression *node)
{
    RETURN_IF_ERROR(parse_word(parser, node));
    parser->tree->select.timed |= functions_ask_time(node);
    return STATUS_OK;
}

static enum status parse_primary(struct parser *parser, struct sql_expression **out)
{
    struct sql_expression *node;
    if (parse_is(parser, "(")) {
        RETURN_IF_ERROR(parse_advance(parser));
        if (parse_is_query(parser)) {
            RETURN_IF_ERROR(parse_node(parser, SQL_SUBQUERY, parse_position(parser), NULL, NULL, out));
            return parse_subquery(parser, &(*out)->query);
        }
        RETURN_IF_ERROR(parse_expression(parser, out));
        return parse_is(parser, ",") ? parse_row_test(parser, *out, out)
                                     : parse_expect(parser, ")", "to close the parenthesis");
    }
    RETURN_IF_ERROR(parse_node(parser, SQL_NULL, parse_position(parser), NULL, NULL, &node));
    *out = node;
    switch (parser->token.kind) {
    case TOKEN_NUMBER:
    case TOKEN_STRING:
        node->operation = parser->token.kind == TOKEN_NUMBER ? SQL_NUMBER : SQL_STRING;
        RETURN_IF_ERROR(parse_text(parser, false, &node->text));
        return parse_advance(parser);
    case TOKEN_NAME:
        if (is_list(&parser->token))
            return parse_refuse(parser,
                                "%.*s is no list here: brackets enclose a name, as \"quotes\" do; write rows "
                                "as (VALUES (1), (2)), and x IN (1, 2) for one of several values",
                                (int)parser->token.length, parser->token.text);
        return parse_value_word(parser, node);
    case TOKEN_WORD:
        return parse_value_word(parser, node);
    case TOKEN_END:
        return parse_refuse(parser, "the statement ends where a value should stand");
    case TOKEN_SYMBOL:
        break;
    }
    if (parse_is(parser, "?")) {
        node->operation = SQL_PARAMETER;
        node->index = parser->tree->select.parameter_count++;
        return parse_advance(parser);
    }
    if (parse_is(parser, "*")) {
        node->operation = SQL_STAR;
        return parse_advance(parser);
    }
    return parse_refuse(parser, "'%.*s' stands where a value should", (int)parser->token.length,
                        parser->token.text);
}

/* ---- Operators ---- */

static enum status parse_sign(struct parser *parser, struct sql_expression **out);

/* ~x is a function (engine/function/list.h), as the operators of bits. */
static enum status parse_bits(struct parser *parser, struct sql_expression **out)
{
    const struct sql_position position = parse_position(parser);
    struct sql_expression *operand;
    if (parser->depth >= SQL_DEPTH_MAX)
        return parse_refuse(parser, "more than %u operators follow each other; use parentheses",
                            SQL_DEPTH_MAX);
    parser->depth++;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_sign(parser, &operand));
    parser->depth--;
    RETURN_IF_ERROR(parse_node(parser, SQL_FUNCTION, position, operand, NULL, out));
    (*out)->name = "~";
    return STATUS_OK;
}

/* x AT TIME ZONE z is timezone(z, x), as in PostgreSQL. */
static enum status parse_zones(struct parser *parser, struct sql_expression **out)
{
    struct sql_expression *zone;
    for (unsigned zones = 0;; zones++) {
        const struct sql_position position = parse_position(parser);
        bool taken;
        RETURN_IF_ERROR(parse_at_zone(parser, &taken));
        if (!taken)
            return STATUS_OK;
        if (zones > SQL_DEPTH_MAX)
            return parse_refuse(parser, "more than %u zones follow each other", SQL_DEPTH_MAX);
        RETURN_IF_ERROR(parse_primary(parser, &zone));
        RETURN_IF_ERROR(parse_node(parser, SQL_FUNCTION, position, zone, *out, out));
        (*out)->name = "timezone";
        RETURN_IF_ERROR(parse_casts(parser, out));
    }
}

static enum status parse_sign(struct parser *parser, struct sql_expression **out)
{
    const struct sql_position position = parse_position(parser);
    bool minus = false;
    while (parse_is(parser, "-") || parse_is(parser, "+")) {
        minus ^= parse_is(parser, "-");
        RETURN_IF_ERROR(parse_advance(parser));
    }
    if (parse_is(parser, "~")) {
        RETURN_IF_ERROR(parse_bits(parser, out));
    } else {
        RETURN_IF_ERROR(parse_primary(parser, out));
        RETURN_IF_ERROR(parse_casts(parser, out));
        RETURN_IF_ERROR(parse_zones(parser, out));
    }
    return minus ? parse_node(parser, SQL_NEGATE, position, *out, NULL, out) : STATUS_OK;
}

struct binary {
    const char *symbol;
    enum sql_operation operation;
};

/* Parses operators of one precedence from left to right. A chain makes the tree as deep as the chain is long,
 * so its length is bounded. */
static enum status parse_chain(struct parser *parser, const struct binary *operators, size_t count,
                               enum status (*operand)(struct parser *, struct sql_expression **),
                               struct sql_expression **out)
{
    uint32_t length = 0;
    RETURN_IF_ERROR(operand(parser, out));
    for (;;) {
        size_t i = 0;
        while (i < count && !parse_is(parser, operators[i].symbol))
            i++;
        if (i == count)
            return STATUS_OK;
        struct sql_expression *right;
        const struct sql_position position = parse_position(parser);
        if (++length > SQL_DEPTH_MAX)
            return parse_refuse(parser, "more than %u operators follow each other; use parentheses",
                                SQL_DEPTH_MAX);
        RETURN_IF_ERROR(parse_advance(parser));
        bool taken = false;
        RETURN_IF_ERROR(operand(parser, &right));
        if (operators[i].operation == SQL_MULTIPLY)
            RETURN_IF_ERROR(parse_interval_times(parser, right, out, &taken));
        if (!taken)
            RETURN_IF_ERROR(parse_node(parser, operators[i].operation, position, *out, right, out));
        if (operators[i].operation == SQL_FUNCTION)
            (*out)->name = operators[i].symbol;
    }
}

/* As in SQLite, so that j ->> 'a' = 'x' and j ->> 'a' || 'x' need no parentheses. */
static enum status parse_json(struct parser *parser, struct sql_expression **out)
{
    static const struct binary operators[] = {{"->>", SQL_FUNCTION}, {"->", SQL_FUNCTION}};
    return parse_chain(parser, operators, 2, parse_sign, out);
}

static enum status parse_product(struct parser *parser, struct sql_expression **out)
{
    static const struct binary operators[] = {
        {"*", SQL_MULTIPLY}, {"/", SQL_DIVIDE}, {"//", SQL_DIVIDE}, {"%", SQL_REMAINDER}};
    return parse_chain(parser, operators, 4, parse_json, out);
}

static enum status parse_plus(struct parser *parser, struct sql_expression **out)
{
    static const struct binary operators[] = {{"+", SQL_ADD}, {"-", SQL_SUBTRACT}};
    return parse_chain(parser, operators, 2, parse_product, out);
}

static enum status parse_sum(struct parser *parser, struct sql_expression **out)
{
    static const struct binary operators[] = {{"||", SQL_CONCAT},
                                              {"&", SQL_FUNCTION},
                                              {"|", SQL_FUNCTION},
                                              {"<<", SQL_FUNCTION},
                                              {">>", SQL_FUNCTION}};
    return parse_chain(parser, operators, 5, parse_plus, out);
}

static enum status parse_in_list(struct parser *parser, struct sql_expression *node)
{
    RETURN_IF_ERROR(parse_expect(parser, "(", "behind IN"));
    if (parse_is_query(parser))
        return parse_subquery(parser, &node->query);
    return parse_list(parser, node, "behind the list of IN");
}

static enum status parse_test(struct parser *parser, struct sql_expression *value, bool negated, bool *found,
                              struct sql_expression **out)
{
    struct sql_expression *node;
    const struct sql_position position = parse_position(parser);
    *found = true;
    if (parse_is(parser, "BETWEEN")) {
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_node(parser, SQL_BETWEEN, position, value, NULL, &node));
        RETURN_IF_ERROR(child_parse(parser, node, parse_sum));
        RETURN_IF_ERROR(parse_expect(parser, "AND", "in BETWEEN"));
        RETURN_IF_ERROR(child_parse(parser, node, parse_sum));
    } else if (parse_is(parser, "IN")) {
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_node(parser, SQL_IN, position, value, NULL, &node));
        node->comparison = SQL_EQUAL;
        RETURN_IF_ERROR(parse_in_list(parser, node));
    } else if (parse_is(parser, "LIKE")) {
        bool escape;
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_node(parser, SQL_LIKE, position, value, NULL, &node));
        RETURN_IF_ERROR(child_parse(parser, node, parse_sum));
        RETURN_IF_ERROR(parse_take(parser, "ESCAPE", &escape));
        if (escape) {
            RETURN_IF_ERROR(child_parse(parser, node, parse_sum));
        }
    } else {
        *found = false;
        return STATUS_OK;
    }
    node->negated = negated;
    *out = node;
    return STATUS_OK;
}

static enum status make_is_null(struct parser *parser, struct sql_position position, bool negated,
                                struct sql_expression **out)
{
    RETURN_IF_ERROR(parse_node(parser, SQL_IS_NULL, position, *out, NULL, out));
    (*out)->negated = negated;
    return STATUS_OK;
}

static enum status parse_is_null(struct parser *parser, struct sql_position position,
                                 struct sql_expression **out)
{
    bool negated;
    RETURN_IF_ERROR(parse_take(parser, "NOT", &negated));
    bool taken;
    RETURN_IF_ERROR(parse_is_predicate(parser, position, negated, &taken, out));
    if (taken)
        return STATUS_OK;
    if (!parse_is(parser, "NULL"))
        return parse_refuse(parser,
                            "IS [NOT] stands before NULL, TRUE, FALSE, UNKNOWN and DISTINCT FROM only; "
                            "compare by =");
    RETURN_IF_ERROR(parse_advance(parser));
    return make_is_null(parser, position, negated, out);
}

/* x ISNULL, x NOTNULL and x NOT NULL, as SQLite and PostgreSQL have them; `negated`: NOT was read. */
static enum status parse_null_word(struct parser *parser, struct sql_position position, bool negated,
                                   bool *found, struct sql_expression **out)
{
    static const char *const words[] = {"ISNULL", "NOTNULL", "NULL"};
    *found = false;
    for (int w = negated ? 2 : 0; w < (negated ? 3 : 2) && !*found; w++) {
        RETURN_IF_ERROR(parse_take(parser, words[w], found));
        if (*found)
            return make_is_null(parser, position, w > 0, out);
    }
    return STATUS_OK;
}

static enum status parse_comparison(struct parser *parser, struct sql_expression **out)
{
    static const struct binary operators[] = {
        {"=", SQL_EQUAL},       {"==", SQL_EQUAL}, {"<>", SQL_NOT_EQUAL},     {"!=", SQL_NOT_EQUAL},
        {"<=", SQL_LESS_EQUAL}, {"<", SQL_LESS},   {">=", SQL_GREATER_EQUAL}, {">", SQL_GREATER}};
    uint32_t length = 0;
    RETURN_IF_ERROR(parse_sum(parser, out));
    for (;;) {
        const struct sql_position position = parse_position(parser);
        bool taken, found;
        if (length++ > SQL_DEPTH_MAX)
            return parse_refuse(parser, "more than %u comparisons follow each other; use AND", SQL_DEPTH_MAX);
        RETURN_IF_ERROR(parse_take(parser, "IS", &taken));
        if (taken) {
            RETURN_IF_ERROR(parse_is_null(parser, position, out));
            continue;
        }
        RETURN_IF_ERROR(parse_take(parser, "NOT", &taken));
        RETURN_IF_ERROR(parse_test(parser, *out, taken, &found, out));
        if (!found)
            RETURN_IF_ERROR(parse_pattern(parser, position, taken, &found, out));
        if (!found)
            RETURN_IF_ERROR(parse_null_word(parser, position, taken, &found, out));
        if (found)
            continue;
        if (taken)
            return parse_refuse(parser, "NOT stands here before BETWEEN, IN, LIKE, ILIKE and NULL only");
        size_t i = 0;
        while (i < sizeof operators / sizeof *operators && !parse_is(parser, operators[i].symbol))
            i++;
        if (i == sizeof operators / sizeof *operators) {
            static const char *const refused[] = {"GLOB", "MATCH", "COLLATE"};
            for (size_t r = 0; r < sizeof refused / sizeof *refused; r++)
                if (parse_is(parser, refused[r]))
                    return parse_refuse(parser, "%s is not supported", refused[r]);
            return STATUS_OK;
        }
        struct sql_expression *right;
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_any(parser, position, operators[i].operation, &found, out));
        if (found)
            continue;
        RETURN_IF_ERROR(parse_sum(parser, &right));
        RETURN_IF_ERROR(parse_node(parser, operators[i].operation, position, *out, right, out));
    }
}

static enum status parse_not(struct parser *parser, struct sql_expression **out)
{
    const struct sql_position position = parse_position(parser);
    bool negated = false;
    while (parse_is(parser, "NOT")) {
        negated = !negated;
        RETURN_IF_ERROR(parse_advance(parser));
    }
    RETURN_IF_ERROR(parse_comparison(parser, out));
    return negated ? parse_node(parser, SQL_NOT, position, *out, NULL, out) : STATUS_OK;
}

/* Parses the operands of a chain of ANDs or ORs, of any length, into one node. */
static enum status parse_flat(struct parser *parser, const char *word, enum sql_operation operation,
                              enum status (*operand)(struct parser *, struct sql_expression **),
                              struct sql_expression **out)
{
    RETURN_IF_ERROR(operand(parser, out));
    if (!parse_is(parser, word))
        return STATUS_OK;
    struct sql_expression *node;
    bool more = true;
    RETURN_IF_ERROR(parse_node(parser, operation, parse_position(parser), *out, NULL, &node));
    RETURN_IF_ERROR(parse_advance(parser));
    while (more) {
        RETURN_IF_ERROR(child_parse(parser, node, operand));
        RETURN_IF_ERROR(parse_take(parser, word, &more));
    }
    *out = node;
    return STATUS_OK;
}

static enum status parse_and(struct parser *parser, struct sql_expression **out)
{
    return parse_flat(parser, "AND", SQL_AND, parse_not, out);
}

static enum status parse_or(struct parser *parser, struct sql_expression **out)
{
    return parse_flat(parser, "OR", SQL_OR, parse_and, out);
}

/* ---- For functions/parse_words.c ---- */

enum status parse_operand(struct parser *parser, struct sql_expression **out)
{
    return parse_sum(parser, out);
}
