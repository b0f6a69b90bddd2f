/* from.c: binds FROM: stored tables, queries of WITH and subqueries, and their joins (bind.h). */
#include "engine/logical/bind/bind.h"
#include "engine/plan/value_text.h"
#include "engine/sql/sql_error.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- The columns of a source ---- */

static uint32_t columns_named(const struct bind_source *source, const char *name, uint32_t *column)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < source->count; c++) {
        const bool exact = strcmp(source->keys[c], name) == 0;
        if (!exact && word_compare(source->names[c], name) != 0)
            continue;
        *column = c;
        count++;
        if (exact)
            return 1;
    }
    return count;
}

static uint32_t scope_find(const void *context, uint32_t source, const char *name, uint32_t *column)
{
    return columns_named(&((const struct bind_block *)context)->sources[source], name, column);
}

static const char *scope_name(const void *context, uint32_t source, uint32_t column)
{
    return ((const struct bind_block *)context)->sources[source].keys[column];
}

static void see_sources(struct bind_block *block, const struct sql_source *sources, uint32_t count)
{
    block->scope = (struct sql_scope){
        .count = count, .sources = sources, .find = scope_find, .name = scope_name, .context = block};
}

/* A query may have columns of one name: a star has each of them, though the name finds the first alone. */
static enum status key_of(const struct bind_state *state, const struct bind_source *source, uint32_t column,
                          const char **key)
{
    uint32_t first = 0;
    char *made;
    while (strcmp(source->names[first], source->names[column]) != 0)
        first++;
    *key = source->names[column];
    if (first == column)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_take(state->arena, 16, &made, state->error));
    snprintf(made, 16, "#%u", column);
    *key = made;
    return STATUS_OK;
}

static enum status take_columns(const struct bind_state *state, const struct logical_node *node,
                                const char *const *names, struct bind_source *source)
{
    const size_t bytes = (node->column_count + 1) * sizeof *source->names;
    source->count = node->column_count;
    source->columns = node->columns;
    RETURN_IF_ERROR(sql_tree_take(state->arena, bytes, &source->names, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena, bytes, &source->keys, state->error));
    for (uint32_t c = 0; c < source->count; c++) {
        source->names[c] = names ? names[c] : state->tree->columns[node->columns[c]].name;
        source->keys[c] = source->names[c];
        if (names) /* a stored table's names differ */
            RETURN_IF_ERROR(key_of(state, source, c, &source->keys[c]));
    }
    return STATUS_OK;
}

enum status bind_only_source(struct bind_block *block, const char *name, const struct logical_node *node,
                             const char **names)
{
    static const struct sql_source nameless = {.table = ""};
    RETURN_IF_ERROR(
        sql_tree_take(block->state->arena, sizeof *block->sources, &block->sources, block->state->error));
    block->sources->name = name;
    see_sources(block, &nameless, 1);
    return take_columns(block->state, node, names, block->sources);
}

/* ---- One source ---- */

/* Adds the column that tells which rows were deleted, and lets the others through. */
static enum status leave_deleted(struct bind_state *state, const struct column *live,
                                 struct sql_position position, struct logical_node **node)
{
    struct sql_expression *condition;
    uint32_t column;
    (*node)->scan.stored[(*node)->column_count] = (uint32_t)(live - live->table->columns);
    RETURN_IF_ERROR(logical_column_new(state->tree, live->schema.name, column_value_type(live), false,
                                       &column, state->error));
    RETURN_IF_ERROR(logical_gives(state->tree, *node, column, state->error));
    RETURN_IF_ERROR(logical_input(state->tree, position, column, &condition, state->error));
    RETURN_IF_ERROR(logical_filter(state->tree, condition, node, state->error));
    (*node)->column_count--;
    return STATUS_OK;
}

/* No table has the name; a query of WITH, or one of the tables, may be meant. */
static enum status refuse_table(struct bind_state *state, const struct sql_source *source,
                                const struct bind_named *named)
{
    const struct table *none;
    struct near_word near = near_word_begin(source->table);
    for (; named; named = named->before)
        near_word_try(&near, named->with->name);
    if (near.nearest && !near.is_part)
        return logical_refuse(state, source->position,
                              "there is no table or query of WITH %s; did you mean %s?", source->table,
                              near.nearest);
    return sql_placed(state->error, source->position,
                      database_table(state->database, source->table, &none, state->error));
}

/* Views that name each other, one in another; more are a circle. */
#define VIEWS_MOST 16u

/* A view is the query that it was created with, which sees tables and views alone. */
static enum status bind_view(struct bind_state *state, const struct sql_source *source, const char *query,
                             struct logical_node **node, const char ***names)
{
    struct sql_select *select;
    enum status status;
    if (state->views == VIEWS_MOST)
        return logical_refuse(state, source->position,
                              "view %s is one of more than %u that name each other; is it a circle?",
                              source->table, VIEWS_MOST);
    state->views++;
    status = sql_parse_made(state->arena, query, strlen(query), source->position, &select, state->error);
    status = AND_THEN(status, bind_query(state, select, NULL, NULL, node, names));
    state->views--;
    return sql_placed_anew(state->error, source->position, source->table, status);
}

static enum status scan(struct bind_state *state, const struct sql_source *source, const struct table *table,
                        struct logical_node **node)
{
    const uint32_t count = table_visible_columns(table);
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_SCAN, source->position, NULL, NULL, node, state->error));
    (*node)->scan.table = table;
    (*node)->scan.name = sql_source_name(source);
    RETURN_IF_ERROR(sql_tree_take(state->arena, (count + 1) * sizeof *(*node)->scan.stored,
                                  &(*node)->scan.stored, state->error));
    RETURN_IF_ERROR(
        sql_tree_take(state->arena, sizeof *(*node)->scan.counted, &(*node)->scan.counted, state->error));
    for (uint32_t c = 0; c < count; c++) {
        const struct column *const stored = &table->columns[c];
        const struct column *const value = stored->references ? stored->references : stored;
        uint32_t column;
        RETURN_IF_ERROR(logical_column_new(state->tree, stored->schema.name, column_value_type(value), true,
                                           &column, state->error));
        RETURN_IF_ERROR(logical_gives(state->tree, *node, column, state->error));
        (*node)->scan.stored[c] = c;
    }
    return table_live(table) ? leave_deleted(state, table_live(table), source->position, node) : STATUS_OK;
}

static enum status scan_table(struct bind_state *state, const struct sql_source *source,
                              const struct bind_named *named, struct logical_node **node, const char ***names)
{
    const struct table *const table = database_find(state->database, source->table);
    const char *const view = table ? NULL : database_view(state->database, source->table);
    if (view)
        return bind_view(state, source, view, node, names);
    return table ? scan(state, source, table, node) : refuse_table(state, source, named);
}

static enum status scan_files(struct bind_state *state, const struct sql_source *source,
                              struct logical_node **node)
{
    const struct logical_files *const files = state->options->files;
    const struct table *table;
    if (!files)
        return logical_refuse(state, source->position, "no files are read here");
    RETURN_IF_ERROR(sql_placed(state->error, source->position,
                               files->find(files->context, source->file, &table, state->error)));
    return scan(state, source, table, node);
}

enum status bind_rename(const struct bind_state *state, const char *what, uint32_t count,
                        const char *const *written, struct sql_position position,
                        const struct logical_node *node, const char ***names)
{
    const char **made;
    if (count > node->column_count)
        return logical_refuse(state, position, "%s names %u columns, but its query has %u", what, count,
                              node->column_count);
    RETURN_IF_ERROR(
        sql_tree_take(state->arena, (node->column_count + 1) * sizeof *made, &made, state->error));
    for (uint32_t c = 0; c < node->column_count; c++)
        made[c] = c < count ? written[c]
                  : *names  ? (*names)[c]
                            : state->tree->columns[node->columns[c]].name; /* of a stored table */
    *names = made;
    return STATUS_OK;
}

static const struct bind_named *find_named(const struct bind_named *named, const char *name)
{
    while (named && word_compare(named->with->name, name) != 0)
        named = named->before;
    return named;
}

/* Binds the query of WITH, and keeps it for all that name it, if it names nothing around it. */
static enum status share(struct bind_state *state, struct bind_named *named, struct logical_node **root,
                         const char ***names)
{
    const struct sql_with *const with = named->with;
    const uint32_t workings = state->workings;
    struct logical_set outside;
    if (bind_is_recursive(with))
        RETURN_IF_ERROR(bind_recursive(state, named, root, names));
    else
        RETURN_IF_ERROR(bind_query(state, with->query, named->before, named->around, root, names));
    RETURN_IF_ERROR(
        bind_rename(state, with->name, with->column_count, with->columns, with->position, *root, names));
    RETURN_IF_ERROR(logical_free(state->tree, *root, &outside, state->error));
    if (!logical_is_empty(&outside) || state->workings > workings)
        return STATUS_OK;
    named->shared = true;
    return logical_share(state->tree, with->name, *root, *names, &named->number, state->error);
}

static enum status name_shared(struct bind_state *state, struct bind_named *named,
                               const struct sql_source *source, struct logical_node **node,
                               const char ***names)
{
    if (named->working) {
        *names = named->names;
        return bind_working(state, named, source->position, node);
    }
    if (!named->shared)
        RETURN_IF_ERROR(share(state, named, node, names));
    if (!named->shared)
        return STATUS_OK;
    *names = state->tree->shared[named->number].names;
    return logical_refer(state->tree, named->number, source->position, node, state->error);
}

/* A subquery without an alias gets a name that none has, by which its columns are told from others. */
static enum status name_source(struct bind_state *state, uint32_t s, struct sql_source *source)
{
    char *name;
    if (sql_source_name(source))
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_take(state->arena, 16, &name, state->error));
    snprintf(name, 16, "#%u", s);
    source->alias = name;
    return STATUS_OK;
}

/* Single quotes around the name of a table, view or query of WITH make no file of it, as in DuckDB. */
static void find_quoted(const struct bind_block *block, struct sql_source *source)
{
    const struct database *const database = block->state->database;
    if (!source->file || !(database_find(database, source->file) || database_view(database, source->file) ||
                           find_named(block->named, source->file)))
        return;
    source->table = source->file;
    source->file = NULL;
}

static enum status bind_source(struct bind_block *block, uint32_t s, struct sql_source *sources,
                               struct logical_node **node)
{
    struct sql_source *const source = &sources[s];
    struct bind_state *const state = block->state;
    find_quoted(block, source);
    const char **names = NULL;
    const struct bind_named *const named = source->table ? find_named(block->named, source->table) : NULL;
    const struct bind_place before = {.block = block, .aliases = false};
    block->sources[s].name = sql_source_name(source);
    if (source->group)
        return STATUS_OK;
    if (source->lateral)
        see_sources(block, sources, s);
    if (source->query)
        RETURN_IF_ERROR(bind_query(state, source->query, block->named,
                                   source->lateral ? &before : block->around, node, &names));
    else if (source->file)
        RETURN_IF_ERROR(scan_files(state, source, node));
    else if (named)
        RETURN_IF_ERROR(name_shared(state, (struct bind_named *)named, source, node, &names));
    else
        RETURN_IF_ERROR(scan_table(state, source, block->named, node, &names));
    if (source->column_count)
        RETURN_IF_ERROR(bind_rename(state, source->alias ? source->alias : "the subquery",
                                    source->column_count, source->columns, source->position, *node, &names));
    for (uint32_t other = 0; other < s; other++)
        if (word_compare(block->sources[other].name, block->sources[s].name) == 0)
            return logical_refuse(state, source->position,
                                  "FROM has %s twice; give one of them another alias",
                                  block->sources[s].name);
    return take_columns(state, *node, names, &block->sources[s]);
}

/* ---- NATURAL JOIN ---- */

static bool has_shared(const struct sql_source *source, const char *name)
{
    uint32_t n = 0;
    while (n < source->shared_count && word_compare(source->shared[n].name, name) != 0)
        n++;
    return n < source->shared_count;
}

/* USING of the columns that a NATURAL JOIN finds on both sides. */
static enum status find_shared(const struct bind_block *block, struct sql_source *sources, uint32_t s)
{
    const struct bind_state *const state = block->state;
    const uint32_t first = sql_scope_first(&block->scope, s), end = sql_scope_end(&block->scope, s);
    for (uint32_t right = s; sources[s].natural && right < end; right++)
        for (uint32_t c = 0; c < block->sources[right].count; c++) {
            const struct sql_shared shared = {block->sources[right].names[c], sources[s].position};
            uint32_t column;
            bool both = false;
            for (uint32_t left = first; left < s; left++)
                both |= columns_named(&block->sources[left], shared.name, &column) > 0;
            if (both && !has_shared(&sources[s], shared.name))
                RETURN_IF_ERROR(sql_tree_append(state->arena, &sources[s].shared, &sources[s].shared_count,
                                                sizeof shared, &shared, state->error));
        }
    return STATUS_OK;
}

/* ---- Joins ---- */

/* The block's sources get columns `to` for columns `from`. */
static void see_as(const struct bind_block *block, const uint32_t *from, const uint32_t *to, uint32_t count)
{
    for (uint32_t s = 0; s < block->scope.count; s++)
        for (uint32_t c = 0; c < block->sources[s].count; c++)
            for (uint32_t i = 0; i < count; i++)
                if (block->sources[s].columns[c] == from[i]) {
                    block->sources[s].columns[c] = to[i];
                    break;
                }
}

/* FULL JOIN on a condition with a subquery over both sides. A LEFT JOIN may have such a one, which depends on its left
 * side: it finds the pairs, and the numbers of their right rows; the other right rows are joined to it by their numbers.
 *
 *     a FULL JOIN b ON c        (a LEFT JOIN n AS m ON c) FULL JOIN n ON m.number = n.number      n: b with row_number()
 */
static enum status join_by_number(struct bind_block *block, const struct bind_place *on,
                                  struct logical_node *left, struct logical_node *right,
                                  struct logical_node **node)
{
    struct bind_state *const state = block->state;
    struct logical_tree *const tree = state->tree;
    const struct sql_source *const source = on->on;
    struct logical_node *inner;
    struct logical_set outside;
    struct sql_expression *condition, *numbers[2], *same;
    uint32_t number, shared;
    struct bind_place place = *on;
    RETURN_IF_ERROR(logical_free(tree, right, &outside, state->error));
    if (!logical_is_empty(&outside))
        return logical_refuse(
            state, source->position,
            "a subquery in ON of a FULL JOIN names columns of both sides, of which the right one "
            "names columns around it; join them in a subquery of FROM");
    RETURN_IF_ERROR(logical_number_rows(tree, source->position, NULL, &right, &number, state->error));
    RETURN_IF_ERROR(logical_share_in_place(tree, "right side", &right, &shared, state->error));
    RETURN_IF_ERROR(logical_refer(tree, shared, source->position, &inner, state->error));
    const uint32_t *const columns = inner->columns, count = inner->column_count;
    place.node = &inner;
    place.left = &left;
    place.both = NULL;
    see_as(block, right->columns, columns, count);
    RETURN_IF_ERROR(bind_resolve_condition(&place, source->on, &condition));
    see_as(block, columns, right->columns, count);
    RETURN_IF_ERROR(
        logical_join_new(tree, LOGICAL_LEFT, source->position, left, inner, condition, &left, state->error));
    RETURN_IF_ERROR(logical_input(tree, source->position, columns[count - 1], &numbers[0], state->error));
    RETURN_IF_ERROR(logical_input(tree, source->position, number, &numbers[1], state->error));
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_EQUAL, source->position, &same, state->error));
    for (int i = 0; i < 2; i++)
        RETURN_IF_ERROR(sql_tree_child(state->arena, same, numbers[i], state->error));
    RETURN_IF_ERROR(sql_scalar_condition(state->scalars, same, state->error));
    return logical_join_new(tree, LOGICAL_FULL, source->position, left, right, same, node, state->error);
}

/* A join of two nodes on a condition as it is written, whose names have their tables. */
static enum status join_on(struct bind_block *block, const struct sql_source *source,
                           struct logical_node *left, struct logical_node *right, struct logical_node **node)
{
    static const enum logical_join joins[] = {LOGICAL_INNER, LOGICAL_INNER, LOGICAL_INNER,
                                              LOGICAL_LEFT,  LOGICAL_LEFT,  LOGICAL_FULL};
    struct bind_state *const state = block->state;
    const bool inner = joins[source->join] == LOGICAL_INNER;
    const uint32_t known = block->known_count;
    struct sql_expression *condition = NULL;
    bool both = false;
    if (source->nearest)
        return bind_nearest(block, source, left, right, node);
    if (source->join == SQL_JOIN_RIGHT) {
        struct logical_node *const swapped = left;
        left = right;
        right = swapped;
    }
    if (!source->on && !inner && !source->natural)
        return logical_refuse(state, source->position, "an outer JOIN of %s needs ON with its conditions",
                              sql_source_name(source));
    if (inner)
        RETURN_IF_ERROR(logical_join_new(state->tree, LOGICAL_INNER, source->position, left, right, NULL,
                                         node, state->error));
    struct logical_node *on_left = left, *on_right = right;
    const struct bind_place place = {.block = block,
                                     .node = inner ? node : &on_right,
                                     .left = inner ? NULL : &on_left,
                                     .both = source->join == SQL_JOIN_FULL ? &both : NULL,
                                     .on = source,
                                     .aliases = true};
    if (source->on)
        RETURN_IF_ERROR(bind_resolve_condition(&place, source->on, &condition));
    if (inner)
        return condition ? logical_filter(state->tree, condition, node, state->error) : STATUS_OK;
    if (both) {
        block->known_count = known; /* the subqueries of ON are bound again */
        return join_by_number(block, &place, left, right, node);
    }
    return logical_join_new(state->tree, joins[source->join], source->position, on_left, on_right, condition,
                            node, state->error);
}

/* True if an item of FROM, which begins with source `first`, has a RIGHT, FULL or ASOF JOIN: it is joined by itself. */
static bool is_strict(const struct sql_source *sources, uint32_t count, uint32_t first)
{
    bool strict = false;
    for (uint32_t s = first + 1; s < count && (sources[s].depth > 0 || sources[s].join != SQL_JOIN_NONE); s++)
        strict |= sources[s].depth == 0 && (sources[s].join >= SQL_JOIN_RIGHT || sources[s].nearest);
    return strict;
}

struct items {
    struct bind_block *block;
    const struct sql_source *sources;
    struct logical_node *const *nodes; /* of each source; NULL for groups */
    uint32_t at;                       /* the next source */
};

/* The next source, and all that JOIN joins to it at its depth. `before`, which may be NULL, is what it is joined to. */
static enum status join_sources(struct items *items, struct logical_node *before, struct logical_node **node)
{
    const struct sql_source *const sources = items->sources;
    const uint32_t count = items->block->scope.count, depth = sources[items->at].depth;
    *node = before;
    do {
        const uint32_t s = items->at++;
        struct logical_node *right = items->nodes[s];
        if (sources[s].group)
            RETURN_IF_ERROR(join_sources(items, NULL, &right));
        if (*node)
            RETURN_IF_ERROR(join_on(items->block, &sources[s], *node, right, node));
        else
            *node = right;
    } while (items->at < count && sources[items->at].depth == depth &&
             sources[items->at].join != SQL_JOIN_NONE);
    return STATUS_OK;
}

/* Joins an item to *node, which has those before it, or NULL. */
static enum status join_item(struct items *items, struct logical_node **node)
{
    const struct bind_block *const block = items->block;
    struct logical_node *item;
    if (!*node || !is_strict(items->sources, block->scope.count, items->at))
        return join_sources(items, *node, node);
    RETURN_IF_ERROR(join_sources(items, NULL, &item));
    return logical_join_new(block->state->tree, LOGICAL_INNER, item->position, *node, item, NULL, node,
                            block->state->error);
}

enum status bind_from(struct bind_block *block, struct logical_node **node)
{
    struct bind_state *const state = block->state;
    const uint32_t count = block->select->source_count;
    struct sql_source *sources;
    struct logical_node **nodes;
    if (count > SQL_SOURCES_MAX)
        return logical_refuse(state, block->select->sources[SQL_SOURCES_MAX].position,
                              "FROM has more than %u tables; ask in several query blocks", SQL_SOURCES_MAX);
    RETURN_IF_ERROR(sql_tree_take(state->arena, (count + 1) * sizeof *sources, &sources, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena, (count + 1) * sizeof *nodes, &nodes, state->error));
    RETURN_IF_ERROR(
        sql_tree_take(state->arena, (count + 1) * sizeof *block->sources, &block->sources, state->error));
    memcpy(sources, block->select->sources, count * sizeof *sources);
    for (uint32_t s = 0; s < count; s++) {
        RETURN_IF_ERROR(name_source(state, s, &sources[s]));
        RETURN_IF_ERROR(bind_source(block, s, sources, &nodes[s]));
    }
    see_sources(block, sources, count);
    for (uint32_t s = 0; s < count; s++)
        RETURN_IF_ERROR(find_shared(block, sources, s));
    RETURN_IF_ERROR(sql_scope_resolve(&block->scope, state->arena, sources, state->error));
    struct items items = {.block = block, .sources = sources, .nodes = nodes};
    *node = NULL;
    while (items.at < count)
        RETURN_IF_ERROR(join_item(&items, node));
    return STATUS_OK;
}
