/* expression_tables.c: the tables of IN and of look-ups (expression.h): sets of values, with a bitmap where that pays, and values by
 * code. Equal tables are found by their hashes. */
#include "engine/plan/expression.h"

#include "storage/base/memory.h"
#include "storage/base/number/number_set.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct table_sought {
    const struct expression_list *list;
    struct value_table table;
};

static bool same_table(const void *context, uint32_t number)
{
    const struct table_sought *sought = context;
    const struct value_table *table = &sought->list->tables[number];
    return table->count == sought->table.count && table->size == sought->table.size &&
           (table->count == 0 ||
            memcmp(table->values, sought->table.values, table->count * sizeof *table->values) == 0) &&
           (table->size == table->count || memcmp(table->members, sought->table.members,
                                                  value_table_members(table) * sizeof(uint64_t)) == 0);
}

static enum status table_append(struct expression_list *list, struct value_table table, uint64_t hash,
                                struct error *error)
{
    RETURN_IF_ERROR(
        memory_grow(&list->tables, (list->table_count + 1) * sizeof *list->tables, "expressions", error));
    RETURN_IF_ERROR(hash_table_add(&list->table_index, hash, list->table_count, error));
    list->tables[list->table_count++] = table;
    return STATUS_OK;
}

/* Owns what the table has. */
static enum status table_add(struct expression_list *list, struct value_table table, uint32_t *index,
                             struct error *error)
{
    const struct table_sought sought = {list, table};
    const uint64_t hash = table.count ? XXH3_64bits(table.values, table.count * sizeof *table.values) : 0;
    enum status status = STATUS_OK;
    *index = hash_table_find(&list->table_index, hash, same_table, &sought);
    if (*index == HASH_TABLE_NONE) {
        *index = list->table_count;
        status = table_append(list, sought.table, hash, error);
        if (status == STATUS_OK)
            return STATUS_OK;
    }
    free(table.values);
    free(table.members);
    return status;
}

/* A set of so many values has a bitmap also if it is larger than they are, but of no more than 512 KiB, or 32 bytes a value:
 * a search among the values takes longer for each row than its making for all. */
#define BITMAP_VALUES_MIN 32u
#define BITMAP_SPAN_MAX   (UINT64_C(1) << 22)
#define BITMAP_SPAN_VALUE 256u

static bool has_bitmap(const struct value_table *table)
{
    const uint64_t count = table->count,
                   span = (uint64_t)table->values[count - 1] - (uint64_t)table->values[0];
    return number_set_is_dense(table->values, count) ||
           (count >= BITMAP_VALUES_MIN && (span < BITMAP_SPAN_MAX || span / BITMAP_SPAN_VALUE < count));
}

static enum status table_members(struct value_table *table, struct error *error)
{
    if (table->count == 0 || table->members || !has_bitmap(table))
        return STATUS_OK;
    const uint64_t low = (uint64_t)table->values[0], span = (uint64_t)table->values[table->count - 1] - low;
    RETURN_IF_ERROR(memory_zeros(&table->members, 2 * ((span + 1) / 64 + 1) * sizeof *table->members,
                                 "a set of values", error));
    for (uint64_t i = 0; i < table->count; i++) {
        const uint64_t place = (uint64_t)table->values[i] - low;
        table->members[place / 32] |= 1u << place % 32;
    }
    return STATUS_OK;
}

enum status expression_in_set(struct expression_list *list, uint32_t child, int64_t *values, uint64_t count,
                              uint32_t *index, struct error *error)
{
    struct expression node = {.operation = EXPRESSION_IN_SET, .children = 1, .child = {child, 0, 0}};
    RETURN_IF_ERROR(table_add(list, (struct value_table){.count = count, .values = values, .size = count},
                              &node.table, error));
    RETURN_IF_ERROR(table_members(&list->tables[node.table], error));
    return expression_add(list, &node, index, error);
}

enum status expression_in_bits(struct expression_list *list, uint32_t child, const struct number_bits *bits,
                               uint32_t *index, struct error *error)
{
    struct expression node = {.operation = EXPRESSION_IN_SET, .children = 1, .child = {child, 0, 0}};
    struct value_table table = {.count = 2, .size = bits->count};
    const uint64_t words = number_bits_words(bits);
    RETURN_IF_ERROR(memory_take(&table.values, 2 * sizeof *table.values, "a set of values", error));
    table.values[0] = bits->low;
    table.values[1] = bits->high;
    const enum status status =
        memory_take(&table.members, (words + 1) * sizeof *bits->words, "a set of values", error);
    if (status != STATUS_OK) {
        free(table.values);
        return status;
    }
    memcpy(table.members, bits->words, words * sizeof *bits->words);
    memset((uint64_t *)(void *)table.members + words, 0, sizeof *bits->words);
    RETURN_IF_ERROR(table_add(list, table, &node.table, error));
    return expression_add(list, &node, index, error);
}

enum status expression_lookup(struct expression_list *list, uint32_t child, struct value_type type,
                              int64_t *values, uint64_t count, uint32_t *index, struct error *error)
{
    struct expression node = {
        .operation = EXPRESSION_LOOKUP, .type = type, .children = 1, .child = {child, 0, 0}};
    RETURN_IF_ERROR(table_add(list, (struct value_table){.count = count, .values = values, .size = count},
                              &node.table, error));
    return expression_add(list, &node, index, error);
}
