/* logical_text.h: a tree of operators as text, a node a line, as at the head of engine/logical/node.h. */
#ifndef TESSERA_TESTS_SUPPORT_LOGICAL_TEXT_H
#define TESSERA_TESTS_SUPPORT_LOGICAL_TEXT_H

#include "engine/logical/logical.h"

struct tree_writer {
    const struct logical_tree *tree;
    FILE *out;
};

static inline void write_expression(const struct tree_writer *writer, const struct sql_expression *expression)
{
    logical_write_expression(writer->tree, expression, false, writer->out);
}

static inline void write_list(const struct tree_writer *writer, struct sql_expression *const *list,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", writer->out);
        write_expression(writer, list[i]);
    }
}

static inline void write_columns(const struct tree_writer *writer, const struct logical_node *node,
                                 uint32_t first)
{
    for (uint32_t c = first; c < node->column_count; c++)
        fprintf(writer->out, " %u", node->columns[c]);
}

static inline void write_join(const struct tree_writer *writer, const struct logical_node *node)
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

static inline void write_aggregate(const struct tree_writer *writer, const struct logical_node *node)
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

static inline void write_windows(const struct tree_writer *writer, const struct logical_node *node)
{
    fputs("window", writer->out);
    write_columns(writer, node, node->column_count - node->window.count);
    fputs(": ", writer->out);
    for (uint32_t w = 0; w < node->window.count; w++) {
        fputs(w ? ", " : "", writer->out);
        write_expression(writer, node->window.windows[w].call);
    }
}

static inline void write_head(const struct tree_writer *writer, const struct logical_node *node)
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

static inline void write_node(const struct tree_writer *writer, const struct logical_node *node,
                              uint32_t depth)
{
    fprintf(writer->out, "%*s", (int)(2 * depth), "");
    write_head(writer, node);
    for (uint32_t i = 0; i < node->input_count; i++)
        write_node(writer, node->inputs[i], depth + 1);
}

static inline void tree_write(const struct logical_tree *tree, FILE *out)
{
    const struct tree_writer writer = {tree, out};
    for (uint32_t s = 0; s < tree->shared_count; s++) {
        fprintf(out, "with %s:\n", tree->shared[s].name);
        write_node(&writer, tree->shared[s].root, 1);
    }
    write_node(&writer, tree->root, 0);
}

#endif
