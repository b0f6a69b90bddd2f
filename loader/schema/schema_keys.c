/* schema_keys.c: keys of several columns in a schema script (schema_parser.h), and references that are no columns of
 * their own: those of several columns, of a column to its own table, and to a UNIQUE column beside a primary key. Each
 * becomes a column after those of the files (struct column_schema: of), which has the positions of the rows that are
 * referenced; the columns themselves keep their values. */
#include "loader/schema/schema_parser.h"

#include <stdio.h>
#include <string.h>

static uint16_t number_of(const struct schema_table *table, const struct column_schema *column)
{
    return (uint16_t)(column - table->columns);
}

static enum status key_from(struct schema_parser *parser, const struct schema_table *table,
                            struct column_schema *const *columns, uint32_t count, struct key_columns *key)
{
    *key = (struct key_columns){0};
    if (count > KEY_COLUMNS_MAX)
        return schema_complain(parser, "the key has more than 16 columns");
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t before = 0; before < k; before++)
            if (columns[before] == columns[k])
                return schema_complain(parser, "the key has a column twice");
        key->columns[key->count++] = number_of(table, columns[k]);
    }
    return STATUS_OK;
}

enum status schema_add_tuple(struct schema_parser *parser, struct schema_table *table,
                             struct column_schema *const *columns, uint32_t count, bool primary)
{
    struct key_columns key;
    RETURN_IF_ERROR(key_from(parser, table, columns, count, &key));
    for (uint32_t i = 0; primary && i < table->tuple_count; i++)
        if (table->tuples[i].primary)
            return schema_complain(parser, "the table has two primary keys");
    if (primary && schema_key(table))
        return schema_complain(parser, "the table has two primary keys");
    if (table->tuple_count == SCHEMA_TUPLES_MAX)
        return schema_complain(parser, "the table has more than 64 keys of several columns");
    table->tuples[table->tuple_count++] = (struct schema_tuple){.key = key, .primary = primary};
    return STATUS_OK;
}

/* ---- References ---- */

static enum status add_reference(struct schema_parser *parser, const struct schema_reference *reference)
{
    if (parser->reference_count == SCHEMA_REFERENCES_MAX)
        return schema_complain(parser, "the script has more than 512 references of several columns");
    parser->references[parser->reference_count++] = *reference;
    return STATUS_OK;
}

enum status schema_take_wide_reference(struct schema_parser *parser, const struct schema_table *table,
                                       struct column_schema *const *columns, uint32_t count)
{
    struct schema_reference reference = {.table = (uint32_t)(table - parser->schema->tables),
                                         .line = parser->token.line};
    bool more;
    RETURN_IF_ERROR(key_from(parser, table, columns, count, &reference.of));
    RETURN_IF_ERROR(schema_advance(parser));
    RETURN_IF_ERROR(schema_take_qualified(parser, "a table's name", reference.target));
    RETURN_IF_ERROR(schema_take(parser, "(", &more));
    while (more) {
        if (reference.name_count == count)
            return schema_complain(parser, "the reference has fewer columns than the key that it names");
        RETURN_IF_ERROR(schema_take_name(parser, "a column's name", reference.names[reference.name_count++]));
        RETURN_IF_ERROR(schema_take(parser, ",", &more));
        if (!more)
            RETURN_IF_ERROR(schema_expect(parser, ")"));
    }
    if (reference.name_count && reference.name_count < count)
        return schema_complain(parser, "the reference has more columns than the key that it names");
    RETURN_IF_ERROR(schema_skip_actions(parser));
    return add_reference(parser, &reference);
}

enum status schema_widen_reference(struct schema_parser *parser, const struct schema_table *table,
                                   struct column_schema *column)
{
    struct schema_reference reference = {.table = (uint32_t)(table - parser->schema->tables),
                                         .line = table->line,
                                         .of = {.count = 1, .columns = {number_of(table, column)}}};
    snprintf(reference.target, sizeof reference.target, "%s", column->references_table);
    if (column->references_column[0])
        snprintf(reference.names[reference.name_count++], NAME_BYTES, "%s", column->references_column);
    column->references_table[0] = column->references_column[0] = '\0';
    return add_reference(parser, &reference);
}

/* ---- The key that is referenced ---- */

const char *schema_key_names(const struct schema_table *table, const struct key_columns *key, char *text,
                             size_t bytes)
{
    size_t used = 0;
    for (uint32_t k = 0; k < key->count && used + 2 * NAME_BYTES < bytes; k++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", k ? ", " : "(",
                                 table->columns[key->columns[k]].name);
    snprintf(text + used, bytes - used, ")");
    return text;
}

static struct error *fault(struct schema_parser *parser)
{
    return &parser->error;
}

/* The columns that the reference names, or those of the target's primary key. */
static enum status named_key(struct schema_parser *parser, const struct schema_reference *reference,
                             struct schema_table *target, struct key_columns *key)
{
    const struct column_schema *const single = schema_key(target);
    *key = (struct key_columns){0};
    for (uint32_t k = 0; k < reference->name_count; k++) {
        const struct column_schema *const column = schema_column_named(target, reference->names[k]);
        if (!column)
            return error_set(fault(parser), STATUS_BAD_INPUT,
                             "%s:%u: the reference names %s.%s, and the table has no such column",
                             parser->path, reference->line, target->name, reference->names[k]);
        key->columns[key->count++] = number_of(target, column);
    }
    for (uint32_t i = 0; !reference->name_count && i < target->tuple_count; i++)
        if (target->tuples[i].primary)
            *key = target->tuples[i].key;
    if (!reference->name_count && single)
        *key = (struct key_columns){.count = 1, .columns = {number_of(target, single)}};
    if (key->count == 0)
        return error_set(fault(parser), STATUS_BAD_INPUT,
                         "%s:%u: table %s, which is referenced, has no primary key; say PRIMARY KEY there",
                         parser->path, reference->line, target->name);
    return key->count == reference->of.count
               ? STATUS_OK
               : error_set(fault(parser), STATUS_BAD_INPUT,
                           "%s:%u: a reference of %u columns names table %s, whose primary key has %u",
                           parser->path, reference->line, reference->of.count, target->name, key->count);
}

static bool same_columns(const struct key_columns *left, const struct key_columns *right)
{
    uint32_t found = 0;
    for (uint32_t l = 0; l < left->count; l++)
        for (uint32_t r = 0; r < right->count; r++)
            found += left->columns[l] == right->columns[r];
    return left->count == right->count && found == left->count;
}

/* The tuple of these columns, in any order; one of a single key is added. */
static struct schema_tuple *find_tuple(struct schema_table *target, const struct key_columns *key)
{
    const struct column_schema *const first = &target->columns[key->columns[0]];
    for (uint32_t i = 0; i < target->tuple_count; i++)
        if (same_columns(&target->tuples[i].key, key))
            return &target->tuples[i];
    if (key->count > 1 || (!first->primary_key && !target->unique[key->columns[0]]) ||
        target->tuple_count == SCHEMA_TUPLES_MAX)
        return NULL;
    target->tuples[target->tuple_count] = (struct schema_tuple){.key = *key};
    return &target->tuples[target->tuple_count++];
}

/* Values of both columns are the same numbers or texts, if both reference the same table, or none. */
static bool same_type(const struct column_schema *left, const struct column_schema *right)
{
    const bool whole = (left->type == TYPE_INT32 || left->type == TYPE_INT64) &&
                       (right->type == TYPE_INT32 || right->type == TYPE_INT64);
    return whole || (left->type == right->type && left->scale == right->scale && left->zoned == right->zoned);
}

static bool alike(const struct column_schema *left, const struct column_schema *right)
{
    return strcmp(left->references_table, right->references_table) == 0 &&
           (left->references_table[0] || same_type(left, right));
}

/* A column that references one which references a third table has keys of that table, too, and becomes a reference to it:
 * TPC-H's l_partkey, which references ps_partkey, to part. That is so if no row of the reference may have a NULL.
 * Returns whether a column became one. */
static bool follow_reference(struct schema_parser *parser, const struct schema_reference *reference)
{
    struct schema_table *const table = &parser->schema->tables[reference->table],
                               *const target =
                                   (struct schema_table *)schema_table(parser->schema, reference->target);
    const struct error before = parser->error;
    struct key_columns key;
    bool nullable = false, followed = false;
    const bool named = target && target != table && named_key(parser, reference, target, &key) == STATUS_OK;
    parser->error = before; /* `resolve` tells it */
    for (uint32_t k = 0; named && k < key.count; k++)
        nullable |= table->columns[reference->of.columns[k]].nullable;
    for (uint32_t k = 0; named && !nullable && k < key.count; k++) {
        struct column_schema *const own = &table->columns[reference->of.columns[k]];
        const struct column_schema *const other = &target->columns[key.columns[k]];
        if (own->references_table[0] || !other->references_table[0] || own->primary_key ||
            strcmp(other->references_table, table->name) == 0 || !same_type(own, other))
            continue;
        memcpy(own->references_table, other->references_table, sizeof own->references_table);
        memcpy(own->references_column, other->references_column, sizeof own->references_column);
        followed = true;
    }
    return followed;
}

static enum status check_types(struct schema_parser *parser, const struct schema_reference *reference,
                               const struct schema_table *table, const struct schema_table *target,
                               const struct key_columns *key)
{
    for (uint32_t k = 0; k < key->count; k++) {
        const struct column_schema *const own = &table->columns[reference->of.columns[k]],
                                          *const other = &target->columns[key->columns[k]];
        if (!alike(own, other))
            return error_set(fault(parser), STATUS_BAD_INPUT,
                             "%s:%u: the reference compares %s.%s with %s.%s, which are of different types%s",
                             parser->path, reference->line, table->name, own->name, target->name, other->name,
                             strcmp(own->references_table, other->references_table) != 0
                                 ? ": one of them references another table; let both reference it, or none"
                                 : "");
    }
    return STATUS_OK;
}

/* The pairs in the order of the key. */
static void order_pairs(const struct key_columns *order, struct key_columns *key, struct key_columns *of)
{
    const struct key_columns old_key = *key, old_of = *of;
    for (uint32_t k = 0; k < order->count; k++)
        for (uint32_t o = 0; o < order->count; o++)
            if (old_key.columns[o] == order->columns[k]) {
                key->columns[k] = old_key.columns[o];
                of->columns[k] = old_of.columns[o];
            }
}

static enum status resolve(struct schema_parser *parser, const struct schema_reference *reference)
{
    char list[ERROR_TEXT_BYTES];
    struct schema_table *const table = &parser->schema->tables[reference->table];
    struct schema_table *const target =
        (struct schema_table *)schema_table(parser->schema, reference->target);
    struct column_schema made = {.type = TYPE_INT32, .of = reference->of};
    if (!target)
        return error_set(fault(parser), STATUS_BAD_INPUT,
                         "%s:%u: table %s references table %s, which the script does not create",
                         parser->path, reference->line, table->name, reference->target);
    RETURN_IF_ERROR(named_key(parser, reference, target, &made.key));
    struct schema_tuple *const tuple = find_tuple(target, &made.key);
    if (!tuple)
        return error_set(fault(parser), STATUS_BAD_INPUT,
                         "%s:%u: table %s references %s %s, which is no primary key and not UNIQUE; say "
                         "PRIMARY KEY or UNIQUE there",
                         parser->path, reference->line, table->name, target->name,
                         schema_key_names(target, &made.key, list, sizeof list));
    RETURN_IF_ERROR(check_types(parser, reference, table, target, &made.key));
    order_pairs(&tuple->key, &made.key, &made.of);
    tuple->referenced = true;
    snprintf(made.references_table, NAME_BYTES, "%s", target->name);
    snprintf(made.references_column, NAME_BYTES, "%s", target->columns[made.key.columns[0]].name);
    for (uint32_t k = 0; k < made.of.count; k++)
        made.nullable |= table->columns[made.of.columns[k]].nullable;
    if ((size_t)snprintf(made.name, sizeof made.name, "%.60s",
                         schema_key_names(table, &made.of, list, sizeof list)) != strlen(list))
        snprintf(made.name, sizeof made.name, "(reference %u)", table->reference_count + 1);
    for (uint32_t c = 0; c < schema_columns(table); c++)
        if (strcmp(table->columns[c].name, made.name) == 0)
            return error_set(fault(parser), STATUS_BAD_INPUT,
                             "%s:%u: table %s references two tables by %s; take one of the two out",
                             parser->path, reference->line, table->name, made.name);
    if (schema_columns(table) == SCHEMA_COLUMNS_MAX)
        return error_set(fault(parser), STATUS_BAD_INPUT,
                         "%s:%u: table %s has more than 1024 columns and references of several columns",
                         parser->path, reference->line, table->name);
    table->columns[table->column_count + table->reference_count++] = made;
    return STATUS_OK;
}

enum status schema_resolve_wide(struct schema_parser *parser)
{
    for (bool followed = true; followed;) {
        followed = false;
        for (uint32_t r = 0; r < parser->reference_count; r++)
            followed |= follow_reference(parser, &parser->references[r]);
    }
    for (uint32_t r = 0; r < parser->reference_count; r++)
        RETURN_IF_ERROR(schema_error_keep(parser, resolve(parser, &parser->references[r])));
    return STATUS_OK;
}
