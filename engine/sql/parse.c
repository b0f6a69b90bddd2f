/*
 * parse.c: parses statements (ast.h) by recursive descent, with one function for each clause. Expressions are
 * parsed in parse_expression.c. SQL that Tessera does not answer is refused by name.
 */
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/sql_error.h"
#include "engine/sql/parse_internal.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/word.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

/* The arena allocates blocks of this size and hands out pieces that are aligned for pointers. */
#define BLOCK_BYTES ((size_t)64 << 10)

struct sql_statement_tree *sql_tree_new(void)
{
    return calloc(1, sizeof(struct sql_statement_tree));
}

void *parse_memory(struct parser *parser, size_t bytes)
{
    return sql_tree_memory(parser->tree, bytes);
}

void *sql_tree_memory(struct sql_statement_tree *tree, size_t bytes)
{
    bytes = (bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
    if (bytes > (size_t)(tree->end - tree->next)) {
        const size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        void **block = calloc(1, sizeof(void *) + room);
        if (!block)
            return NULL;
        *block = tree->blocks;
        tree->blocks = block;
        tree->next = (char *)(block + 1);
        tree->end = tree->next + room;
        tree->bytes += sizeof(void *) + room;
    }
    void *const piece = tree->next;
    tree->next += bytes;
    return piece;
}

void sql_tree_free(struct sql_statement_tree *tree)
{
    if (!tree)
        return;
    for (void **block = tree->blocks; block;) {
        void **next = *block;
        free(block);
        block = next;
    }
    free(tree);
}

uint64_t sql_tree_bytes(const struct sql_statement_tree *tree)
{
    return tree ? sizeof *tree + tree->bytes : 0;
}

const struct sql_select *sql_tree_select(const struct sql_statement_tree *tree)
{
    return &tree->select;
}

/* Doubles the list when its count reaches a power of two; the old list stays in the arena, unused. */
enum status sql_tree_append(struct sql_statement_tree *tree, void *list, uint32_t *count, size_t bytes,
                            const void *item, struct error *error)
{
    char *items;
    memcpy(&items, list, sizeof items);
    if ((*count & (*count - 1)) == 0) {
        char *grown = sql_tree_memory(tree, (*count ? 2 * (size_t)*count : 1) * bytes);
        if (!grown)
            return error_out_of_memory(error, *count * bytes, "a statement");
        if (*count)
            memcpy(grown, items, *count * bytes);
        items = grown;
        memcpy(list, &items, sizeof items);
    }
    memcpy(items + *count * bytes, item, bytes);
    (*count)++;
    return STATUS_OK;
}

enum status parse_append(struct parser *parser, void *list, uint32_t *count, size_t bytes, const void *item)
{
    return sql_tree_append(parser->tree, list, count, bytes, item, parser->error);
}

/* ---- Tokens ---- */

struct sql_position parse_position(const struct parser *parser)
{
    return parser->all.line ? parser->all : (struct sql_position){parser->token.line, parser->token.column};
}

enum status parse_refuse(const struct parser *parser, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(
        parser->error, (struct sql_position){parser->token.line, parser->token.column}, format, arguments);
    va_end(arguments);
    return status;
}

enum status parse_advance(struct parser *parser)
{
    parser->before_end = parser->token.text ? parser->token.text + parser->token.length : NULL;
    return sql_token_next(&parser->tokens, &parser->token, parser->error);
}

bool parse_is(const struct parser *parser, const char *word)
{
    return sql_token_is(&parser->token, word);
}

enum status parse_take(struct parser *parser, const char *word, bool *taken)
{
    *taken = parse_is(parser, word);
    return *taken ? parse_advance(parser) : STATUS_OK;
}

enum status parse_expect(struct parser *parser, const char *word, const char *where)
{
    if (parse_is(parser, word))
        return parse_advance(parser);
    if (parser->token.kind == TOKEN_END)
        return parse_refuse(parser, "the statement ends where %s should stand %s", word, where);
    return parse_refuse(parser, "'%.*s' stands where %s should %s", (int)parser->token.length,
                        parser->token.text, word, where);
}

enum status parse_text(struct parser *parser, bool lower, const char **text)
{
    char *copy = parse_memory(parser, parser->token.length + 1);
    if (!copy)
        return error_out_of_memory(parser->error, parser->token.length, "a statement");
    const size_t length = sql_token_text(&parser->token, copy);
    for (size_t i = 0; lower && i < length; i++)
        copy[i] += copy[i] >= 'A' && copy[i] <= 'Z' ? 'a' - 'A' : 0;
    if (strlen(copy) != length)
        return parse_refuse(parser, "there is a zero byte in the text");
    *text = copy;
    return STATUS_OK;
}

bool parse_is_name(const struct parser *parser)
{
    if (parser->token.kind == TOKEN_NAME)
        return true;
    return parser->token.kind == TOKEN_WORD && !sql_is_keyword(parser->token.text, parser->token.length) &&
           !parse_is_fetch(parser);
}

enum status parse_name(struct parser *parser, const char *what, const char **name)
{
    if (parse_is_name(parser)) {
        RETURN_IF_ERROR(parse_text(parser, false, name));
        return parse_advance(parser);
    }
    if (parser->token.kind == TOKEN_END)
        return parse_refuse(parser, "the statement ends where %s should stand", what);
    const bool comma = parser->before_end && parser->before_end[-1] == ',';
    return parse_refuse(parser, "'%.*s' stands where %s should%s", (int)parser->token.length,
                        parser->token.text, what, comma ? "; is the comma before it one too many?" : "");
}

/* ---- Clauses ---- */

static enum status parse_item(struct parser *parser)
{
    struct sql_item item = {0};
    bool as;
    const char *const begin = parser->token.text;
    RETURN_IF_ERROR(parse_expression(parser, &item.expression));
    const size_t length = (size_t)(parser->before_end - begin);
    char *text = parse_memory(parser, length + 1);
    if (!text)
        return error_out_of_memory(parser->error, length, "a statement");
    memcpy(text, begin, length);
    item.text = text;
    if (item.expression->operation == SQL_STAR)
        RETURN_IF_ERROR(parse_star_changes(parser, &item));
    RETURN_IF_ERROR(parse_take(parser, "AS", &as));
    if (!as && parser->token.kind == TOKEN_NAME && parser->token.text[0] == '[' &&
        strchr("0123456789-:", parser->token.text[1]))
        return parse_refuse(
            parser, "values have no elements here: substr(s, n, 1) is the n-th character of a string; an "
                    "alias in brackets that begins so needs AS");
    if (as || parse_is_name(parser))
        RETURN_IF_ERROR(parse_name(parser, "an alias", &item.alias));
    struct sql_select *select = parser->select;
    return parse_append(parser, &select->items, &select->item_count, sizeof item, &item);
}

static enum status parse_groups(struct parser *parser)
{
    RETURN_IF_ERROR(parse_expect(parser, "BY", "behind GROUP"));
    return parse_grouping(parser);
}

enum status parse_order(struct parser *parser, struct sql_order *order)
{
    bool taken;
    *order = (struct sql_order){0};
    RETURN_IF_ERROR(parse_expression(parser, &order->expression));
    RETURN_IF_ERROR(parse_take(parser, "DESC", &order->descending));
    if (!order->descending)
        RETURN_IF_ERROR(parse_take(parser, "ASC", &taken));
    order->nulls_first = !order->descending;
    RETURN_IF_ERROR(parse_take(parser, "NULLS", &taken));
    if (!taken)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_take(parser, "FIRST", &order->nulls_first));
    return order->nulls_first ? STATUS_OK : parse_expect(parser, "LAST", "behind NULLS");
}

enum status parse_orders(struct parser *parser, struct sql_order **orders, uint32_t *count)
{
    bool more = true;
    RETURN_IF_ERROR(parse_expect(parser, "BY", "behind ORDER"));
    while (more) {
        struct sql_order order;
        RETURN_IF_ERROR(parse_order(parser, &order));
        RETURN_IF_ERROR(parse_append(parser, orders, count, sizeof order, &order));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}

/* LIMIT count [OFFSET first] or, as in SQLite, LIMIT first, count. */
static enum status parse_limit(struct parser *parser)
{
    struct sql_select *select = parser->select;
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "ALL", &taken));
    if (taken)
        RETURN_IF_ERROR(parse_all_rows(parser, &select->limit));
    else
        RETURN_IF_ERROR(parse_expression(parser, &select->limit));
    RETURN_IF_ERROR(parse_take(parser, "OFFSET", &taken));
    if (taken) {
        RETURN_IF_ERROR(parse_expression(parser, &select->offset));
    } else {
        RETURN_IF_ERROR(parse_take(parser, ",", &taken));
        if (taken) {
            select->offset = select->limit;
            RETURN_IF_ERROR(parse_expression(parser, &select->limit));
        }
    }
    return STATUS_OK;
}

/* True if the expression names a column, or aggregates: then it is no constant. */
static bool names_rows(const struct sql_expression *expression)
{
    bool any = expression->operation == SQL_COLUMN || expression->operation == SQL_STAR ||
               sql_is_aggregate(expression);
    for (uint32_t c = 0; c < expression->child_count && !any; c++)
        any = names_rows(expression->children[c]);
    return any;
}

static enum status check_limit(const struct parser *parser)
{
    const struct sql_select *const select = parser->select;
    const struct sql_expression *const both[] = {select->limit, select->offset};
    for (int i = 0; i < 2; i++)
        if (both[i] && names_rows(both[i]))
            return error_set(parser->error, STATUS_BAD_INPUT,
                             "line %u, column %u: LIMIT and OFFSET take whole numbers from 0, constants or "
                             "subqueries",
                             both[i]->position.line, both[i]->position.column);
    return STATUS_OK;
}

enum status parse_items(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    bool taken, more = true;
    RETURN_IF_ERROR(parse_take(parser, "DISTINCT", &select->distinct));
    if (select->distinct)
        RETURN_IF_ERROR(parse_distinct_on(parser));
    if (!select->distinct && !select->first_count)
        RETURN_IF_ERROR(parse_take(parser, "ALL", &taken));
    while (more) {
        RETURN_IF_ERROR(parse_item(parser));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}

static enum status parse_items_and_from(struct parser *parser)
{
    bool taken;
    if (parse_is(parser, "FROM"))
        return parse_from_first(parser);
    RETURN_IF_ERROR(parse_expect(parser, "SELECT", "at the beginning of a query"));
    RETURN_IF_ERROR(parse_items(parser));
    RETURN_IF_ERROR(parse_take(parser, "FROM", &taken));
    return taken ? parse_from(parser) : STATUS_OK;
}

enum status parse_select(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    bool taken;
    RETURN_IF_ERROR(parse_items_and_from(parser));
    RETURN_IF_ERROR(parse_take(parser, "WHERE", &taken));
    if (taken)
        RETURN_IF_ERROR(parse_expression(parser, &select->where));
    RETURN_IF_ERROR(parse_take(parser, "GROUP", &taken));
    if (taken)
        RETURN_IF_ERROR(parse_groups(parser));
    RETURN_IF_ERROR(parse_take(parser, "HAVING", &taken));
    if (taken)
        RETURN_IF_ERROR(parse_expression(parser, &select->having));
    RETURN_IF_ERROR(parse_windows(parser));
    RETURN_IF_ERROR(parse_take(parser, "QUALIFY", &taken));
    if (!taken)
        return STATUS_OK;
    return parse_expression(parser, &select->qualify);
}

enum status parse_order_and_limit(struct parser *parser)
{
    struct sql_select *select = parser->select;
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "ORDER", &taken));
    select->order_all = taken && parse_is_order_all(parser);
    if (taken)
        RETURN_IF_ERROR(parse_orders(parser, &select->orders, &select->order_count));
    RETURN_IF_ERROR(parse_take(parser, "LIMIT", &taken));
    RETURN_IF_ERROR(taken ? parse_limit(parser) : parse_fetch(parser));
    RETURN_IF_ERROR(check_limit(parser));
    return parse_first_of(parser);
}

/* ---- Statements ---- */

static enum status refuse_statement(const struct parser *parser)
{
    static const char *const others[] = {"INSERT", "UPDATE", "DELETE", "CREATE", "DROP",   "ALTER",  "COPY",
                                         "BEGIN",  "COMMIT", "PRAGMA", "ATTACH", "VACUUM", "REPLACE"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (parse_is(parser, others[i]))
            return parse_refuse(
                parser,
                "%s is no query; a query begins with SELECT, WITH or VALUES, and it alone is explained",
                others[i]);
    return parse_refuse_word(parser, true);
}

static enum status parse_end(const struct parser *parser)
{
    return parser->token.kind == TOKEN_END ? STATUS_OK : parse_refuse_word(parser, false);
}

/* *option: the parenthesis begins with an option of EXPLAIN, and not with a query. */
static enum status find_option(const struct parser *parser, bool *option)
{
    struct parser ahead = *parser;
    *option = parse_is(parser, "(");
    if (!*option)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_advance(&ahead));
    *option = parse_is(&ahead, "ANALYZE") || parse_is(&ahead, "FORMAT");
    return STATUS_OK;
}

/* EXPLAIN [ANALYZE] [(ANALYZE | FORMAT TEXT | FORMAT JSON, ...)] */
static enum status parse_explain(struct parser *parser)
{
    struct sql_select *const select = &parser->tree->select;
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "ANALYZE", &taken));
    select->explain = taken ? SQL_EXPLAIN_ANALYZE : SQL_EXPLAIN;
    RETURN_IF_ERROR(find_option(parser, &taken));
    if (!taken)
        return STATUS_OK;
    do {
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_take(parser, "ANALYZE", &taken));
        if (taken) {
            select->explain = SQL_EXPLAIN_ANALYZE;
            continue;
        }
        RETURN_IF_ERROR(parse_expect(parser, "FORMAT", "in the options of EXPLAIN"));
        RETURN_IF_ERROR(parse_take(parser, "JSON", &taken));
        select->explain_json = taken;
        if (!taken)
            RETURN_IF_ERROR(parse_expect(parser, "TEXT", "after FORMAT: TEXT or JSON is"));
    } while (parse_is(parser, ","));
    return parse_expect(parser, ")", "after the options of EXPLAIN");
}

static enum status parse_statement(struct parser *parser)
{
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "EXPLAIN", &taken));
    if (taken)
        RETURN_IF_ERROR(parse_explain(parser));
    if (!parse_begins_query(parser))
        return refuse_statement(parser);
    RETURN_IF_ERROR(parse_query(parser, &parser->tree->select));
    return parse_is(parser, ";") ? STATUS_OK : parse_end(parser);
}

enum status sql_parse(const char *text, size_t length, struct sql_statement_tree **out, size_t *used,
                      struct error *error)
{
    return sql_parse_asking(text, length, NULL, out, used, error);
}

enum status sql_parse_asking(const char *text, size_t length, const struct sql_asker *asker,
                             struct sql_statement_tree **out, size_t *used, struct error *error)
{
    struct sql_statement_tree *tree = calloc(1, sizeof *tree);
    struct parser parser = {.tree = tree, .asker = asker, .error = error};
    *out = NULL;
    *used = length;
    if (!tree)
        return error_out_of_memory(error, sizeof *tree, "a statement");
    sql_tokens_begin(&parser.tokens, text, length);
    enum status status = parse_advance(&parser);
    while (status == STATUS_OK && parse_is(&parser, ";"))
        status = parse_advance(&parser);
    const bool empty = status == STATUS_OK && parser.token.kind == TOKEN_END;
    if (status == STATUS_OK && !empty)
        status = parse_statement(&parser);
    if (status == STATUS_OK && !empty) {
        *used = (size_t)(parser.token.text - text) + parser.token.length;
        *out = tree;
        return STATUS_OK;
    }
    sql_tree_free(tree);
    return status;
}

enum status sql_parse_condition(const char *text, size_t length, struct sql_position place,
                                struct sql_statement_tree **out, struct error *error)
{
    struct sql_statement_tree *const tree = sql_tree_new();
    *out = NULL;
    if (!tree)
        return error_out_of_memory(error, sizeof *tree, "a condition");
    struct parser parser = {.tree = tree, .select = &tree->select, .error = error};
    sql_tokens_begin(&parser.tokens, text, length);
    parser.tokens.line = place.line;
    parser.tokens.column = place.column;
    enum status status = parse_advance(&parser);
    if (status == STATUS_OK)
        status = parse_expression(&parser, &tree->select.where);
    if (status == STATUS_OK)
        status = parse_end(&parser);
    if (status == STATUS_OK)
        *out = tree;
    else
        sql_tree_free(tree);
    return status;
}

enum status sql_parse_made(struct sql_statement_tree *tree, const char *text, size_t length,
                           struct sql_position place, struct sql_select **select, struct error *error)
{
    struct parser parser = {.tree = tree, .all = place, .error = error};
    *select = parse_memory(&parser, sizeof **select);
    if (!*select)
        return error_out_of_memory(error, sizeof **select, "a statement");
    sql_tokens_begin(&parser.tokens, text, length);
    RETURN_IF_ERROR(parse_advance(&parser));
    RETURN_IF_ERROR(parse_query(&parser, *select));
    return parse_end(&parser);
}

bool sql_complete(const char *text, size_t length)
{
    struct sql_tokens tokens;
    struct sql_token token = {.kind = TOKEN_SYMBOL};
    struct error error;
    sql_tokens_begin(&tokens, text, length);
    while (token.kind != TOKEN_END) {
        if (sql_token_next(&tokens, &token, &error) != STATUS_OK)
            return false;
        if (sql_token_is(&token, ";"))
            return true;
    }
    return false;
}
