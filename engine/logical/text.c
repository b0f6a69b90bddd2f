/* text.c: expressions of a tree as text (node.h). */
#include "engine/logical/node.h"

/* EXPLAIN cuts lists that are longer. */
#define WRITTEN_CHILDREN_MAX 8u

struct writer {
    const struct logical_tree *tree;
    FILE *out;
    bool names; /* columns are written by their names */
};

static void write_expression(const struct writer *writer, const struct sql_expression *expression);

/* The word between two operands; of other operations NULL: they are written as functions. */
static const char *const infixes[SQL_EXISTS + 1] = {
    [SQL_ADD] = " + ",         [SQL_SUBTRACT] = " - ", [SQL_MULTIPLY] = " * ",       [SQL_DIVIDE] = " / ",
    [SQL_REMAINDER] = " % ",   [SQL_EQUAL] = " = ",    [SQL_NOT_EQUAL] = " <> ",     [SQL_LESS] = " < ",
    [SQL_LESS_EQUAL] = " <= ", [SQL_GREATER] = " > ",  [SQL_GREATER_EQUAL] = " >= ", [SQL_AND] = " and ",
    [SQL_OR] = " or ",         [SQL_CONCAT] = " || "};

static const char *function_of(const struct sql_expression *expression)
{
    switch (expression->operation) {
    case SQL_NEGATE:
        return "-";
    case SQL_NOT:
        return "not";
    case SQL_BETWEEN:
        return expression->negated ? "not between" : "between";
    case SQL_IN:
        return expression->negated ? "not in" : "in";
    case SQL_LOOKUP:
        return "look up";
    case SQL_LIKE:
        return expression->negated ? "not like" : "like";
    case SQL_MATCHES:
        return "matches";
    case SQL_IS_NULL:
        return expression->negated ? "is not null" : "is null";
    case SQL_IS_TRUTH:
        return "is";
    case SQL_IS_DISTINCT:
        return expression->negated ? "is not distinct" : "is distinct";
    case SQL_CASE:
        return "case";
    case SQL_EXTRACT:
        return "extract";
    case SQL_CAST:
        return "cast";
    default: /* SQL_FUNCTION, and names that stay */
        return expression->name ? expression->name : "?";
    }
}

static void write_operation(const struct writer *writer, const struct sql_expression *expression)
{
    const char *const word = infixes[expression->operation];
    fputs(word ? "(" : function_of(expression), writer->out);
    fputs(word ? "" : expression->distinct ? "(distinct " : "(", writer->out);
    for (uint32_t c = 0; c < expression->child_count; c++) {
        fputs(c == 0 ? "" : word ? word : ", ", writer->out);
        if (writer->names && c == WRITTEN_CHILDREN_MAX) {
            fprintf(writer->out, "... %u more", expression->child_count - c);
            break;
        }
        write_expression(writer, expression->children[c]);
    }
    if (expression->keys)
        fprintf(writer->out, ", %llu keys", (unsigned long long)expression->keys->count);
    if (expression->operation == SQL_CAST)
        fprintf(writer->out, " as %s", expression->name);
    fputs(")", writer->out);
}

static void write_input(const struct writer *writer, uint32_t column)
{
    const char *const name =
        writer->names && column < writer->tree->column_count ? writer->tree->columns[column].name : NULL;
    if (name && *name)
        fputs(name, writer->out);
    else
        fprintf(writer->out, "@%u", column);
}

static void write_expression(const struct writer *writer, const struct sql_expression *expression)
{
    switch (expression->operation) {
    case SQL_INPUT:
        write_input(writer, expression->index);
        break;
    case SQL_COLUMN:
        fputs(expression->name, writer->out);
        break;
    case SQL_NULL:
        fputs("null", writer->out);
        break;
    case SQL_TRUE:
    case SQL_FALSE:
        fputs(expression->operation == SQL_TRUE ? "true" : "false", writer->out);
        break;
    case SQL_PARAMETER:
        fprintf(writer->out, "?%u", expression->index + 1);
        break;
    case SQL_NUMBER:
        fputs(expression->text, writer->out);
        break;
    case SQL_STRING:
    case SQL_DATE:
    case SQL_TIMESTAMP:
    case SQL_INTERVAL:
        fprintf(writer->out, "'%s'", expression->text);
        break;
    case SQL_STAR:
        fputs("*", writer->out);
        break;
    default: /* operators and functions */
        write_operation(writer, expression);
    }
}

void logical_write_expression(const struct logical_tree *tree, const struct sql_expression *expression,
                              bool names, FILE *out)
{
    const struct writer writer = {.tree = tree, .out = out, .names = names};
    write_expression(&writer, expression);
}
