/* text.c: a tree as text, a node a line (node.h). */
#include "engine/logical/node.h"

/* EXPLAIN cuts lists that are longer. */
#define WRITTEN_CHILDREN_MAX 8u

struct writer {
    const struct logical_tree *tree;
    FILE *out;
    bool names; /* columns are written by their names */
};

static void write_expression(const struct writer *writer, const struct sql_expression *expression);

static void write_list(const struct writer *writer, struct sql_expression *const *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", writer->out);
        write_expression(writer, list[i]);
    }
}

/* The word between two operands; NULL: it is written as a function of them. */
static const char *infix(enum sql_operation operation)
{
    switch (operation) {
    case SQL_ADD:
        return " + ";
    case SQL_SUBTRACT:
        return " - ";
    case SQL_MULTIPLY:
        return " * ";
    case SQL_DIVIDE:
        return " / ";
    case SQL_REMAINDER:
        return " % ";
    case SQL_EQUAL:
        return " = ";
    case SQL_NOT_EQUAL:
        return " <> ";
    case SQL_LESS:
        return " < ";
    case SQL_LESS_EQUAL:
        return " <= ";
    case SQL_GREATER:
        return " > ";
    case SQL_GREATER_EQUAL:
        return " >= ";
    case SQL_AND:
        return " and ";
    case SQL_OR:
        return " or ";
    case SQL_CONCAT:
        return " || ";
    default: /* neither an operator of two values nor a chain */
        return NULL;
    }
}

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
    const char *const word = infix(expression->operation);
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

static void write_columns(const struct writer *writer, const struct logical_node *node, uint32_t first)
{
    for (uint32_t c = first; c < node->column_count; c++)
        fprintf(writer->out, " %u", node->columns[c]);
}

static void write_join(const struct writer *writer, const struct logical_node *node)
{
    static const char *const joins[] = {"inner", "left", "full", "semi", "anti", "mark", "single"};
    fprintf(writer->out, "join %s", joins[node->join.join]);
    if (node->join.join == LOGICAL_MARK)
        fprintf(writer->out, " %u", node->join.mark);
    if (node->join.condition) {
        fputs(": ", writer->out);
        write_expression(writer, node->join.condition);
    }
    if (node->join.test) {
        fputs(", test ", writer->out);
        write_expression(writer, node->join.test);
    }
}

static void write_aggregate(const struct writer *writer, const struct logical_node *node)
{
    fputs("aggregate", writer->out);
    write_columns(writer, node, 0);
    fputs(": ", writer->out);
    write_list(writer, node->aggregate.groups, node->aggregate.group_count);
    fputs(node->aggregate.group_count && node->aggregate.aggregate_count ? "; " : "", writer->out);
    write_list(writer, node->aggregate.aggregates, node->aggregate.aggregate_count);
    if (node->aggregate.set_count)
        fprintf(writer->out, " in %u sets", node->aggregate.set_count);
}

static void write_windows(const struct writer *writer, const struct logical_node *node)
{
    fputs("window", writer->out);
    write_columns(writer, node, node->column_count - node->window.count);
    fputs(": ", writer->out);
    for (uint32_t w = 0; w < node->window.count; w++) {
        fputs(w ? ", " : "", writer->out);
        write_expression(writer, node->window.windows[w].call);
    }
}

static void write_head(const struct writer *writer, const struct logical_node *node)
{
    static const char *const sets[] = {"union", "except", "intersect"};
    switch (node->kind) {
    case LOGICAL_SCAN:
        fprintf(writer->out, "scan %s:", node->scan.name);
        write_columns(writer, node, 0);
        break;
    case LOGICAL_VALUES:
        fprintf(writer->out, "values: %u row%s", node->values.row_count,
                node->values.row_count == 1 ? "" : "s");
        break;
    case LOGICAL_FILTER:
        fputs("filter ", writer->out);
        write_expression(writer, node->filter.condition);
        break;
    case LOGICAL_PROJECT:
        fputs("project", writer->out);
        write_columns(writer, node, 0);
        fputs(": ", writer->out);
        write_list(writer, node->project.expressions, node->column_count);
        break;
    case LOGICAL_JOIN:
        write_join(writer, node);
        break;
    case LOGICAL_AGGREGATE:
        write_aggregate(writer, node);
        break;
    case LOGICAL_WINDOW:
        write_windows(writer, node);
        break;
    case LOGICAL_SORT:
        fputs("sort", writer->out);
        for (uint32_t o = 0; o < node->sort.count; o++)
            fprintf(writer->out, " %u%s", node->sort.orders[o].column,
                    node->sort.orders[o].descending ? " desc" : "");
        break;
    case LOGICAL_LIMIT:
        fputs("limit ", writer->out);
        write_expression(writer, node->limit.limit);
        break;
    case LOGICAL_SET:
        fprintf(writer->out, "%s%s", sets[node->set.set], node->set.all ? " all" : "");
        write_columns(writer, node, 0);
        break;
    case LOGICAL_SHARED:
        fprintf(writer->out, "with %s:", writer->tree->shared[node->shared.shared].name);
        write_columns(writer, node, 0);
        break;
    case LOGICAL_RECURSIVE:
        fprintf(writer->out, "recursive union%s with %s:", node->recursive.all ? " all" : "",
                writer->tree->shared[node->recursive.step].name);
        write_columns(writer, node, 0);
        break;
    case LOGICAL_WORKING:
        fprintf(writer->out, "rows of %s:", writer->tree->shared[node->working.step].name);
        write_columns(writer, node, 0);
        break;
    }
    fputs("\n", writer->out);
}

static void write_node(const struct writer *writer, const struct logical_node *node, uint32_t depth)
{
    fprintf(writer->out, "%*s", (int)(2 * depth), "");
    write_head(writer, node);
    for (uint32_t i = 0; i < node->input_count; i++)
        write_node(writer, node->inputs[i], depth + 1);
}

void logical_write_expression(const struct logical_tree *tree, const struct sql_expression *expression,
                              FILE *out)
{
    const struct writer writer = {.tree = tree, .out = out, .names = true};
    write_expression(&writer, expression);
}

void logical_write(const struct logical_tree *tree, FILE *out)
{
    const struct writer writer = {.tree = tree, .out = out};
    for (uint32_t s = 0; s < tree->shared_count; s++) {
        fprintf(out, "with %s:\n", tree->shared[s].name);
        write_node(&writer, tree->shared[s].root, 1);
    }
    write_node(&writer, tree->root, 0);
}
