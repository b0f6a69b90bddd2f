/* table_tuples.c: see table_tuples.h. */
#include "loader/table/table_tuples.h"

#include "storage/base/calendar.h"
#include "storage/base/decimal.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/column/positions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of one key, by their tuples. */
struct tuple_keys {
    struct dictionary_builder *tuples;
    int32_t *rows; /* of each code: the row's position */
    uint64_t row_count;
};

struct load_tuples {
    const struct schema_script *schema;
    const struct table_keys *single;
    struct tuple_keys keys[SCHEMA_TABLES_MAX][SCHEMA_TUPLES_MAX]; /* only of those that are made */
    bool made[SCHEMA_TABLES_MAX][SCHEMA_TUPLES_MAX];

    /* load_tuples_moved: the new position of each old one, or NULL; whether the table was replaced */
    int32_t *moved[SCHEMA_TABLES_MAX];
    bool replaced[SCHEMA_TABLES_MAX];
};

enum status load_tuples_create(const struct schema_script *schema, const struct table_keys *keys,
                               struct load_tuples **out, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(out, sizeof **out, "keys", error));
    (*out)->schema = schema;
    (*out)->single = keys;
    return STATUS_OK;
}

static void keys_free(struct tuple_keys *keys)
{
    dictionary_builder_destroy(keys->tuples);
    free(keys->rows);
    *keys = (struct tuple_keys){0};
}

void load_tuples_free(struct load_tuples *tuples)
{
    for (uint32_t t = 0; tuples && t < SCHEMA_TABLES_MAX; free(tuples->moved[t++]))
        for (uint32_t i = 0; i < SCHEMA_TUPLES_MAX; i++)
            keys_free(&tuples->keys[t][i]);
    free(tuples);
}

bool load_tuples_self(const struct schema_table *table)
{
    for (uint32_t c = table->column_count; c < schema_columns(table); c++)
        if (strcmp(table->columns[c].references_table, table->name) == 0)
            return true;
    return false;
}

static uint32_t table_number(const struct load_tuples *tuples, const char *name)
{
    uint32_t t = 0;
    while (strcmp(tuples->schema->tables[t].name, name) != 0)
        t++;
    return t;
}

/* ---- A row's tuple ---- */

/* A value of a column: a number, or a text. */
struct part {
    bool null;
    int64_t number;
    const char *text; /* NULL: a number */
    uint32_t length;
};

struct tuple {
    char *bytes;
    uint32_t length, room;
};

static enum status tuple_add(struct tuple *tuple, const void *bytes, uint32_t length, struct error *error)
{
    if (length > UINT32_MAX / 2 - tuple->length)
        return error_set(error, STATUS_BAD_INPUT, "the texts of a key have more than 2 GB");
    if (tuple->length + length > tuple->room) {
        RETURN_IF_ERROR(memory_grow(&tuple->bytes, 2 * (tuple->length + length), "a key", error));
        tuple->room = 2 * (tuple->length + length);
    }
    if (length)
        memcpy(tuple->bytes + tuple->length, bytes, length);
    tuple->length += length;
    return STATUS_OK;
}

static enum status tuple_add_part(struct tuple *tuple, const struct part *part, struct error *error)
{
    if (!part->text)
        return tuple_add(tuple, &part->number, sizeof part->number, error);
    RETURN_IF_ERROR(tuple_add(tuple, &part->length, sizeof part->length, error));
    return tuple_add(tuple, part->text, part->length, error);
}

/* The key that a position of a table has. */
static bool key_at(const struct load_tuples *tuples, const char *table, const struct part *position,
                   struct part *part, const struct column_schema **column)
{
    const uint32_t t = table_number(tuples, table);
    *part = *position;
    if (!table_keys_key(&tuples->single[t], (int32_t)position->number, &part->number, &part->text,
                        &part->length))
        return false;
    *column = &tuples->single[t].key;
    return true;
}

/* Writes a value as it is in a file. */
static void part_write(const struct load_tuples *tuples, const struct column_schema *column,
                       const struct part *position, char *text, size_t bytes)
{
    struct part found;
    const struct part *part = position;
    if (column->references_table[0] && key_at(tuples, column->references_table, position, &found, &column))
        part = &found;
    const uint64_t magnitude = part->number < 0 ? 0 - (uint64_t)part->number : (uint64_t)part->number;
    if (part->text) {
        snprintf(text, bytes, "'%.*s%s'", (int)(part->length < 60 ? part->length : 60), part->text,
                 part->length < 60 ? "" : "...");
    } else if (column->references_table[0]) {
        snprintf(text, bytes, "the key of row %" PRId64 " of %s", part->number + 1, column->references_table);
    } else if (column->type == TYPE_DATE) {
        const struct calendar_date date = calendar_date_of(part->number);
        snprintf(text, bytes, "%04d-%02d-%02d", (int)date.year, (int)date.month, (int)date.day);
    } else if (column->type == TYPE_DECIMAL && column->scale) {
        snprintf(text, bytes, "%s%" PRIu64 ".%0*" PRIu64, part->number < 0 ? "-" : "",
                 magnitude / (uint64_t)power_of_ten(column->scale), column->scale,
                 magnitude % (uint64_t)power_of_ten(column->scale));
    } else {
        snprintf(text, bytes, "%" PRId64, part->number);
    }
}

/* "(7, 'x')". */
#define SHOWN_BYTES 400u
static void parts_write(const struct load_tuples *tuples, const struct schema_table *table,
                        const struct key_columns *key, const struct part *parts, char text[SHOWN_BYTES])
{
    size_t used = 0;
    for (uint32_t k = 0; k < key->count && used < SHOWN_BYTES - 150; k++) {
        used += (size_t)snprintf(text + used, SHOWN_BYTES - used, k ? ", " : "(");
        part_write(tuples, &table->columns[key->columns[k]], &parts[k], text + used, SHOWN_BYTES - used - 4);
        used += strlen(text + used);
    }
    snprintf(text + used, SHOWN_BYTES - used, ")");
}

/* ---- Parsed rows ---- */

/* The columns of a key in one block. */
struct block_parts {
    const struct parsed_table *parsed;
    const struct parsed_block *block;
    const struct key_columns *key;
    struct block_column columns[KEY_COLUMNS_MAX];
};

static void block_parts_close(struct block_parts *parts)
{
    for (uint32_t k = 0; k < parts->key->count; k++)
        block_column_free(&parts->columns[k]);
}

static enum status block_parts_open(struct block_parts *parts, unsigned thread, struct error *error)
{
    const uint64_t number = (uint64_t)(parts->block - parts->parsed->blocks);
    for (uint32_t k = 0; k < parts->key->count; k++) {
        const uint32_t c = parts->key->columns[k];
        RETURN_IF_ERROR(parsed_blocks_ahead(parts->parsed, number, 1, c, thread, error));
        RETURN_IF_ERROR(block_column_read(parts->parsed, parts->block, c, thread, &parts->columns[k], error));
    }
    return STATUS_OK;
}

/* The values of a row; false if one is NULL. */
static bool block_parts_row(const struct block_parts *of, uint32_t row, struct part *parts)
{
    const struct schema_table *const table = of->parsed->table;
    for (uint32_t k = 0; k < of->key->count; k++) {
        const uint32_t c = of->key->columns[k];
        const struct dictionary_builder *const words =
            of->parsed->words[parsed_block_thread(of->block, c) * table->column_count + c];
        if (block_column_null(&of->columns[k], row))
            return false;
        parts[k] = (struct part){.number = block_column_value(&of->columns[k], row)};
        if (words)
            parts[k].text = dictionary_builder_string(words, (int32_t)parts[k].number, &parts[k].length);
    }
    return true;
}

static enum status tuple_of(const struct key_columns *key, const struct part *parts, struct tuple *tuple,
                            struct error *error)
{
    tuple->length = 0;
    for (uint32_t k = 0; k < key->count; k++)
        RETURN_IF_ERROR(tuple_add_part(tuple, &parts[k], error));
    return STATUS_OK;
}

/* ---- Making keys ---- */

struct making {
    const struct load_tuples *tuples;
    const struct schema_table *table;
    const struct schema_tuple *key;
    const struct key_owner *owner;
    struct tuple_keys *keys;
    struct tuple tuple;
    uint64_t row;
};

static enum status add_row(struct making *making, const struct part *parts, bool whole, struct error *error)
{
    struct tuple_keys *const keys = making->keys;
    const uint64_t row = making->row++;
    const uint32_t before = dictionary_builder_count(keys->tuples);
    int32_t code;
    if (!whole)
        return STATUS_OK;
    RETURN_IF_ERROR(tuple_of(&making->key->key, parts, &making->tuple, error));
    RETURN_IF_ERROR(
        dictionary_builder_add(keys->tuples, making->tuple.bytes, making->tuple.length, &code, error));
    if ((uint32_t)code == before) {
        keys->rows[code] = (int32_t)row;
        return STATUS_OK;
    }
    char shown[SHOWN_BYTES], names[SHOWN_BYTES];
    struct key_owner owner = *making->owner;
    parts_write(making->tuples, making->table, &making->key->key, parts, shown);
    schema_key_names(making->table, &making->key->key, names, sizeof names);
    owner.column = names;
    owner.unique = !making->key->primary;
    return key_twice(&owner, shown, (uint64_t)keys->rows[code], row, error);
}

static enum status add_blocks(struct making *making, const struct parsed_table *parsed, struct error *error)
{
    enum status status = STATUS_OK;
    for (uint64_t b = 0; status == STATUS_OK && b < parsed->block_count; b++) {
        struct block_parts of = {.parsed = parsed, .block = &parsed->blocks[b], .key = &making->key->key};
        struct part parts[KEY_COLUMNS_MAX];
        if (of.block->rows == 0)
            continue;
        status = block_parts_open(&of, 0, error);
        for (uint32_t row = 0; status == STATUS_OK && row < of.block->rows; row++)
            status = add_row(making, parts, block_parts_row(&of, row, parts), error);
        block_parts_close(&of);
        status = AND_THEN(status, cancel_check(error));
    }
    return status;
}

/* The columns of a key as a database has them. */
struct stored_parts {
    const struct column *columns[KEY_COLUMNS_MAX];
    const struct dictionary *dictionaries[KEY_COLUMNS_MAX]; /* NULL: no strings */
    int64_t *values[KEY_COLUMNS_MAX];
    uint8_t *nulls[KEY_COLUMNS_MAX];
    const int32_t *moved[KEY_COLUMNS_MAX]; /* of positions in a table that was laid out anew; or NULL */
    int64_t *live;                         /* 0 in rows that were deleted; NULL: none was */
};

static enum status open_stored(struct making *making, struct database *database, const struct table *stored,
                               unsigned threads, struct stored_parts *of, struct error *error)
{
    const struct key_columns *const key = &making->key->key;
    if (table_live(stored))
        RETURN_IF_ERROR(stored_values_read(database, table_live(stored), threads, 0, &of->live, NULL, error));
    for (uint32_t k = 0; k < key->count; k++) {
        RETURN_IF_ERROR(
            table_column(stored, making->table->columns[key->columns[k]].name, &of->columns[k], error));
        const struct column_schema *const script = &making->table->columns[key->columns[k]],
                                          *const found = &of->columns[k]->schema;
        if ((script->type == TYPE_STRING) != (found->type == TYPE_STRING) || script->scale != found->scale ||
            script->zoned != found->zoned || strcmp(script->references_table, found->references_table) != 0)
            return error_set(error, STATUS_BAD_INPUT,
                             "column %s.%s has another type in the database than in the schema script",
                             stored->name, found->name);
        if (script->references_table[0]) {
            const uint32_t t = table_number(making->tuples, script->references_table);
            if (making->tuples->replaced[t])
                return error_set(error, STATUS_BAD_INPUT,
                                 "table %s cannot be replaced without table %s, whose keys hold positions in "
                                 "it; load %s together with it",
                                 script->references_table, stored->name, stored->name);
            of->moved[k] = making->tuples->moved[t];
        }
        RETURN_IF_ERROR(column_dictionary(of->columns[k], threads, &of->dictionaries[k], error));
        RETURN_IF_ERROR(
            stored_values_read(database, of->columns[k], threads, 0, &of->values[k], &of->nulls[k], error));
    }
    return STATUS_OK;
}

static enum status add_stored_rows(struct making *making, const struct table *stored,
                                   const struct stored_parts *of, struct error *error)
{
    for (uint64_t row = 0; row < stored->rows; row++) {
        struct part parts[KEY_COLUMNS_MAX];
        bool whole = !of->live || of->live[row];
        for (uint32_t k = 0; k < making->key->key.count; k++) {
            parts[k] = (struct part){.number = of->values[k][row]};
            whole &= !of->nulls[k][row];
            if (of->moved[k] && !of->nulls[k][row])
                parts[k].number = of->moved[k][parts[k].number];
            if (of->dictionaries[k])
                parts[k].text = dictionary_string(of->dictionaries[k], parts[k].number, &parts[k].length);
        }
        RETURN_IF_ERROR(add_row(making, parts, whole, error));
    }
    return STATUS_OK;
}

static enum status add_stored(struct making *making, struct database *database, const struct table *stored,
                              unsigned threads, struct error *error)
{
    struct stored_parts of = {0};
    enum status status = open_stored(making, database, stored, threads, &of, error);
    status = AND_THEN(status, add_stored_rows(making, stored, &of, error));
    for (uint32_t k = 0; k < making->key->key.count; k++) {
        free(of.values[k]);
        free(of.nulls[k]);
    }
    free(of.live);
    return status;
}

/* `parsed` and `before` may be NULL. */
static enum status make_key(struct load_tuples *tuples, uint32_t number, uint32_t i,
                            const struct parsed_table *parsed, const struct key_owner *owner,
                            struct database *before, unsigned threads, struct error *error)
{
    struct tuple_keys *const keys = &tuples->keys[number][i];
    struct making making = {.tuples = tuples,
                            .table = &tuples->schema->tables[number],
                            .key = &tuples->schema->tables[number].tuples[i],
                            .owner = owner,
                            .keys = keys};
    const struct table *stored = NULL;
    if (before)
        RETURN_IF_ERROR(database_table(before, making.table->name, &stored, error));
    keys->row_count = (stored ? stored->rows : 0) + (parsed ? parsed->rows : 0);
    if (keys->row_count > INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s has %" PRIu64 " rows; one that has a key of several columns may have %d",
                         making.table->name, keys->row_count, INT32_MAX);
    RETURN_IF_ERROR(dictionary_builder_create(&keys->tuples, error));
    RETURN_IF_ERROR(memory_take(&keys->rows, (keys->row_count + 1) * sizeof *keys->rows, "keys", error));
    enum status status = stored ? add_stored(&making, before, stored, threads, error) : STATUS_OK;
    if (status == STATUS_OK && parsed)
        status = add_blocks(&making, parsed, error);
    free(making.tuple.bytes);
    tuples->made[number][i] = status == STATUS_OK;
    return status;
}

enum status load_tuples_make(struct load_tuples *tuples, uint32_t number, const struct parsed_table *parsed,
                             const struct key_owner *owner, struct database *before, unsigned threads,
                             struct error *error)
{
    const struct schema_table *const table = &tuples->schema->tables[number];
    for (uint32_t i = 0; i < table->tuple_count; i++) {
        RETURN_IF_ERROR(make_key(tuples, number, i, parsed, owner, before, threads, error));
        if (!table->tuples[i].referenced)
            keys_free(&tuples->keys[number][i]);
    }
    return STATUS_OK;
}

static void place(struct tuple_keys *keys, const int32_t *positions)
{
    for (uint32_t code = 0; keys->tuples && code < dictionary_builder_count(keys->tuples); code++)
        keys->rows[code] = positions[keys->rows[code]];
}

void load_tuples_place(struct load_tuples *tuples, uint32_t number, const int32_t *positions)
{
    for (uint32_t i = 0; positions && i < SCHEMA_TUPLES_MAX; i++)
        place(&tuples->keys[number][i], positions);
}

/* Whether a key of several columns has references to the table. */
static bool is_part(const struct schema_script *schema, const char *name)
{
    for (uint32_t t = 0; t < schema->table_count; t++)
        for (uint32_t i = 0; i < schema->tables[t].tuple_count; i++) {
            const struct key_columns *const key = &schema->tables[t].tuples[i].key;
            for (uint32_t k = 0; k < key->count; k++)
                if (strcmp(schema->tables[t].columns[key->columns[k]].references_table, name) == 0)
                    return true;
        }
    return false;
}

enum status load_tuples_moved(struct load_tuples *tuples, uint32_t number, const struct table *old,
                              const int32_t *positions, struct error *error)
{
    int32_t *before;
    tuples->replaced[number] = !old;
    if (!old || !is_part(tuples->schema, tuples->schema->tables[number].name) || (!old->levels && !positions))
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&tuples->moved[number], (table_positions(old) + 1) * sizeof *before,
                                 "positions of keys", error));
    RETURN_IF_ERROR(positions_of_rows(old, &before, error));
    for (uint64_t row = 0; row < old->rows; row++)
        tuples->moved[number][before[row]] = positions ? positions[row] : (int32_t)row;
    free(before);
    return STATUS_OK;
}

/* ---- Finding references ---- */

/* The keys of a table that is not loaded now. */
static enum status read_key(struct load_tuples *tuples, uint32_t number, uint32_t i,
                            const struct column_schema *column, const struct tuple_search *search,
                            struct error *error)
{
    const struct schema_table *const target = &tuples->schema->tables[number];
    const struct key_owner owner = {.table = target->name};
    const struct table *stored;
    int32_t *positions;
    if (!search->existing)
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s references table %s, which is neither loaded (give %s=FILE) nor in a database that exists",
            column->name, target->name, target->name);
    RETURN_IF_ERROR(make_key(tuples, number, i, NULL, &owner, search->existing, search->threads, error));
    RETURN_IF_ERROR(database_table(search->existing, target->name, &stored, error));
    if (!stored->levels)
        return STATUS_OK;
    RETURN_IF_ERROR(positions_of_rows(stored, &positions, error));
    place(&tuples->keys[number][i], positions);
    free(positions);
    return STATUS_OK;
}

static enum status keys_of(struct load_tuples *tuples, const struct column_schema *column,
                           const struct tuple_search *search, const struct tuple_keys **keys,
                           struct error *error)
{
    const uint32_t t = table_number(tuples, column->references_table);
    const struct schema_table *const target = &tuples->schema->tables[t];
    uint32_t i = 0;
    while (memcmp(&target->tuples[i].key, &column->key, sizeof column->key) != 0)
        i++;
    *keys = &tuples->keys[t][i];
    return tuples->made[t][i] ? STATUS_OK : read_key(tuples, t, i, column, search, error);
}

struct finding {
    const struct load_tuples *tuples;
    struct parsed_table *parsed;
    const struct column_schema *column;
    uint32_t reference;
    const struct tuple_keys *keys;
    bool dangling_null;
    uint64_t *dangling; /* for each block its first row without a match; UINT64_MAX: none */
};

static enum status find_rows(const struct finding *finding, const struct block_parts *of, int32_t *found,
                             uint64_t *dangling, struct error *error)
{
    struct tuple tuple = {0};
    enum status status = STATUS_OK;
    for (uint32_t row = 0; status == STATUS_OK && row < of->block->rows; row++) {
        struct part parts[KEY_COLUMNS_MAX];
        found[row] = -1;
        if (!block_parts_row(of, row, parts))
            continue;
        status = tuple_of(of->key, parts, &tuple, error);
        const int32_t code = status == STATUS_OK
                                 ? dictionary_builder_find(finding->keys->tuples, tuple.bytes, tuple.length)
                                 : -1;
        if (code >= 0)
            found[row] = finding->keys->rows[code];
        else if (*dangling == UINT64_MAX)
            *dangling = row;
    }
    free(tuple.bytes);
    return status;
}

static enum status find_block(void *context, uint64_t b, unsigned thread, struct error *error)
{
    const struct finding *const finding = context;
    struct parsed_block *const block = &finding->parsed->blocks[b];
    struct block_parts of = {.parsed = finding->parsed, .block = block, .key = &finding->column->of};
    finding->dangling[b] = UINT64_MAX;
    if (block->rows == 0)
        return STATUS_OK;
    if (!block->found)
        RETURN_IF_ERROR(memory_zeros(&block->found,
                                     finding->parsed->table->reference_count * sizeof *block->found,
                                     "references", error));
    int32_t **const found = &block->found[finding->reference];
    RETURN_IF_ERROR(memory_take(found, ((uint64_t)block->rows + 1) * sizeof **found, "references", error));
    enum status status = block_parts_open(&of, thread, error);
    status = AND_THEN(status, find_rows(finding, &of, *found, &finding->dangling[b], error));
    block_parts_close(&of);
    return status == STATUS_OK ? cancel_check(error) : status;
}

/* Complains about the first row of all that has no match, unless such references are NULL. */
static enum status check_dangling(const struct finding *finding, struct error *error)
{
    const struct column_schema *const column = finding->column;
    uint64_t b = 0, before = 0;
    for (; b < finding->parsed->block_count && finding->dangling[b] == UINT64_MAX; b++)
        before += finding->parsed->blocks[b].rows;
    if (b == finding->parsed->block_count || (finding->dangling_null && column->nullable))
        return STATUS_OK;
    struct block_parts of = {
        .parsed = finding->parsed, .block = &finding->parsed->blocks[b], .key = &column->of};
    struct part parts[KEY_COLUMNS_MAX] = {{0}};
    char place[KEY_PLACE_BYTES], names[SHOWN_BYTES], shown[SHOWN_BYTES];
    enum status status = block_parts_open(&of, 0, error);
    if (status == STATUS_OK && block_parts_row(&of, (uint32_t)finding->dangling[b], parts)) {
        parsed_row_place(finding->parsed, before + finding->dangling[b], place);
        schema_key_names(finding->parsed->table, &column->of, names, sizeof names);
        parts_write(finding->tuples, finding->parsed->table, &column->of, parts, shown);
        status = error_set(error, STATUS_BAD_INPUT,
                           "%s: column%s %s: no row of table %s has the key %s%s; nothing was loaded", place,
                           column->of.count > 1 ? "s" : "", names, column->references_table, shown,
                           finding->dangling_null ? ", and the columns are NOT NULL"
                           : finding->parsed->parse->options->of_statement
                               ? ""
                               : " (--dangling null stores NULL for such references)");
    }
    block_parts_close(&of);
    return status;
}

enum status load_tuples_find(struct load_tuples *tuples, struct parsed_table *parsed,
                             const struct tuple_search *search, struct error *error)
{
    const struct schema_table *const table = parsed->table;
    struct finding finding = {.tuples = tuples, .parsed = parsed, .dangling_null = search->dangling_null};
    enum status status = STATUS_OK;
    if (table->reference_count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&finding.dangling, (parsed->block_count + 1) * sizeof *finding.dangling,
                                "references", error));
    for (uint32_t r = 0; status == STATUS_OK && r < table->reference_count; r++) {
        finding.reference = r;
        finding.column = &table->columns[table->column_count + r];
        status = keys_of(tuples, finding.column, search, &finding.keys, error);
        status =
            AND_THEN(status, parallel_for(parsed->threads, parsed->block_count, find_block, &finding, error));
        status = AND_THEN(status, check_dangling(&finding, error));
    }
    free(finding.dangling);
    return status;
}
