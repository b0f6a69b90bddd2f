/* scope.c: see scope.h. */
#include "engine/sql/tree/scope.h"
#include "engine/sql/sql_error.h"
#include "storage/base/words/word.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- Columns ---- */

uint32_t sql_scope_first(const struct sql_scope *scope, uint32_t source)
{
    const struct sql_source *const sources = scope->sources;
    const uint32_t depth = sources[source].depth;
    uint32_t first = source;
    while (first > 0 &&
           (sources[source].over_all || sources[first].depth > depth || sources[first].join != SQL_JOIN_NONE))
        first--;
    return first;
}

uint32_t sql_scope_end(const struct sql_scope *scope, uint32_t join)
{
    uint32_t end = join + 1;
    while (end < scope->count && scope->sources[end].depth > scope->sources[join].depth)
        end++;
    return end;
}

static uint32_t find_between(const struct sql_scope *scope, uint32_t first, uint32_t end,
                             const char *qualifier, const char *name, struct sql_scope_column *column);

/* The name by which USING of a join merges a source's column, which is on its left or right; NULL: it does not. */
static const char *shared_name(const struct sql_scope *scope, uint32_t join, uint32_t source, uint32_t column)
{
    const struct sql_source *const joined = &scope->sources[join];
    for (uint32_t n = 0; n < joined->shared_count; n++) {
        uint32_t found;
        if (scope->find(scope->context, source, joined->shared[n].name, &found) && found == column)
            return joined->shared[n].name;
    }
    return NULL;
}

/* What RIGHT and FULL JOIN after `at`, at its depth, make of a source's column if USING names it. */
static void merge_right(const struct sql_scope *scope, uint32_t at, uint32_t end, uint32_t source,
                        uint32_t column, struct sql_scope_column *value)
{
    const uint32_t depth = scope->sources[at].depth;
    for (uint32_t s = at + 1; s < end && scope->sources[s].depth >= depth; s++) {
        const enum sql_join join = scope->sources[s].join;
        struct sql_scope_column right;
        if (scope->sources[s].depth > depth)
            continue;
        if (join == SQL_JOIN_NONE)
            return;
        const char *const name =
            join == SQL_JOIN_RIGHT || join == SQL_JOIN_FULL ? shared_name(scope, s, source, column) : NULL;
        if (!name || !find_between(scope, s, sql_scope_end(scope, s), NULL, name, &right))
            continue;
        value->count = join == SQL_JOIN_RIGHT ? 0 : value->count;
        for (uint32_t r = 0; r < right.count; r++, value->count++) {
            value->sources[value->count] = right.sources[r];
            value->columns[value->count] = right.columns[r];
        }
    }
}

/* The value of a table's column among the tables first .. end - 1; false if it is merged with one before it. */
static bool value_of(const struct sql_scope *scope, uint32_t source, uint32_t column, uint32_t first,
                     uint32_t end, struct sql_scope_column *value)
{
    uint32_t at = source;
    *value = (struct sql_scope_column){.count = 1, .sources = {source}, .columns = {column}};
    for (;;) { /* from the innermost group to the one of `first` */
        const uint32_t depth = scope->sources[at].depth;
        if (at != first && shared_name(scope, at, source, column))
            return false;
        merge_right(scope, at, end, source, column, value);
        if (depth == scope->sources[first].depth)
            return true;
        while (scope->sources[at].depth >= depth)
            at--;
    }
}

/* The number of columns of tables first .. end - 1 that a name may be, and one of them. */
static uint32_t find_between(const struct sql_scope *scope, uint32_t first, uint32_t end,
                             const char *qualifier, const char *name, struct sql_scope_column *column)
{
    uint32_t count = 0;
    for (uint32_t s = first; s < end; s++) {
        struct sql_scope_column value = {.count = 1, .sources = {s}};
        if (qualifier && word_compare(qualifier, sql_source_name(&scope->sources[s])) != 0)
            continue;
        const uint32_t here = scope->find(scope->context, s, name, &value.columns[0]);
        if (here == 0 || (!qualifier && !value_of(scope, s, value.columns[0], first, end, &value)))
            continue;
        *column = value;
        count += here;
    }
    return count;
}

uint32_t sql_scope_find(const struct sql_scope *scope, const struct sql_expression *name,
                        struct sql_scope_column *column)
{
    return find_between(scope, 0, scope->count, name->qualifier, name->name, column);
}

bool sql_scope_visible(const struct sql_scope *scope, uint32_t source, uint32_t column,
                       struct sql_scope_column *value)
{
    return value_of(scope, source, column, 0, scope->count, value);
}

enum status sql_scope_tree(const struct sql_scope *scope, struct sql_statement_tree *tree,
                           const struct sql_scope_column *column, struct sql_position position,
                           struct sql_expression **out, struct error *error)
{
    for (uint32_t i = 0; i < column->count; i++) {
        struct sql_expression *name, *first = *out;
        RETURN_IF_ERROR(sql_tree_column(tree, position, sql_source_name(&scope->sources[column->sources[i]]),
                                        scope->name(scope->context, column->sources[i], column->columns[i]),
                                        &name, error));
        *out = name;
        if (i == 0)
            continue;
        RETURN_IF_ERROR(sql_tree_node(tree, SQL_FUNCTION, position, out, error));
        (*out)->name = "coalesce";
        RETURN_IF_ERROR(sql_tree_child(tree, *out, first, error));
        RETURN_IF_ERROR(sql_tree_child(tree, *out, name, error));
    }
    return STATUS_OK;
}

/* ---- ON and USING ---- */

struct resolving {
    const struct sql_scope *scope;
    struct sql_statement_tree *tree;
    uint32_t join; /* the table whose ON is resolved */
    struct error *error;
};

static enum status refuse(const struct resolving *resolving, struct sql_position position, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));

static enum status refuse(const struct resolving *resolving, struct sql_position position, const char *format,
                          ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(resolving->error, position, format, arguments);
    va_end(arguments);
    return status;
}

/* True if ON sees the tables of its item alone: a RIGHT, FULL or ASOF JOIN is in the item of FROM that begins with `first`, or
 * the item is a group. */
static bool is_strict(const struct sql_scope *scope, uint32_t first)
{
    const struct sql_source *const sources = scope->sources;
    bool strict = sources[first].depth > 0;
    for (uint32_t s = first;
         s < scope->count && (s == first || sources[s].depth > 0 || sources[s].join != SQL_JOIN_NONE); s++)
        strict |= sources[s].depth == 0 && (sources[s].join >= SQL_JOIN_RIGHT || sources[s].nearest);
    return strict;
}

uint32_t sql_scope_find_on(const struct sql_scope *scope, uint32_t join, const struct sql_expression *name,
                           struct sql_scope_column *column)
{
    const uint32_t first = sql_scope_first(scope, join);
    const uint32_t count =
        find_between(scope, first, sql_scope_end(scope, join), name->qualifier, name->name, column);
    return count == 0 && !is_strict(scope, first)
               ? find_between(scope, 0, first, name->qualifier, name->name, column)
               : count;
}

const char *sql_scope_owners(const struct sql_scope *scope, const struct sql_expression *name, char *text,
                             size_t bytes)
{
    size_t used = 0;
    uint32_t sources = 0, last = 0;
    *text = '\0';
    for (uint32_t s = 0; s < scope->count; s++) {
        uint32_t column;
        if (scope->sources[s].group || !scope->find(scope->context, s, name->name, &column) ||
            (name->qualifier && word_compare(name->qualifier, sql_source_name(&scope->sources[s])) != 0))
            continue;
        last = s;
        if (used < bytes - 100)
            used +=
                (size_t)snprintf(text + used, bytes - used, "%s%.40s.%.40s", sources ? " or " : "; write ",
                                 sql_source_name(&scope->sources[s]), name->name);
        sources++;
    }
    if (sources == 1)
        snprintf(text, bytes, ": %.40s has several of that name; give them aliases",
                 sql_source_name(&scope->sources[last]));
    return text;
}

static const char *name_of(const struct sql_source *source)
{
    return source->group ? "the tables in parentheses" : sql_source_name(source);
}

/* The table of that name; the number of tables: there is none. */
static uint32_t table_named(const struct sql_scope *scope, const char *name)
{
    uint32_t s = 0;
    while (s < scope->count && word_compare(sql_source_name(&scope->sources[s]), name) != 0)
        s++;
    return s;
}

/* A name that ON does not see, though FROM may have it; else it is an alias, or the binder says what there is. */
static enum status refuse_outside(const struct resolving *resolving, const struct sql_expression *name)
{
    const struct sql_scope *const scope = resolving->scope;
    const char *const joined = name_of(&scope->sources[resolving->join]);
    struct sql_scope_column column = {.sources = {scope->count}};
    if (name->qualifier)
        column.sources[0] = table_named(scope, name->qualifier);
    else
        (void)sql_scope_find(scope, name, &column);
    const uint32_t s = column.sources[0];
    const uint32_t end = sql_scope_end(scope, resolving->join);
    if (s == scope->count || (s < end && s >= sql_scope_first(scope, resolving->join)))
        return STATUS_OK;
    const char *const table = sql_source_name(&scope->sources[s]);
    if (s < end && scope->sources[resolving->join].depth > 0)
        return refuse(
            resolving, name->position,
            "ON of %s names %s, which stands outside its parentheses; put the condition into ON after "
            "them, or into WHERE",
            joined, table);
    if (s >= end)
        return refuse(
            resolving, name->position,
            "ON of %s names %s, which is joined later; join %s first, or put the condition into its ON "
            "or into WHERE",
            joined, table, table);
    return refuse(
        resolving, name->position,
        "ON of %s names %s, which stands before a comma: JOIN binds closer than a comma, so RIGHT, FULL "
        "and ASOF JOIN join the tables after it alone; write CROSS JOIN for the comma, or put the condition "
        "into WHERE",
        joined, table);
}

static enum status resolve_name(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    const struct resolving *const resolving = context;
    const struct sql_scope *const scope = resolving->scope;
    struct sql_scope_column column;
    if (node->operation != SQL_COLUMN || (node->qualifier && node->qualifier[0] == '?'))
        return STATUS_OK;
    const uint32_t count = sql_scope_find_on(scope, resolving->join, node, &column);
    if (count == 1)
        return sql_scope_tree(scope, resolving->tree, &column, node->position, out, resolving->error);
    char owners[OWNERS_BYTES];
    if (count > 1)
        return refuse(resolving, node->position, "%s could be a column of more than one table%s", node->name,
                      sql_scope_owners(scope, node, owners, sizeof owners));
    return refuse_outside(resolving, node);
}

/* Gives the equality of a column of USING. */
static enum status equal_sides(const struct resolving *resolving, const struct sql_shared *shared,
                               struct sql_expression **equal)
{
    const struct sql_scope *const scope = resolving->scope;
    const uint32_t join = resolving->join;
    struct sql_scope_column columns[2];
    struct sql_expression *side;
    RETURN_IF_ERROR(sql_tree_node(resolving->tree, SQL_EQUAL, shared->position, equal, resolving->error));
    for (int right = 0; right < 2; right++) {
        const uint32_t first = right ? join : sql_scope_first(scope, join),
                       end = right ? sql_scope_end(scope, join) : join;
        const uint32_t count = find_between(scope, first, end, NULL, shared->name, &columns[right]);
        if (count == 0)
            return refuse(resolving, shared->position,
                          "USING (%s): there is no column %s in %s, which stands on the %s of JOIN",
                          shared->name, shared->name,
                          end - first > 1 ? "the tables" : sql_source_name(&scope->sources[first]),
                          right ? "right" : "left");
        if (count > 1)
            return refuse(resolving, shared->position,
                          "USING (%s): %s could be a column of more than one table on the %s; write ON with "
                          "TABLE.%s",
                          shared->name, shared->name, right ? "right" : "left", shared->name);
        RETURN_IF_ERROR(sql_scope_tree(scope, resolving->tree, &columns[right], shared->position, &side,
                                       resolving->error));
        RETURN_IF_ERROR(sql_tree_child(resolving->tree, *equal, side, resolving->error));
    }
    return STATUS_OK;
}

static enum status resolve_using(const struct resolving *resolving, struct sql_source *source)
{
    struct sql_expression *equal, *both;
    for (uint32_t n = 0; n < source->shared_count; n++) {
        RETURN_IF_ERROR(equal_sides(resolving, &source->shared[n], &equal));
        if (source->nearest && n + 1 == source->shared_count)
            equal->operation = SQL_GREATER_EQUAL;
        if (source->on) {
            RETURN_IF_ERROR(
                sql_tree_node(resolving->tree, SQL_AND, equal->position, &both, resolving->error));
            RETURN_IF_ERROR(sql_tree_child(resolving->tree, both, source->on, resolving->error));
            RETURN_IF_ERROR(sql_tree_child(resolving->tree, both, equal, resolving->error));
            equal = both;
        }
        source->on = equal;
    }
    return STATUS_OK;
}

enum status sql_scope_resolve_on(const struct sql_scope *scope, struct sql_statement_tree *tree,
                                 uint32_t join, const struct sql_expression *on, struct sql_expression **out,
                                 struct error *error)
{
    struct resolving resolving = {.scope = scope, .tree = tree, .join = join, .error = error};
    return sql_tree_rewrite(tree, on, resolve_name, &resolving, out, error);
}

enum status sql_scope_resolve(const struct sql_scope *scope, struct sql_statement_tree *tree,
                              struct sql_source *sources, struct error *error)
{
    for (uint32_t s = 0; s < scope->count; s++) {
        const struct resolving resolving = {.scope = scope, .tree = tree, .join = s, .error = error};
        RETURN_IF_ERROR(sql_scope_resolve_on(scope, tree, s, sources[s].on, &sources[s].on, error));
        RETURN_IF_ERROR(resolve_using(&resolving, &sources[s]));
    }
    return STATUS_OK;
}
