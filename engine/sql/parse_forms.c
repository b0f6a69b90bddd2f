/*
 * parse_forms.c: other ways to write what the rest of the parser knows: rows in parentheses, ANY and ALL, IF, products of
 * intervals, DISTINCT ON, FETCH FIRST. Each becomes the tree of the longer form.
 */
#include "engine/sql/functions/parse_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rows ---- */

struct row {
    uint32_t count;
    struct sql_expression **values;
};

static enum status add_value(struct parser *parser, struct row *row, struct sql_expression *value)
{
    return parse_append(parser, &row->values, &row->count, sizeof value, &value);
}

/* Parses values up to the parenthesis after them. */
static enum status parse_values_left(struct parser *parser, struct row *row)
{
    struct sql_expression *value;
    bool more = true;
    while (more) {
        RETURN_IF_ERROR(parse_expression(parser, &value));
        RETURN_IF_ERROR(add_value(parser, row, value));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, ")", "to close the parenthesis");
}

/* a = c AND b = d */
static enum status rows_equal(struct parser *parser, struct sql_position position, const struct row *left,
                              const struct row *right, struct sql_expression **out)
{
    struct sql_expression *equal;
    if (left->count != right->count)
        return parse_refuse(parser, "a row of %u values is compared with one of %u", left->count,
                            right->count);
    RETURN_IF_ERROR(parse_node(parser, SQL_AND, position, NULL, NULL, out));
    for (uint32_t v = 0; v < left->count; v++) {
        RETURN_IF_ERROR(parse_node(parser, SQL_EQUAL, position, left->values[v], right->values[v], &equal));
        RETURN_IF_ERROR(parse_child(parser, *out, equal));
    }
    return STATUS_OK;
}

static enum status parse_other_row(struct parser *parser, struct sql_position position,
                                   const struct row *left, struct sql_expression **out)
{
    struct row right = {0};
    RETURN_IF_ERROR(parse_expect(parser, "(", "before the values of a row"));
    RETURN_IF_ERROR(parse_values_left(parser, &right));
    return rows_equal(parser, position, left, &right, out);
}

/* (a, b) IN (SELECT ...) */
static enum status parse_row_query(struct parser *parser, struct sql_position position,
                                   const struct row *left, struct sql_expression **out)
{
    RETURN_IF_ERROR(parse_node(parser, SQL_IN, position, NULL, NULL, out));
    (*out)->comparison = SQL_EQUAL;
    for (uint32_t v = 0; v < left->count; v++)
        RETURN_IF_ERROR(parse_child(parser, *out, left->values[v]));
    return parse_subquery(parser, &(*out)->query);
}

static enum status parse_row_list(struct parser *parser, struct sql_position position, const struct row *left,
                                  struct sql_expression **out)
{
    struct sql_expression *equal;
    bool more = true;
    RETURN_IF_ERROR(parse_expect(parser, "(", "behind IN"));
    if (parse_is_query(parser))
        return parse_row_query(parser, position, left, out);
    RETURN_IF_ERROR(parse_node(parser, SQL_OR, position, NULL, NULL, out));
    while (more) {
        RETURN_IF_ERROR(parse_other_row(parser, position, left, &equal));
        RETURN_IF_ERROR(parse_child(parser, *out, equal));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    if ((*out)->child_count == 1)
        *out = equal;
    return parse_expect(parser, ")", "behind the list of IN");
}

enum status parse_row_test(struct parser *parser, struct sql_expression *first, struct sql_expression **out)
{
    const struct sql_position position = first->position;
    struct row left = {0};
    bool negated, in, equal;
    RETURN_IF_ERROR(add_value(parser, &left, first));
    RETURN_IF_ERROR(parse_advance(parser)); /* the comma */
    RETURN_IF_ERROR(parse_values_left(parser, &left));
    RETURN_IF_ERROR(parse_take(parser, "NOT", &negated));
    RETURN_IF_ERROR(parse_take(parser, "IN", &in));
    if (in) {
        RETURN_IF_ERROR(parse_row_list(parser, position, &left, out));
    } else {
        RETURN_IF_ERROR(parse_take(parser, "=", &equal));
        if (!equal && !negated && (parse_is(parser, "<>") || parse_is(parser, "!="))) {
            negated = equal = true;
            RETURN_IF_ERROR(parse_advance(parser));
        }
        if (!equal)
            return parse_refuse(
                parser, "a row in parentheses is compared by IN, = or <> only; different rows are counted by "
                        "SELECT count(*) FROM (SELECT DISTINCT ...)");
        RETURN_IF_ERROR(parse_other_row(parser, position, &left, out));
    }
    return negated ? parse_node(parser, SQL_NOT, position, *out, NULL, out) : STATUS_OK;
}

/* ---- ANY and ALL ---- */

/* x > ALL (query) is NOT x <= ANY (query). */
static enum sql_operation opposite(enum sql_operation comparison)
{
    switch (comparison) {
    case SQL_EQUAL:
        return SQL_NOT_EQUAL;
    case SQL_NOT_EQUAL:
        return SQL_EQUAL;
    case SQL_LESS:
        return SQL_GREATER_EQUAL;
    case SQL_LESS_EQUAL:
        return SQL_GREATER;
    case SQL_GREATER:
        return SQL_LESS_EQUAL;
    default: /* SQL_GREATER_EQUAL */
        return SQL_LESS;
    }
}

/* Parses the items of ARRAY[a, b], whose brackets the tokens take for a quoted name, as children of `node`. */
static enum status parse_array(struct parser *parser, struct sql_expression *node)
{
    const struct sql_token bracket = parser->token;
    bool more = true;
    if (bracket.kind != TOKEN_NAME || bracket.text[0] != '[')
        return parse_refuse(parser, "ARRAY stands before [value, ...] only");
    parser->tokens.at = (size_t)(bracket.text - parser->tokens.text) + 1;
    parser->tokens.line = bracket.line;
    parser->tokens.column = bracket.column + 1;
    RETURN_IF_ERROR(parse_advance(parser));
    while (more) {
        struct sql_expression *item;
        RETURN_IF_ERROR(parse_expression(parser, &item));
        RETURN_IF_ERROR(parse_child(parser, node, item));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, "]", "behind the items of ARRAY");
}

/* Parses ARRAY[...] in any number of parentheses, with casts to arrays, as PostgreSQL writes x IN (...) and
 * x NOT IN (...); the items say what their type is. One parenthesis has been read. */
static enum status parse_any_of_array(struct parser *parser, struct sql_expression *node)
{
    uint32_t open = 1;
    bool more = true, taken;
    while (more) {
        RETURN_IF_ERROR(parse_take(parser, "(", &more));
        open += more;
    }
    RETURN_IF_ERROR(parse_expect(parser, "ARRAY", "behind ANY ("));
    RETURN_IF_ERROR(parse_array(parser, node));
    while (open) {
        struct sql_expression cast = {0};
        RETURN_IF_ERROR(parse_take(parser, "::", &taken));
        if (taken) {
            RETURN_IF_ERROR(parse_type(parser, &cast));
            if (parser->token.kind != TOKEN_NAME || parser->token.length != 2)
                return parse_refuse(parser, "an ARRAY becomes an array by a cast: ::%s[]", cast.name);
            RETURN_IF_ERROR(parse_advance(parser));
        }
        RETURN_IF_ERROR(parse_expect(parser, ")", "behind an ARRAY"));
        open--;
    }
    return STATUS_OK;
}

/* Whether ARRAY follows, maybe after parentheses. */
static bool is_array(struct parser parser)
{
    while (parse_is(&parser, "("))
        if (parse_advance(&parser) != STATUS_OK)
            return false;
    return parse_is(&parser, "ARRAY") && parse_advance(&parser) == STATUS_OK &&
           parser.token.kind == TOKEN_NAME && parser.token.text[0] == '[';
}

enum status parse_any(struct parser *parser, struct sql_position position, enum sql_operation comparison,
                      bool *taken, struct sql_expression **out)
{
    const struct parser before = *parser;
    const bool all = parse_is(parser, "ALL");
    bool parenthesis;
    *taken = false;
    if (!all && !parse_is(parser, "ANY") && !parse_is(parser, "SOME"))
        return STATUS_OK;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_take(parser, "(", &parenthesis));
    const bool array = parenthesis && comparison == (all ? SQL_NOT_EQUAL : SQL_EQUAL) && is_array(*parser);
    if (!parenthesis || !(array || parse_is_query(parser))) { /* a column of that name */
        *parser = before;
        return STATUS_OK;
    }
    *taken = true;
    RETURN_IF_ERROR(parse_node(parser, SQL_IN, position, *out, NULL, out));
    (*out)->negated = all;
    (*out)->comparison = all ? opposite(comparison) : comparison;
    return array ? parse_any_of_array(parser, *out) : parse_subquery(parser, &(*out)->query);
}

/* ---- IF ---- */

void parse_if(struct sql_expression *function)
{
    if (function->child_count != 3 || function->window ||
        (strcmp(function->name, "if") != 0 && strcmp(function->name, "iif") != 0))
        return;
    function->operation = SQL_CASE;
    function->has_else = true;
    function->name = NULL;
}

/* ---- Intervals ---- */

static bool is_whole(const struct sql_expression *node, long long *number)
{
    char *end;
    if (node->operation != SQL_NUMBER && node->operation != SQL_INTERVAL)
        return false;
    *number = strtoll(node->text, &end, 10);
    return end != node->text && *end == '\0' && *number < 1000000000 && *number > -1000000000;
}

enum status parse_interval_times(struct parser *parser, const struct sql_expression *right,
                                 struct sql_expression **left, bool *taken)
{
    const struct sql_expression *const interval = right->operation == SQL_INTERVAL ? right : *left;
    long long a, b;
    *taken = ((*left)->operation == SQL_INTERVAL) != (right->operation == SQL_INTERVAL) &&
             is_whole(*left, &a) && is_whole(right, &b);
    if (!*taken)
        return STATUS_OK;
    char *const text = parse_memory(parser, 24);
    if (!text)
        return error_out_of_memory(parser->error, 24, "a statement");
    snprintf(text, 24, "%lld", a * b);
    RETURN_IF_ERROR(parse_node(parser, SQL_INTERVAL, interval->position, NULL, NULL, left));
    (*left)->text = text;
    (*left)->name = interval->name;
    return STATUS_OK;
}

/* ---- DISTINCT ON ---- */

enum status parse_distinct_on(struct parser *parser)
{
    struct row on = {0};
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "ON", &taken));
    if (!taken)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_expect(parser, "(", "behind DISTINCT ON"));
    RETURN_IF_ERROR(parse_values_left(parser, &on));
    parser->select->distinct = false;
    parser->select->first_count = on.count;
    parser->select->first_of = on.values;
    return STATUS_OK;
}

/* The item that ORDER BY 2 names. */
static struct sql_expression *ordered_by(const struct sql_select *select, struct sql_expression *term)
{
    long long number;
    const bool item = term->operation == SQL_NUMBER && is_whole(term, &number) && number >= 1 &&
                      number <= select->item_count;
    return item ? select->items[number - 1].expression : term;
}

/* DISTINCT ON (a) ... ORDER BY a, b becomes QUALIFY row_number() OVER (PARTITION BY a ORDER BY a, b) = 1. */
enum status parse_first_of(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    struct sql_expression *number, *one, *first;
    if (select->first_count == 0)
        return STATUS_OK;
    const struct sql_position position = select->first_of[0]->position;
    struct sql_window *const window = parse_memory(parser, sizeof *window);
    if (!window)
        return error_out_of_memory(parser->error, sizeof *window, "a statement");
    window->position = position;
    window->partition_count = select->first_count;
    window->partitions = select->first_of;
    const uint32_t orders = select->order_all ? select->item_count : select->order_count;
    for (uint32_t o = 0; o < orders; o++) {
        struct sql_order order = select->orders[select->order_all ? 0 : o];
        order.expression =
            select->order_all ? select->items[o].expression : ordered_by(select, order.expression);
        RETURN_IF_ERROR(parse_append(parser, &window->orders, &window->order_count, sizeof order, &order));
    }
    for (uint32_t p = 0; p < window->partition_count; p++)
        window->partitions[p] = ordered_by(select, window->partitions[p]);
    RETURN_IF_ERROR(parse_node(parser, SQL_FUNCTION, position, NULL, NULL, &number));
    number->name = "row_number";
    number->window = window;
    RETURN_IF_ERROR(parse_node(parser, SQL_NUMBER, position, NULL, NULL, &one));
    one->text = "1";
    RETURN_IF_ERROR(parse_node(parser, SQL_EQUAL, position, number, one, &first));
    if (select->qualify)
        RETURN_IF_ERROR(parse_node(parser, SQL_AND, position, select->qualify, first, &first));
    select->qualify = first;
    select->first_count = 0;
    return STATUS_OK;
}

/* ---- FETCH FIRST ---- */

bool parse_is_fetch(const struct parser *parser)
{
    struct parser next = *parser;
    struct error error; /* of the next token, which is told when it is reached */
    next.error = &error;
    return parse_is(parser, "FETCH") && parse_advance(&next) == STATUS_OK &&
           (parse_is(&next, "FIRST") || parse_is(&next, "NEXT"));
}

static enum status parse_rows_word(struct parser *parser, bool *taken)
{
    RETURN_IF_ERROR(parse_take(parser, "ROWS", taken));
    return *taken ? STATUS_OK : parse_take(parser, "ROW", taken);
}

/* FIRST [n] ROWS ONLY */
static enum status parse_fetched(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    bool one, rows;
    RETURN_IF_ERROR(parse_advance(parser)); /* FETCH */
    RETURN_IF_ERROR(parse_advance(parser)); /* FIRST or NEXT */
    RETURN_IF_ERROR(parse_rows_word(parser, &one));
    if (one) {
        RETURN_IF_ERROR(parse_node(parser, SQL_NUMBER, parse_position(parser), NULL, NULL, &select->limit));
        select->limit->text = "1";
    } else {
        RETURN_IF_ERROR(parse_expression(parser, &select->limit));
        RETURN_IF_ERROR(parse_rows_word(parser, &rows));
        if (!rows)
            return parse_refuse(parser, "FETCH FIRST is written FETCH FIRST n ROWS ONLY");
    }
    return parse_expect(parser, "ONLY", "at the end of FETCH FIRST");
}

enum status parse_fetch(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    bool offset, rows, limit;
    RETURN_IF_ERROR(parse_take(parser, "OFFSET", &offset));
    if (offset) {
        RETURN_IF_ERROR(parse_expression(parser, &select->offset));
        RETURN_IF_ERROR(parse_rows_word(parser, &rows));
    }
    if (parse_is_fetch(parser))
        return parse_fetched(parser);
    if (!offset)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_take(parser, "LIMIT", &limit));
    return limit ? parse_expression(parser, &select->limit) : parse_all_rows(parser, &select->limit);
}

enum status parse_all_rows(struct parser *parser, struct sql_expression **limit)
{
    RETURN_IF_ERROR(parse_node(parser, SQL_NUMBER, parse_position(parser), NULL, NULL, limit));
    (*limit)->text = "4000000000000000000";
    return STATUS_OK;
}
