/* units.c: units of sources (joins.c): which stored tables are answered together, and their answers (joining.h). */
#include "engine/library/query/joining.h"

/* True if the condition joins two stored tables along a reference: of source *child to source *parent. */
static bool along_reference(const struct joining *joining, const struct sql_expression *tree, uint32_t *child,
                            uint32_t *parent)
{
    uint32_t s[2], c[2];
    if (tree->operation != SQL_EQUAL || tree->children[0]->operation != SQL_COLUMN ||
        tree->children[1]->operation != SQL_COLUMN)
        return false;
    for (int i = 0; i < 2; i++)
        if (!query_column_of(joining->sources, tree->children[i], &s[i], &c[i]) ||
            !joining->sources->list[s[i]].table || is_left(joining, s[i]) || joining->strict[s[i]])
            return false;
    for (int turned = 0; turned < 2; turned++) {
        const struct table *const from = joining->sources->list[s[turned]].table,
                                  *const to = joining->sources->list[s[!turned]].table;
        if (s[0] == s[1] || from->columns[c[turned]].references != &to->columns[c[!turned]])
            continue;
        *child = s[turned];
        *parent = s[!turned];
        return true;
    }
    return false;
}

void joining_find_units(struct joining *joining)
{
    struct query_sources *const sources = joining->sources;
    bool bound[SQL_SOURCES_MAX] = {false};
    uint32_t unit_of[SQL_SOURCES_MAX], child, parent;
    for (uint32_t s = 0; s < sources->count; s++)
        unit_of[s] = s;
    for (uint32_t i = 0; i < joining->conjunct_count; i++) {
        if (!along_reference(joining, joining->conjuncts[i].tree, &child, &parent) || bound[parent] ||
            unit_of[child] == unit_of[parent])
            continue;
        const uint32_t into = unit_of[child], from = unit_of[parent];
        bound[parent] = true;
        for (uint32_t s = 0; s < sources->count; s++)
            if (unit_of[s] == from)
                unit_of[s] = into;
    }
    for (uint32_t s = 0; s < sources->count; s++) {
        uint32_t first = 0;
        while (unit_of[first] != unit_of[s])
            first++;
        if (first == s)
            joining->units[joining->unit_count++] = (struct unit){.rows = sources->list[s].rows};
        sources->list[s].unit = first == s ? joining->unit_count - 1 : sources->list[first].unit;
        joining->units[sources->list[s].unit].sources |= UINT64_C(1) << s;
    }
}

/* Takes the conditions on these sources alone. */
static enum status take_conditions(struct joining *joining, struct conjunct *list, uint32_t count,
                                   uint64_t sources, struct sql_expression **where)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].done || list[i].sources == 0 || (list[i].sources & ~sources))
            continue;
        list[i].done = true;
        RETURN_IF_ERROR(query_and(joining->query, where, (struct sql_expression *)list[i].tree));
    }
    return STATUS_OK;
}

static enum status stored_items(struct joining *joining, uint64_t mask, struct sql_select *select)
{
    struct query *const query = joining->query;
    struct sql_expression *node;
    for (uint32_t s = 0; s < joining->sources->count; s++) {
        struct query_source *const source = &joining->sources->list[s];
        if (!(mask >> s & 1))
            continue;
        const struct sql_source from = {
            .table = source->table->name, .alias = source->name, .position = source->from->position};
        RETURN_IF_ERROR(sql_tree_append(query->tree, &select->sources, &select->source_count, sizeof from,
                                        &from, query->error));
        for (uint32_t c = 0; c < source->column_count; c++) {
            if (!source->used[c])
                continue;
            source->unit_column[c] = select->item_count;
            RETURN_IF_ERROR(query_column_node(query, from.position, source->name, source->columns[c], &node));
            RETURN_IF_ERROR(query_item(query, select, node, source->columns[c]));
        }
    }
    if (select->item_count) /* else the rows are only counted */
        return STATUS_OK;
    RETURN_IF_ERROR(query_node(query, SQL_NUMBER, select->sources[0].position, &node));
    node->text = "1";
    return query_item(query, select, node, "one");
}

enum status joining_answer_unit(struct joining *joining, struct unit *unit, struct conjunct *on,
                                uint32_t on_count, bool own)
{
    struct query *const query = joining->query;
    struct sql_select *select;
    RETURN_IF_ERROR(query_memory(query, sizeof *select, &select));
    RETURN_IF_ERROR(stored_items(joining, unit->sources, select));
    if (own)
        RETURN_IF_ERROR(take_conditions(joining, on, on_count, unit->sources, &select->where));
    else
        RETURN_IF_ERROR(take_conditions(joining, joining->conjuncts, joining->conjunct_count, unit->sources,
                                        &select->where));
    RETURN_IF_ERROR(query_explain_line(query, "columns of %s%s:", select->sources[0].table,
                                       select->source_count > 1 ? " and what it references" : ""));
    query->level++;
    RETURN_IF_ERROR(query_plan(query, query->task->database, select, false, &unit->own));
    query->level--;
    unit->rows = &unit->own;
    return STATUS_OK;
}
