/* origin.c: from which stored columns an answer's columns come; see logical.h. */
#include "engine/logical/logical.h"

/* The node in this subtree that makes the column. */
static const struct logical_node *find_maker(const struct logical_node *node, uint32_t column,
                                             uint32_t *place)
{
    if (node->kind == LOGICAL_SCAN || node->kind == LOGICAL_PROJECT || node->kind == LOGICAL_AGGREGATE ||
        node->kind == LOGICAL_SHARED)
        for (*place = 0; *place < node->column_count; (*place)++)
            if (node->columns[*place] == column)
                return node;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const struct logical_node *const found = find_maker(node->inputs[i], column, place);
        if (found)
            return found;
    }
    return NULL;
}

const struct column *logical_origin(const struct logical_tree *tree, const struct logical_node *node,
                                    uint32_t column)
{
    uint32_t place;
    const struct logical_node *const maker = find_maker(node, column, &place);
    if (!maker)
        return NULL;
    const struct sql_expression *from = NULL;
    switch (maker->kind) {
    case LOGICAL_SCAN:
        return &maker->scan.table->columns[maker->scan.stored[place]];
    case LOGICAL_SHARED: {
        const struct logical_node *const root = tree->shared[maker->shared.shared].root;
        return logical_origin(tree, root, root->columns[place]);
    }
    case LOGICAL_PROJECT:
        from = maker->project.expressions[place];
        break;
    case LOGICAL_AGGREGATE:
        from = place < maker->aggregate.group_count ? maker->aggregate.groups[place] : NULL;
        break;
    default:
        break;
    }
    return from && from->operation == SQL_INPUT ? logical_origin(tree, maker->inputs[0], from->index) : NULL;
}

const struct table *logical_rows_of(const struct logical_tree *tree)
{
    const struct logical_node *node = tree->root;
    for (;;) {
        switch (node->kind) {
        case LOGICAL_SCAN:
            return node->scan.table;
        case LOGICAL_JOIN: /* left rows, some of them, each once */
            if (node->join.join == LOGICAL_INNER || node->join.join == LOGICAL_LEFT ||
                node->join.join == LOGICAL_FULL)
                return NULL;
            break;
        case LOGICAL_FILTER:
        case LOGICAL_PROJECT:
        case LOGICAL_WINDOW:
        case LOGICAL_SORT:
        case LOGICAL_LIMIT:
            break;
        default:
            return NULL;
        }
        node = node->inputs[0];
    }
}
