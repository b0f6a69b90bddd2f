/*
 * summary.c: binds SUMMARIZE (bind.h), which tells of each column of a table or query what DuckDB tells. It becomes the union
 * of one SELECT for each column, so that each is one scan of that column alone:
 *
 *     SUMMARIZE t      SELECT 'k' AS column_name, 'INTEGER' AS column_type, CAST(min(k) AS VARCHAR) AS min, ... FROM t
 *                      UNION ALL SELECT 'v', ... FROM t
 *
 * A query, a view too, is one of WITH, which is answered once.
 */
#include "engine/logical/bind/bind.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/sql_text.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of the query of WITH, which nobody writes. */
#define QUERY_NAME "#summary"

/* What is told of: a stored table, or else a query that WITH has. */
struct summary {
    const struct bind_state *state;
    const struct table *stored; /* or NULL */
    const struct logical_node *node;
    const char **names; /* of the node's columns */
};

/* The type of a column; a stored one may have fewer bits or digits. */
static void write_type(FILE *out, const struct summary *summary, uint32_t c)
{
    const struct value_type type = summary->state->tree->columns[summary->node->columns[c]].type;
    const struct column *stored = summary->stored ? &summary->stored->columns[c] : NULL;
    if (stored && stored->references)
        stored = stored->references;
    if (value_is_decimal(type))
        fprintf(out, "'DECIMAL(%u,%u)'", stored ? stored->schema.precision : 18, type.scale);
    else
        sql_text_write(out, stored && stored->schema.type == TYPE_INT32 ? "INTEGER" : bind_type_name(type));
}

/* A text of an aggregate of the column, or NULL. */
static void write_value(FILE *out, const char *begin, const char *column, const char *end, const char *name)
{
    if (begin)
        fprintf(out, ", CAST(%s%s%s AS VARCHAR) AS %s", begin, column, end, name);
    else
        fprintf(out, ", CAST(NULL AS VARCHAR) AS %s", name);
}

/* The sketch of different values is a scan of its own: with another sketch beside it there would be a group for each pair
 * of their cells. */
static void write_select(FILE *out, const struct summary *summary, uint32_t c, const char *column,
                         const char *from)
{
    const enum value_kind kind = summary->state->tree->columns[summary->node->columns[c]].type.kind;
    const bool number = kind == VALUE_INTEGER || kind == VALUE_DOUBLE;
    const char *const quantile =
        number || kind == VALUE_DATE || kind == VALUE_TIMESTAMP ? "approx_quantile(" : NULL;
    fputs("SELECT ", out);
    sql_text_write(out, summary->names[c]);
    fputs(" AS column_name, ", out);
    write_type(out, summary, c);
    fputs(" AS column_type", out);
    write_value(out, "min(", column, ")", "min");
    write_value(out, "max(", column, ")", "max");
    fprintf(out, ", (SELECT approx_count_distinct(%s) FROM %s) AS approx_unique", column, from);
    write_value(out, number ? "avg(" : NULL, column, ")", "avg");
    write_value(out, number ? "stddev_samp(" : NULL, column, ")", "std");
    write_value(out, quantile, column, ", 0.25)", "q25");
    write_value(out, quantile, column, ", 0.5)", "q50");
    write_value(out, quantile, column, ", 0.75)", "q75");
    fprintf(out,
            ", count(*) AS count, CAST(100.0 * (count(*) - count(%s)) / count(*) AS DECIMAL(9,2)) AS "
            "null_percentage FROM %s",
            column, from);
}

/* The name of a column in quotes; "" becomes no name. */
static char *quoted_name(const char *name)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = text_stream(&text, &bytes);
    if (!out)
        return NULL;
    sql_name_write(out, name, true);
    return fclose(out) == 0 ? text : NULL;
}

/* Writes the union. A stored table's columns have the names that they have there, those of a query their numbers. */
static bool write_union(FILE *out, const struct summary *summary)
{
    const struct table *const stored = summary->stored;
    char *const from = quoted_name(stored ? stored->name : QUERY_NAME);
    bool whole = from;
    for (uint32_t c = 0; whole && c < summary->node->column_count; c++) {
        char number[16];
        snprintf(number, sizeof number, "c%u", c);
        char *const column = quoted_name(stored ? stored->columns[c].schema.name : number);
        whole = column;
        if (c)
            fputs(" UNION ALL ", out);
        if (whole)
            write_select(out, summary, c, column, from);
        free(column);
    }
    free(from);
    return whole;
}

/* Parses what is written of the columns. */
static enum status make_union(const struct summary *summary, struct sql_position position,
                              struct sql_select **select)
{
    const struct bind_state *const state = summary->state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = text_stream(&text, &bytes);
    const bool whole = out && write_union(out, summary);
    enum status status = STATUS_OK;
    if (!out || fclose(out) != 0 || !whole)
        status = error_out_of_memory(state->error, bytes, "SUMMARIZE");
    if (status == STATUS_OK)
        status = sql_parse_made(state->arena, text, bytes, position, select, state->error);
    free(text);
    return status;
}

/* SELECT * FROM the source, whose columns are those to be told of. */
static enum status select_all(const struct bind_state *state, const struct sql_source *source,
                              struct sql_select **all)
{
    struct sql_item star = {.text = "*"};
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof **all, all, state->error));
    (*all)->position = source->position;
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_STAR, source->position, &star.expression, state->error));
    RETURN_IF_ERROR(
        sql_tree_append(state->arena, &(*all)->items, &(*all)->item_count, sizeof star, &star, state->error));
    return sql_tree_append(state->arena, &(*all)->sources, &(*all)->source_count, sizeof *source, source,
                           state->error);
}

/* The stored table that the source is; NULL: it is a query, a view or one of WITH. */
static const struct table *stored_source(const struct bind_state *state, const struct sql_source *source,
                                         const struct bind_named *named)
{
    while (source->table && named && word_compare(named->with->name, source->table) != 0)
        named = named->before;
    return source->table && !named ? database_find(state->database, source->table) : NULL;
}

/* Names the columns of the query of WITH by their numbers, so that they differ. */
static enum status number_columns(const struct bind_state *state, uint32_t count, struct sql_with *with)
{
    with->column_count = count;
    RETURN_IF_ERROR(
        sql_tree_take(state->arena, (count + 1) * sizeof *with->columns, &with->columns, state->error));
    for (uint32_t c = 0; c < count; c++) {
        char *name;
        RETURN_IF_ERROR(sql_tree_take(state->arena, 16, &name, state->error));
        snprintf(name, 16, "c%u", c);
        with->columns[c] = name;
    }
    return STATUS_OK;
}

enum status bind_summary(struct bind_state *state, const struct sql_select *select,
                         const struct bind_named *named, struct logical_node **node, const char ***names)
{
    const struct sql_source *const source = &select->sources[0];
    struct summary summary = {.state = state, .stored = stored_source(state, source, named)};
    struct sql_select *all, *made;
    struct sql_with *with;
    struct bind_named *query;
    RETURN_IF_ERROR(select_all(state, source, &all));
    RETURN_IF_ERROR(bind_query(state, all, named, NULL, node, names));
    summary.node = *node;
    summary.names = *names;
    RETURN_IF_ERROR(make_union(&summary, source->position, &made));
    if (summary.stored)
        return bind_query(state, made, named, NULL, node, names);
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *with, &with, state->error));
    *with = (struct sql_with){.name = QUERY_NAME, .query = all, .position = source->position};
    RETURN_IF_ERROR(number_columns(state, summary.node->column_count, with));
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *query, &query, state->error));
    *query = (struct bind_named){.with = with, .before = named};
    return bind_query(state, made, query, NULL, node, names);
}
