/*
 * join_database.c: processes find out whether they share a database or have parts of one, and plan by the same
 * statistics (cluster.h). Each tells a number for every column of every table; a column whose numbers differ is named.
 */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/hash.h"
#include "storage/base/memory.h"
#include "storage/column/dictionary/stored_dictionary.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static uint64_t add(uint64_t number, uint64_t next)
{
    return hash_mix(number * 3 + next);
}

/* ---- Numbers ---- */

/* Strings of a part's dictionary are compared, because its codes travel; those of whole tables by their number.
 * open_dictionaries has opened it. */
static uint64_t dictionary_number(const struct column *column)
{
    if (!column->stored_dictionary)
        return 0;
    const struct dictionary *const dictionary = &column->stored_dictionary->dictionary;
    if (!column->table->part.of)
        return dictionary->count;
    return XXH3_64bits(dictionary->starts, (dictionary->count + (size_t)1) * sizeof *dictionary->starts) ^
           XXH3_64bits_withSeed(dictionary->bytes, dictionary->starts[dictionary->count], 1);
}

static uint64_t schema_number(const struct column *column)
{
    const struct column_schema *const schema = &column->schema;
    uint64_t number = XXH3_64bits(schema->name, strlen(schema->name));
    number = add(number, (uint64_t)schema->type << 32 | (uint64_t)schema->precision << 16 | schema->scale);
    number = add(number, (uint64_t)schema->nullable << 1 | schema->primary_key);
    number = add(number, XXH3_64bits(schema->references_table, strlen(schema->references_table)));
    return add(number, column->value_bytes);
}

/* What must be the same in all processes. */
static uint64_t column_number(const struct column *column)
{
    const struct column_statistics *const statistics = &column->statistics;
    uint64_t number = add(schema_number(column), dictionary_number(column));
    if (column->table->part.of)
        return number;
    number = add(add(number, (uint64_t)statistics->min), (uint64_t)statistics->max);
    return add(number, statistics->nulls);
}

static uint64_t table_number(const struct table *table)
{
    const struct table_levels *const levels = table->levels;
    uint64_t number = XXH3_64bits(table->name, strlen(table->name));
    number = add(add(number, table_whole_rows(table)), table->column_count);
    number = add(add(number, table->part.of), table->part.origin);
    for (uint32_t l = 0; levels && l < levels->count; l++)
        number = add(number, (uint64_t)levels->level[l].column << 32 | levels->level[l].bits);
    for (uint32_t s = 0; !table->part.of && s < table->segment_count; s++)
        number = add(number, table->segment_rows[s]);
    return add(number, table_positions(table) == table->rows ? 0 : table_positions(table));
}

static uint64_t tables_number(const struct database *database)
{
    uint64_t number = database_table_count(database);
    for (uint32_t t = 0; t < database_table_count(database); t++)
        number = add(number, table_number(database_table_at(database, t)));
    return number;
}

static uint32_t column_count(const struct database *database)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < database_table_count(database); t++)
        count += database_table_at(database, t)->column_count;
    return count;
}

static const struct column *column_at(const struct database *database, uint32_t number)
{
    uint32_t t = 0;
    for (; number >= database_table_at(database, t)->column_count; t++)
        number -= database_table_at(database, t)->column_count;
    return &database_table_at(database, t)->columns[number];
}

static enum status compare_columns(const struct cluster *cluster, const struct database *database,
                                   const uint64_t *all, uint32_t count, struct error *error)
{
    for (uint32_t rank = 1; rank < cluster->size; rank++)
        for (uint32_t c = 0; c < count; c++)
            if (all[(size_t)rank * count + c] != all[c]) {
                const struct column *const column = column_at(database, c);
                return error_set(error, STATUS_BAD_INPUT,
                                 "column %s.%s of process %u has another type, %s than that of process 0; "
                                 "load all parts with the same options and the same version of Tessera",
                                 column->table->name, column->schema.name, rank,
                                 column->table->part.of ? "or other strings,"
                                                        : "other statistics or other strings");
            }
    return STATUS_OK;
}

/* ---- Parts ---- */

static enum status check_parts(const struct cluster *cluster, const struct table *table,
                               const struct table_part *parts, const uint64_t *rows, struct error *error)
{
    uint64_t sum = 0;
    if (table->part.of != cluster->size)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s is in %u parts, and %u process%s run; start %u, each with a part of its "
                         "own (--db 'DIR.{part}')",
                         table->name, table->part.of, cluster->size, cluster->size == 1 ? "" : "es",
                         table->part.of);
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        sum += rows[rank];
        for (uint32_t other = 0; other < rank; other++)
            if (parts[other].number == parts[rank].number)
                return error_set(error, STATUS_BAD_INPUT,
                                 "processes %u and %u both have part %u of table %s; give each a part of its "
                                 "own (--db 'DIR.{part}')",
                                 other, rank, parts[rank].number, table->name);
    }
    if (sum != table->part.whole_rows)
        return error_set(error, STATUS_BAD_INPUT,
                         "the parts of table %s have %llu rows together, not %llu; load them again",
                         table->name, (unsigned long long)sum, (unsigned long long)table->part.whole_rows);
    return STATUS_OK;
}

/* The statistics of a column from those of its parts. Different values may be in several parts. */
static void merge_statistics(struct column_statistics *into, const struct column_statistics *part,
                             uint64_t whole_rows)
{
    const bool first = into->min > into->max, any = part->min <= part->max;
    if (any && (first || part->min < into->min))
        into->min = part->min;
    if (any && (first || part->max > into->max))
        into->max = part->max;
    into->bits = double_bits_join(into->bits, part->bits);
    into->nulls += part->nulls;
    into->runs += part->runs;
    into->distinct = part->distinct > into->distinct ? part->distinct : into->distinct;
    into->distinct = into->distinct < whole_rows ? into->distinct : whole_rows;
}

static enum status widen(struct cluster *cluster, struct database *database, const struct table *table,
                         struct column_statistics *mine, struct column_statistics *all, struct error *error)
{
    const uint32_t count = table->column_count;
    for (uint32_t c = 0; c < count; c++)
        mine[c] = table->columns[c].statistics;
    RETURN_IF_ERROR(cluster_gather_all(cluster, mine, count * sizeof *mine, all, error));
    for (uint32_t c = 0; c < count; c++) {
        mine[c] = all[c];
        for (uint32_t rank = 1; rank < cluster->size; rank++)
            merge_statistics(&mine[c], &all[(size_t)rank * count + c], table->part.whole_rows);
    }
    database_widen(database, table, mine);
    return STATUS_OK;
}

/* Checks and widens one table; `room` has memory for what all processes tell of it. */
static enum status join_table(struct cluster *cluster, struct database *database, const struct table *table,
                              char *room, struct error *error)
{
    struct table_part *const parts = (struct table_part *)room;
    RETURN_IF_ERROR(cluster_gather_all(cluster, &table->part, sizeof table->part, parts, error));
    uint64_t *const rows = (uint64_t *)(parts + cluster->size);
    RETURN_IF_ERROR(cluster_gather_all(cluster, &table->rows, sizeof table->rows, rows, error));
    RETURN_IF_ERROR(check_parts(cluster, table, parts, rows, error));
    struct column_statistics *const mine = (struct column_statistics *)room;
    return widen(cluster, database, table, mine, mine + table->column_count, error);
}

static enum status compare(struct cluster *cluster, const struct database *database, uint64_t *numbers,
                           struct error *error)
{
    const uint32_t count = column_count(database);
    for (uint32_t c = 0; c < count; c++)
        numbers[c] = column_number(column_at(database, c));
    RETURN_IF_ERROR(cluster_gather_all(cluster, numbers, count * sizeof *numbers, numbers + count, error));
    return compare_columns(cluster, database, numbers + count, count, error);
}

/* Opens what dictionary_number reads. */
static enum status open_dictionaries(const struct database *database, struct error *error)
{
    const uint32_t count = column_count(database);
    const struct dictionary *dictionary;
    for (uint32_t c = 0; c < count; c++)
        RETURN_IF_ERROR(column_at(database, c)->table->part.of
                            ? column_dictionary(column_at(database, c), 0, &dictionary, error)
                            : stored_dictionary_open(column_at(database, c)->stored_dictionary, error));
    return STATUS_OK;
}

enum status cluster_join_database(struct cluster *cluster, enum status status, struct database *database,
                                  struct error *error)
{
    char *room = NULL;
    if (!cluster)
        return status;
    const uint64_t columns = status == STATUS_OK ? column_count(database) + UINT64_C(1) : 0;
    if (status == STATUS_OK)
        status =
            memory_zeros(&room, (cluster->size + UINT64_C(1)) * columns * sizeof(struct column_statistics),
                         "the databases of all processes", error);
    status = AND_THEN(status, open_dictionaries(database, error));
    status = cluster_alike(cluster, CLUSTER_OPEN, status, status == STATUS_OK ? tables_number(database) : 0,
                           "database", error);
    status = AND_THEN(status, compare(cluster, database, (uint64_t *)room, error));
    for (uint32_t t = 0; status == STATUS_OK && t < database_table_count(database); t++)
        if (database_table_at(database, t)->part.of)
            status = join_table(cluster, database, database_table_at(database, t), room, error);
    free(room);
    return status;
}
