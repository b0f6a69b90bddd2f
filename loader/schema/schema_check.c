/* schema_check.c: see schema_check.h. A condition is parsed by recursive descent into nodes that point backwards, so it
 * is evaluated by one recursive function without allocation. Its text is cleaned first: casts (::text) are cut out and
 * PostgreSQL's ARRAY[...] becomes ARRAY(...), which leaves the tokens of sql_token.h. */
#include "loader/schema/schema_check.h"

#include "loader/text/text_source.h"
#include "storage/base/sql_token.h"
#include "storage/base/words/word.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum node_kind {
    NODE_COLUMN,   /* a row's value */
    NODE_LENGTH,   /* the characters of a column's string */
    NODE_CONSTANT, /* a number in the unit of the column that it is compared with, or a string */
    NODE_COMPARE,  /* left OP right */
    NODE_IS_NULL,
    NODE_NOT,
    NODE_AND,
    NODE_OR
};

enum comparison { LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER_EQUAL, GREATER };

struct node {
    enum node_kind kind;
    enum comparison comparison;
    uint32_t left, right; /* nodes before this one */
    uint32_t column;
    bool string;
    int64_t number;
    const char *text; /* in the check's memory; before it is converted, as written */
    uint32_t length;
};

struct schema_check {
    char *text, *clean; /* as written; without casts; string constants point into `constants` */
    char *constants;
    size_t constant_bytes;
    const struct column_schema *columns; /* while it is parsed */
    uint32_t column_count, count;
    struct node nodes[CHECK_NODES_MAX];
};

struct reader {
    struct schema_check *check;
    struct sql_tokens tokens;
    struct sql_token token;
    char *reason; /* CHECK_REASON_BYTES; "" while all is understood */
    uint32_t depth;
};

#define DEPTH_MAX 64u

/* ---- The text without casts ---- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '"' || (unsigned char)c >= 0x80;
}

/* Skips the type after "::" and gives its end. */
static const char *skip_type(const char *at, const char *end)
{
    static const char *const more[] = {" varying", " precision", " without time zone", " with time zone"};
    while (at < end && *at == ' ')
        at++;
    while (at < end && is_word(*at))
        at++;
    for (size_t m = 0; m < sizeof more / sizeof *more; m++)
        if ((size_t)(end - at) >= strlen(more[m]) && word_compare_bytes(at, more[m], strlen(more[m])) == 0)
            at += strlen(more[m]);
    if (at < end && *at == '(')
        while (at < end && *at++ != ')')
            ;
    while (end - at >= 2 && at[0] == '[' && at[1] == ']')
        at += 2;
    return at;
}

static void clean_text(const char *text, size_t length, char *out)
{
    const char *const end = text + length;
    char quote = 0;
    while (text < end) {
        if (quote || *text == '\'' || *text == '"') {
            quote = !quote ? *text : *text == quote ? 0 : quote;
            *out++ = *text++;
        } else if (end - text > 2 && text[0] == ':' && text[1] == ':') {
            text = skip_type(text + 2, end);
            *out++ = ' ';
        } else {
            *out++ = *text == '[' ? '(' : *text == ']' ? ')' : *text;
            text++;
        }
    }
    *out = '\0';
}

/* ---- Parsing ---- */

static bool failed(const struct reader *reader)
{
    return reader->reason[0] != '\0';
}

static uint32_t fail(struct reader *reader, const char *reason)
{
    if (!failed(reader))
        snprintf(reader->reason, CHECK_REASON_BYTES, "%s", reason);
    return 0;
}

static uint32_t fail_here(struct reader *reader)
{
    char reason[CHECK_REASON_BYTES];
    snprintf(reason, sizeof reason, "'%.*s' is not understood",
             (int)(reader->token.length < 40 ? reader->token.length : 40), reader->token.text);
    return fail(reader, reader->token.kind == TOKEN_END ? "it ends early" : reason);
}

static void next(struct reader *reader)
{
    struct error error = {0};
    if (sql_token_next(&reader->tokens, &reader->token, &error) == STATUS_OK)
        return;
    reader->token = (struct sql_token){0};
    fail(reader, "it has signs that are not understood");
}

static bool take(struct reader *reader, const char *word)
{
    const bool there = !failed(reader) && sql_token_is(&reader->token, word);
    if (there)
        next(reader);
    return there;
}

static uint32_t add(struct reader *reader, struct node node)
{
    struct schema_check *const check = reader->check;
    if (check->count == CHECK_NODES_MAX)
        return fail(reader, "it is too long");
    check->nodes[check->count] = node;
    return check->count++;
}

static uint32_t copy_constant(struct reader *reader, bool minus)
{
    struct schema_check *const check = reader->check;
    char *const to = check->constants + check->constant_bytes;
    *to = '-';
    const size_t length = sql_token_text(&reader->token, to + minus) + minus;
    check->constant_bytes += length + 1;
    const struct node node = {.kind = NODE_CONSTANT,
                              .string = reader->token.kind == TOKEN_STRING,
                              .text = to,
                              .length = (uint32_t)length};
    next(reader);
    return add(reader, node);
}

static uint32_t column_node(struct reader *reader)
{
    char name[4 * NAME_BYTES];
    if (reader->token.length >= sizeof name)
        return fail_here(reader);
    sql_token_text(&reader->token, name);
    for (uint32_t c = 0; c < reader->check->column_count; c++)
        if (word_compare(reader->check->columns[c].name, name) == 0) {
            next(reader);
            return add(reader, (struct node){.kind = NODE_COLUMN, .column = c});
        }
    return fail_here(reader);
}

static uint32_t take_or(struct reader *reader);

/* length(column), char_length(column) */
static uint32_t length_node(struct reader *reader)
{
    next(reader);
    if (!take(reader, "("))
        return fail_here(reader);
    const bool more = take(reader, "(");
    const uint32_t column = column_node(reader);
    if (failed(reader) || !take(reader, ")") || (more && !take(reader, ")")))
        return fail_here(reader);
    struct node *const node = &reader->check->nodes[column];
    if (reader->check->columns[node->column].type != TYPE_STRING)
        return fail(reader, "only strings have a length");
    node->kind = NODE_LENGTH;
    return column;
}

/* A column, a constant, or a condition in brackets. */
static uint32_t take_operand(struct reader *reader)
{
    const struct sql_token *const token = &reader->token;
    if (take(reader, "(")) {
        if (++reader->depth > DEPTH_MAX)
            return fail(reader, "it has too many brackets");
        const uint32_t inner = take_or(reader);
        reader->depth--;
        return take(reader, ")") ? inner : fail_here(reader);
    }
    if (take(reader, "-"))
        return token->kind == TOKEN_NUMBER ? copy_constant(reader, true) : fail_here(reader);
    if (token->kind == TOKEN_NUMBER || token->kind == TOKEN_STRING)
        return copy_constant(reader, false);
    if (sql_token_is(token, "LENGTH") || sql_token_is(token, "CHAR_LENGTH"))
        return length_node(reader);
    if (sql_token_is(token, "DATE") || sql_token_is(token, "TIMESTAMP")) { /* DATE '2024-01-01' */
        const struct reader before = *reader;
        next(reader);
        if (token->kind == TOKEN_STRING)
            return copy_constant(reader, false);
        *reader = before;
    }
    return token->kind == TOKEN_WORD || token->kind == TOKEN_NAME ? column_node(reader) : fail_here(reader);
}

/* Gives a constant the unit of what it is compared with. */
static void convert(struct reader *reader, struct node *constant, const struct node *other)
{
    const struct column_schema *const column = &reader->check->columns[other->column];
    const struct column_schema whole = {.type = TYPE_INT64};
    int64_t value;
    if (other->kind == NODE_COLUMN && column->type == TYPE_STRING) {
        if (!constant->string)
            fail(reader, "it compares a string with a number");
        return;
    }
    if (text_value(other->kind == NODE_LENGTH ? &whole : column, constant->text, constant->length, &value)) {
        fail(reader, "a constant does not fit the type of its column");
        return;
    }
    constant->number = value;
    constant->string = false;
}

static uint32_t compare(struct reader *reader, uint32_t left, enum comparison comparison, uint32_t right)
{
    struct node *const a = &reader->check->nodes[left], *const b = &reader->check->nodes[right];
    if (failed(reader))
        return 0;
    if (a->kind > NODE_CONSTANT || b->kind > NODE_CONSTANT ||
        (a->kind == NODE_CONSTANT && b->kind == NODE_CONSTANT))
        return fail(reader, "it compares other things than columns and constants");
    if (a->kind == NODE_CONSTANT) {
        convert(reader, a, b);
    } else if (b->kind == NODE_CONSTANT) {
        convert(reader, b, a);
    } else {
        const struct column_schema *const x = &reader->check->columns[a->column],
                                          *const y = &reader->check->columns[b->column];
        const bool whole = x->type <= TYPE_INT64 && y->type <= TYPE_INT64;
        if (a->kind != b->kind || !(whole || (x->type == y->type && x->scale == y->scale)))
            return fail(reader, "it compares columns of different types");
    }
    const bool string = a->kind == NODE_CONSTANT ? a->string
                        : a->kind == NODE_LENGTH ? false
                                                 : reader->check->columns[a->column].type == TYPE_STRING;
    return add(
        reader,
        (struct node){
            .kind = NODE_COMPARE, .comparison = comparison, .left = left, .right = right, .string = string});
}

static uint32_t combine(struct reader *reader, enum node_kind kind, uint32_t left, uint32_t right)
{
    if (failed(reader))
        return 0;
    if (reader->check->nodes[left].kind < NODE_COMPARE || reader->check->nodes[right].kind < NODE_COMPARE)
        return fail(reader, "a value stands where a condition should");
    return add(reader, (struct node){.kind = kind, .left = left, .right = right});
}

/* column IN (a, b, ...): column = a OR column = b OR ... Also ANY (ARRAY(a, b)), with brackets around any part. */
static uint32_t take_list(struct reader *reader, uint32_t left)
{
    uint32_t depth = 0, all = 0;
    for (bool first = true; !failed(reader); first = false) {
        for (bool more = true; more;) {
            const bool bracket = take(reader, "(");
            depth += bracket;
            more = bracket || take(reader, "ARRAY");
        }
        const bool minus = take(reader, "-");
        if (depth == 0 ||
            (reader->token.kind != TOKEN_NUMBER && (minus || reader->token.kind != TOKEN_STRING)))
            return fail_here(reader);
        const uint32_t equal = compare(reader, left, EQUAL, copy_constant(reader, minus));
        all = first ? equal : combine(reader, NODE_OR, all, equal);
        while (depth && take(reader, ")"))
            depth--;
        if (depth == 0)
            return all;
        if (!take(reader, ","))
            return fail_here(reader);
    }
    return all;
}

static uint32_t take_comparison(struct reader *reader)
{
    static const struct {
        const char *word;
        enum comparison comparison;
    } words[] = {{"<=", LESS_EQUAL}, {">=", GREATER_EQUAL}, {"<>", NOT_EQUAL}, {"!=", NOT_EQUAL},
                 {"==", EQUAL},      {"=", EQUAL},          {"<", LESS},       {">", GREATER}};
    const uint32_t left = take_operand(reader);
    if (take(reader, "IS")) {
        const bool not = take(reader, "NOT");
        if (failed(reader) || !take(reader, "NULL"))
            return fail_here(reader);
        if (reader->check->nodes[left].kind != NODE_COLUMN)
            return fail(reader, "IS NULL is asked of other things than columns");
        const uint32_t null = add(reader, (struct node){.kind = NODE_IS_NULL, .left = left});
        return not ? add(reader, (struct node){.kind = NODE_NOT, .left = null}) : null;
    }
    const bool not = take(reader, "NOT");
    if (take(reader, "BETWEEN")) {
        const struct node value = reader->check->nodes[left]; /* a constant takes the unit of each bound */
        const uint32_t low = compare(reader, left, GREATER_EQUAL, take_operand(reader));
        if (!take(reader, "AND"))
            return fail_here(reader);
        const uint32_t again = add(reader, value);
        const uint32_t high = compare(reader, again, LESS_EQUAL, take_operand(reader));
        const uint32_t both = combine(reader, NODE_AND, low, high);
        return not ? add(reader, (struct node){.kind = NODE_NOT, .left = both}) : both;
    }
    if (take(reader, "IN")) {
        const uint32_t any = take_list(reader, left);
        return not ? add(reader, (struct node){.kind = NODE_NOT, .left = any}) : any;
    }
    if (not )
        return fail_here(reader);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (take(reader, words[w].word)) {
            if (words[w].comparison == EQUAL && take(reader, "ANY"))
                return take_list(reader, left);
            return compare(reader, left, words[w].comparison, take_operand(reader));
        }
    return left;
}

static uint32_t take_not(struct reader *reader)
{
    bool any = false, odd = false;
    while (take(reader, "NOT")) {
        any = true;
        odd = !odd;
    }
    const uint32_t inner = take_comparison(reader);
    if (any && !failed(reader) && reader->check->nodes[inner].kind < NODE_COMPARE)
        return fail(reader, "a value stands where a condition should");
    return odd ? add(reader, (struct node){.kind = NODE_NOT, .left = inner}) : inner;
}

static uint32_t take_and(struct reader *reader)
{
    uint32_t left = take_not(reader);
    while (take(reader, "AND"))
        left = combine(reader, NODE_AND, left, take_not(reader));
    return left;
}

static uint32_t take_or(struct reader *reader)
{
    uint32_t left = take_and(reader);
    while (take(reader, "OR"))
        left = combine(reader, NODE_OR, left, take_and(reader));
    return left;
}

enum status schema_check_parse(const char *text, size_t length, const struct column_schema *columns,
                               uint32_t column_count, struct schema_check **out,
                               char reason[CHECK_REASON_BYTES], struct error *error)
{
    struct schema_check *const check = calloc(1, sizeof *check);
    *out = NULL;
    reason[0] = '\0';
    if (!check)
        return error_out_of_memory(error, sizeof *check, "a condition");
    check->text = strndup(text, length < 200 ? length : 200);
    check->clean = malloc(length + 1);
    check->constants = malloc(3 * length + 8); /* a constant of n bytes takes n + 2 */
    if (!check->text || !check->clean || !check->constants) {
        schema_check_free(check);
        return error_out_of_memory(error, 4 * length, "a condition");
    }
    clean_text(text, length, check->clean);
    check->columns = columns;
    check->column_count = column_count;
    struct reader reader = {.check = check, .reason = reason};
    sql_tokens_begin(&reader.tokens, check->clean, strlen(check->clean));
    next(&reader);
    const uint32_t root = take_or(&reader);
    if (!failed(&reader) && reader.token.kind != TOKEN_END)
        fail_here(&reader);
    if (!failed(&reader) && (check->count == 0 || check->nodes[root].kind < NODE_COMPARE))
        fail(&reader, "it is no comparison");
    if (!failed(&reader) && root + 1 != check->count)
        fail(&reader, "it is not understood");
    if (failed(&reader))
        schema_check_free(check);
    else
        *out = check;
    return STATUS_OK;
}

void schema_check_free(struct schema_check *check)
{
    if (check) {
        free(check->text);
        free(check->clean);
        free(check->constants);
    }
    free(check);
}

const char *schema_check_text(const struct schema_check *check)
{
    return check->text;
}

bool schema_check_uses(const struct schema_check *check, uint32_t column)
{
    for (uint32_t n = 0; n < check->count; n++)
        if ((check->nodes[n].kind == NODE_COLUMN || check->nodes[n].kind == NODE_LENGTH) &&
            check->nodes[n].column == column)
            return true;
    return false;
}

/* ---- Evaluation ---- */

enum truth { IS_FALSE, IS_TRUE, IS_UNKNOWN };

static int64_t characters(const char *text, uint32_t length)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static struct check_value value_of(const struct node *node, const struct check_value *values)
{
    if (node->kind == NODE_CONSTANT)
        return (struct check_value){.number = node->number, .text = node->text, .length = node->length};
    struct check_value value = values[node->column];
    if (node->kind == NODE_LENGTH && !value.null)
        value.number = characters(value.text, value.length);
    return value;
}

static enum truth compare_values(const struct node *node, const struct check_value *a,
                                 const struct check_value *b)
{
    int order = a->number < b->number ? -1 : a->number > b->number;
    if (a->null || b->null)
        return IS_UNKNOWN;
    if (node->string) {
        const uint32_t shorter = a->length < b->length ? a->length : b->length;
        order = shorter ? memcmp(a->text, b->text, shorter) : 0;
        order = order ? order : a->length < b->length ? -1 : a->length > b->length;
    }
    switch (node->comparison) {
    case LESS:
        return order < 0;
    case LESS_EQUAL:
        return order <= 0;
    case EQUAL:
        return order == 0;
    case NOT_EQUAL:
        return order != 0;
    case GREATER_EQUAL:
        return order >= 0;
    default:
        return order > 0;
    }
}

static enum truth evaluate(const struct schema_check *check, uint32_t n, const struct check_value *values)
{
    const struct node *const node = &check->nodes[n];
    if (node->kind == NODE_COMPARE) {
        const struct check_value a = value_of(&check->nodes[node->left], values),
                                 b = value_of(&check->nodes[node->right], values);
        return compare_values(node, &a, &b);
    }
    if (node->kind == NODE_IS_NULL)
        return values[check->nodes[node->left].column].null;
    const enum truth left = evaluate(check, node->left, values);
    if (node->kind == NODE_NOT)
        return left == IS_UNKNOWN ? IS_UNKNOWN : left == IS_FALSE;
    const enum truth decides = node->kind == NODE_AND ? IS_FALSE : IS_TRUE;
    if (left == decides)
        return decides;
    const enum truth right = evaluate(check, node->right, values);
    return right == decides || left != IS_UNKNOWN ? right : IS_UNKNOWN;
}

bool schema_check_passes(const struct schema_check *check, const struct check_value *values)
{
    return evaluate(check, check->count - 1, values) != IS_FALSE;
}
