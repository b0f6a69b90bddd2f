/*
 * distribute.c: see distribute.h. A message is the fields of a block one after the other, as they lie in memory: all
 * processes are one program. One function for each kind of thing both writes and reads it. Pointers are told as NULL, so
 * that equal blocks have equal messages.
 */
#include "engine/relational/blocks/distribute.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define HASHED_NUMBERS UINT64_C(4096)  /* more of them are a hash of 128 bits in a key, */
#define SLICE_NUMBERS  UINT64_C(65536) /* and threads make it of so many at a time */

struct message {
    struct relational *run;
    bool hears;  /* fields are read from it; else they are added to it */
    bool is_key; /* nobody reads it: it tells blocks apart, and bitmaps and long lists have a hash in it */
    char *bytes;
    size_t size, at;             /* what is heard, or has room, and what was read or added of it */
    const struct sql_star *star; /* whose columns inputs are */
    uint32_t input_count;        /* of the inputs that were heard */
    struct heard_input *inputs;
};

/* An SQL_INPUT of a block that was heard. */
struct heard_input {
    uint32_t number, table, column;
};

/* ---- Fields ---- */

static enum status field(struct message *message, void *value, size_t bytes)
{
    struct error *const error = message->run->error;
    if (message->hears) {
        if (bytes > message->size - message->at)
            return error_set(error, STATUS_MACHINE, "process 0 told of a block in part only");
        memcpy(value, message->bytes + message->at, bytes);
    } else {
        if (message->at + bytes >= message->size) {
            message->size = 2 * (message->at + bytes) + 256;
            RETURN_IF_ERROR(memory_grow(&message->bytes, message->size, "a message", error));
        }
        memcpy(message->bytes + message->at, value, bytes);
    }
    message->at += bytes;
    return STATUS_OK;
}

/* Bytes with their length; NULL stays NULL. What is heard has a zero after it. */
static enum status text(struct message *message, const char **value, uint32_t *length)
{
    bool is_there = *value != NULL;
    RETURN_IF_ERROR(field(message, &is_there, sizeof is_there));
    *value = is_there ? *value : NULL;
    if (!is_there)
        return STATUS_OK;
    RETURN_IF_ERROR(field(message, length, sizeof *length));
    if (!message->hears)
        return field(message, (void *)*value, *length);
    char *copy;
    RETURN_IF_ERROR(relational_memory(message->run, (size_t)*length + 1, &copy));
    *value = copy;
    return field(message, copy, *length);
}

static enum status word(struct message *message, const char **value)
{
    uint32_t length = !message->hears && *value ? (uint32_t)strlen(*value) : 0;
    return text(message, value, &length);
}

/* Room for a list that is heard. */
static enum status list(struct message *message, uint32_t *count, size_t bytes, void *items)
{
    RETURN_IF_ERROR(field(message, count, sizeof *count));
    return message->hears ? relational_memory(message->run, (*count + (size_t)1) * bytes, items) : STATUS_OK;
}

/* ---- Expressions ---- */

/* The stored column that has the strings of codes, and with it their dictionary. */
static enum status strings_of(struct message *message, struct sql_keys *keys)
{
    struct relational *const run = message->run;
    const char *name = keys->strings ? keys->strings->table->name : NULL;
    uint32_t number = keys->strings ? (uint32_t)(keys->strings - keys->strings->table->columns) : 0;
    const struct table *table;
    RETURN_IF_ERROR(word(message, &name));
    RETURN_IF_ERROR(field(message, &number, sizeof number));
    if (!message->hears || !name)
        return STATUS_OK;
    RETURN_IF_ERROR(database_table(run->task->database, name, &table, run->error));
    keys->strings = &table->columns[number];
    return column_dictionary(keys->strings, engine_threads(run->task->engine), &keys->type.dictionary,
                             run->error);
}

/* Numbers that threads hash, a slice at a time. */
struct hashing {
    const int64_t *numbers;
    uint64_t count;
    XXH128_hash_t *slices;
};

static enum status hash_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct hashing *const hashing = context;
    const uint64_t begin = slice * SLICE_NUMBERS, left = hashing->count - begin;
    (void)thread;
    hashing->slices[slice] = XXH3_128bits(
        hashing->numbers + begin, (left < SLICE_NUMBERS ? left : SLICE_NUMBERS) * sizeof *hashing->numbers);
    return cancel_check(error);
}

/* The hash of the slices' hashes. */
static enum status hash_numbers(struct relational *run, const void *numbers, uint64_t count,
                                XXH128_hash_t *hash)
{
    const uint64_t slices = (count + SLICE_NUMBERS - 1) / SLICE_NUMBERS;
    struct hashing hashing = {.numbers = numbers, .count = count};
    RETURN_IF_ERROR(
        memory_take(&hashing.slices, (slices + 1) * sizeof *hashing.slices, "a message", run->error));
    const enum status status =
        parallel_for(engine_threads(run->task->engine), slices, hash_slice, &hashing, run->error);
    *hash = XXH3_128bits(hashing.slices, status == STATUS_OK ? slices * sizeof *hashing.slices : 0);
    free(hashing.slices);
    return status;
}

/* The keys of a list, or the values of a look-up. A key of a plan has a hash of what is long: neither is copied then, or compared
 * with those of all plans that are kept. */
static enum status keys_of(struct message *message, const struct sql_keys **keys)
{
    bool is_there = *keys != NULL;
    struct sql_keys *heard = NULL;
    RETURN_IF_ERROR(field(message, &is_there, sizeof is_there));
    if (!is_there)
        return STATUS_OK;
    if (message->hears)
        RETURN_IF_ERROR(relational_memory(message->run, sizeof *heard, &heard));
    struct sql_keys told = message->hears ? (struct sql_keys){0} : **keys;
    bool is_bits = told.bits != NULL;
    told.values = NULL;
    told.bits = NULL;
    told.strings = NULL;
    told.type.dictionary = NULL;
    RETURN_IF_ERROR(field(message, &told, sizeof told));
    RETURN_IF_ERROR(field(message, &is_bits, sizeof is_bits));
    told.strings = message->hears ? NULL : (*keys)->strings;
    RETURN_IF_ERROR(strings_of(message, &told));
    const uint64_t count = is_bits ? ((uint64_t)told.high - (uint64_t)told.low) / 64 + 1 : told.count,
                   bytes = count * sizeof(int64_t);
    if (message->is_key && (is_bits || count > HASHED_NUMBERS)) {
        XXH128_hash_t hash;
        const void *const numbers = is_bits ? (const void *)(*keys)->bits : (*keys)->values;
        RETURN_IF_ERROR(hash_numbers(message->run, numbers, count, &hash));
        return field(message, &hash, sizeof hash);
    }
    if (!message->hears)
        return field(message, is_bits ? (void *)(*keys)->bits : (*keys)->values, bytes);
    void *numbers;
    RETURN_IF_ERROR(relational_memory(message->run, bytes + sizeof(int64_t), &numbers));
    *heard = told;
    heard->values = is_bits ? NULL : numbers;
    heard->bits = is_bits ? numbers : NULL;
    *keys = heard;
    return field(message, numbers, bytes);
}

/* An input is told with its place in the star. */
static enum status input(struct message *message, struct sql_expression *node)
{
    struct heard_input told = {.number = node->index};
    const struct sql_star *const star = message->star;
    if (!message->hears) {
        const struct column *const column = star->column(star->context, node->index, &told.table);
        if (!column)
            return relational_refuse(message->run, node->position, "column %u of the tree is not answered",
                                     node->index);
        told.column = (uint32_t)(column - star->tables[told.table].table->columns);
    }
    RETURN_IF_ERROR(field(message, &told, sizeof told));
    return message->hears ? sql_tree_append(message->run->arena, &message->inputs, &message->input_count,
                                            sizeof told, &told, message->run->error)
                          : STATUS_OK;
}

static enum status expression(struct message *message, struct sql_expression **tree)
{
    bool is_there = *tree != NULL;
    RETURN_IF_ERROR(field(message, &is_there, sizeof is_there));
    if (!is_there)
        return STATUS_OK;
    if (message->hears)
        RETURN_IF_ERROR(relational_memory(message->run, sizeof **tree, tree));
    struct sql_expression node = **tree, told = node;
    told.text = told.name = told.qualifier = NULL; /* qualifiers are of columns alone, which are inputs */
    told.children = NULL;
    told.query = NULL;
    told.window = NULL;
    told.keys = NULL;
    RETURN_IF_ERROR(field(message, &told, sizeof told));
    struct sql_expression *const at = message->hears ? *tree : &node;
    if (message->hears)
        *at = told;
    RETURN_IF_ERROR(keys_of(message, &at->keys));
    RETURN_IF_ERROR(word(message, &at->text));
    RETURN_IF_ERROR(word(message, &at->name));
    if (at->operation == SQL_INPUT)
        RETURN_IF_ERROR(input(message, at));
    RETURN_IF_ERROR(list(message, &at->child_count, sizeof *at->children, &at->children));
    for (uint32_t c = 0; c < at->child_count; c++)
        RETURN_IF_ERROR(expression(message, &at->children[c]));
    return STATUS_OK;
}

/* ---- Blocks ---- */

static enum status parameters(struct message *message)
{
    struct relational *const run = message->run;
    RETURN_IF_ERROR(list(message, &run->parameter_count, sizeof *run->parameters, &run->parameters));
    for (uint32_t p = 0; p < run->parameter_count; p++) {
        struct sql_parameter parameter = run->parameters[p];
        const char *string = parameter.string;
        parameter.type.dictionary = NULL;
        parameter.string = NULL;
        RETURN_IF_ERROR(field(message, &parameter, sizeof parameter));
        RETURN_IF_ERROR(text(message, &string, &parameter.length));
        parameter.string = string;
        if (message->hears)
            run->parameters[p] = parameter;
    }
    return STATUS_OK;
}

static enum status table(struct message *message, struct sql_star_table *table)
{
    struct relational *const run = message->run;
    const char *name = message->hears ? NULL : table->table->name;
    RETURN_IF_ERROR(word(message, &name));
    if (message->hears)
        RETURN_IF_ERROR(database_table(run->task->database, name, &table->table, run->error));
    RETURN_IF_ERROR(word(message, &table->name));
    RETURN_IF_ERROR(field(message, &table->position, sizeof table->position));
    RETURN_IF_ERROR(field(message, &table->left, sizeof table->left));
    return expression(message, &table->on);
}

static enum status tables(struct message *message, struct sql_star *star)
{
    struct sql_star_table *list_of = (struct sql_star_table *)star->tables;
    RETURN_IF_ERROR(list(message, &star->table_count, sizeof *list_of, &list_of));
    star->tables = list_of;
    for (uint32_t t = 0; t < star->table_count; t++)
        RETURN_IF_ERROR(table(message, &list_of[t]));
    return STATUS_OK;
}

static enum status select_of(struct message *message, struct sql_select *select)
{
    RETURN_IF_ERROR(field(message, &select->position, sizeof select->position));
    RETURN_IF_ERROR(list(message, &select->item_count, sizeof *select->items, &select->items));
    for (uint32_t i = 0; i < select->item_count; i++) {
        RETURN_IF_ERROR(expression(message, &select->items[i].expression));
        RETURN_IF_ERROR(word(message, &select->items[i].alias));
    }
    RETURN_IF_ERROR(list(message, &select->group_count, sizeof *select->groups, &select->groups));
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(expression(message, &select->groups[g]));
    RETURN_IF_ERROR(list(message, &select->set_count, sizeof *select->sets, &select->sets));
    if (select->set_count)
        RETURN_IF_ERROR(field(message, select->sets, select->set_count * sizeof *select->sets));
    RETURN_IF_ERROR(list(message, &select->order_count, sizeof *select->orders, &select->orders));
    for (uint32_t o = 0; o < select->order_count; o++) {
        struct sql_order *const order = &select->orders[o];
        RETURN_IF_ERROR(field(message, &order->descending, sizeof order->descending));
        RETURN_IF_ERROR(field(message, &order->nulls_first, sizeof order->nulls_first));
        RETURN_IF_ERROR(expression(message, &order->expression));
    }
    RETURN_IF_ERROR(expression(message, &select->where));
    RETURN_IF_ERROR(expression(message, &select->having));
    RETURN_IF_ERROR(expression(message, &select->limit));
    return expression(message, &select->offset);
}

static enum status block(struct message *message, struct sql_star *star, struct sql_select *select)
{
    RETURN_IF_ERROR(parameters(message));
    RETURN_IF_ERROR(tables(message, star));
    return select_of(message, select);
}

/* ---- Messages ---- */

static struct cluster *cluster_of(const struct relational *run)
{
    return engine_cluster(run->task->engine);
}

static enum status write_block(struct relational *run, const struct sql_star *star,
                               const struct sql_select *select, bool is_key, char **bytes, size_t *length)
{
    struct message message = {.run = run, .star = star, .is_key = is_key};
    struct sql_star told = *star;
    struct sql_select copy = *select;
    const enum status status = block(&message, &told, &copy);
    if (status != STATUS_OK)
        free(message.bytes);
    *bytes = status == STATUS_OK ? message.bytes : NULL;
    *length = message.at;
    return status;
}

enum status distribute_key(struct relational *run, const struct sql_star *star,
                           const struct sql_select *select, char **key, size_t *length)
{
    return write_block(run, star, select, true, key, length);
}

enum status distribute_tell(struct relational *run, const struct sql_star *star,
                            const struct sql_select *select)
{
    char *bytes;
    size_t length;
    if (!cluster_of(run))
        return STATUS_OK;
    enum status status = write_block(run, star, select, false, &bytes, &length);
    status = AND_THEN(status, cluster_text(cluster_of(run), &bytes, &length, true, run->error));
    free(bytes);
    return status;
}

enum status distribute_end(struct relational *run)
{
    char *none = NULL;
    size_t length = 0;
    return cluster_text(cluster_of(run), &none, &length, false, run->error);
}

struct heard {
    struct distributed block;
    struct message message;
};

static const struct column *find_column(const void *context, uint32_t number, uint32_t *table)
{
    const struct heard *const heard = context;
    const struct message *const message = &heard->message;
    for (uint32_t i = 0; i < message->input_count; i++)
        if (message->inputs[i].number == number) {
            *table = message->inputs[i].table;
            return &heard->block.star.tables[*table].table->columns[message->inputs[i].column];
        }
    return NULL;
}

enum status distribute_hear(struct relational *run, struct distributed **block_of, bool *end)
{
    struct heard *heard;
    RETURN_IF_ERROR(relational_memory(run, sizeof *heard, &heard));
    heard->message = (struct message){.run = run, .hears = true};
    heard->block.star =
        (struct sql_star){.database = run->task->database, .column = find_column, .context = heard};
    *block_of = &heard->block;
    enum status status =
        cluster_text(cluster_of(run), &heard->message.bytes, &heard->message.size, false, run->error);
    *end = !heard->message.bytes;
    if (status == STATUS_OK && !*end)
        status = block(&heard->message, &heard->block.star, &heard->block.select);
    free(heard->message.bytes);
    return status;
}
