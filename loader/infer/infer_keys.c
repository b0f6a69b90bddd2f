/* infer_keys.c: likely keys and references (infer_internal.h). A name must speak for them, because in small tables many
 * columns have no duplicates, and small numbers are among the keys of every large table. */
#include "loader/infer/infer_internal.h"

#include <string.h>

/* ---- Names ---- */

/* Lower case letters and digits of ASCII, other bytes as they are, without _ and blanks: customer_ID is customerid. */
static size_t fold(const char *name, char folded[NAME_BYTES])
{
    size_t length = 0;
    for (; *name; name++)
        if (*name != '_' && *name != ' ' && *name != '-')
            folded[length++] = *name >= 'A' && *name <= 'Z' ? (char)(*name + 'a' - 'A') : *name;
    folded[length] = '\0';
    return length;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), own = strlen(end);
    return length >= own && strcmp(text + length - own, end) == 0;
}

/* A table's name without the s or es of its plural: shops is shop, cities is cit, which begins city. */
static void singular(const char *table, char out[NAME_BYTES])
{
    size_t length = fold(table, out);
    if (ends_with(out, "ies") && length > 4)
        out[length -= 3] = '\0';
    else if (ends_with(out, "s") && !ends_with(out, "ss") && length > 3)
        out[length -= 1] = '\0';
}

static bool is_key_name(const char *folded)
{
    return ends_with(folded, "id") || ends_with(folded, "key") || ends_with(folded, "code") ||
           ends_with(folded, "no") || ends_with(folded, "nr") || ends_with(folded, "number");
}

/* ---- Keys ---- */

static bool may_be_key(const struct infer_table *table, const struct infer_column *column)
{
    const bool kind = (column->kinds & KIND_INT) ||
                      (column->kinds & (KIND_DATE | KIND_TIME)) == (KIND_DATE | KIND_TIME) ||
                      (column->kinds & KIND_ALL) == 0;
    return kind && !column->unnamed && table->rows > 0 && column->nulls == 0 && !column->duplicates &&
           column->longest <= 64;
}

/* How much speaks for a key: its name says id or key, its table's name, it is the first column. */
static int key_score(const struct infer_table *table, uint32_t c)
{
    char name[NAME_BYTES], own[NAME_BYTES];
    const struct infer_column *const column = &table->columns[c];
    if (!may_be_key(table, column))
        return 0;
    fold(column->name, name);
    singular(table->name, own);
    const bool named = is_key_name(name), table_named = strncmp(name, own, strlen(own)) == 0;
    return (c == 0 ? 2 : 0) + (named ? 3 : 0) + (named && table_named ? 3 : 0) +
           (strcmp(name, "id") == 0 ? 4 : 0) + (strcmp(name, own) == 0 ? 2 : 0) +
           ((column->kinds & KIND_DATE) && c == 0 ? 1 : 0) - (c > 0 && !named ? 1 : 0);
}

static struct infer_column *key_of(const struct infer_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].key)
            return &table->columns[c];
    return NULL;
}

static void find_key(struct infer_table *table)
{
    int best = 1;
    struct infer_column *key = NULL;
    for (uint32_t c = 0; c < table->column_count; c++)
        if (key_score(table, c) > best) {
            best = key_score(table, c);
            key = &table->columns[c];
        }
    if (key)
        key->key = true;
}

/* ---- References ---- */

/* Whether the name speaks for a reference: shop_id, shop, shops_id or shop_code of shops; or the key's own name. */
static bool names_agree(const struct infer_column *column, const struct infer_table *target,
                        const struct infer_column *key)
{
    char name[NAME_BYTES], own[NAME_BYTES], key_name[NAME_BYTES];
    const size_t length = fold(column->name, name);
    singular(target->name, own);
    fold(key->name, key_name);
    if (strcmp(name, key_name) == 0 && strcmp(name, "id") != 0)
        return true;
    const char *const there = strstr(name, own);
    if (there && (is_key_name(name) || strcmp(there, own) == 0))
        return true; /* also billing_shop_id */
    return length > strlen(key_name) && strlen(key_name) > 3 && ends_with(name, key_name);
}

static uint64_t count_missing(const struct infer_column *column, const struct infer_column *key)
{
    uint64_t missing = 0;
    for (uint64_t v = 0; v < column->distinct.table.count; v++)
        missing += hash_words_find(&key->distinct, column->distinct.words[v]) == HASH_TABLE_NONE;
    return missing;
}

static bool is_text(const struct infer_column *column)
{
    return !(column->kinds & KIND_ALL) || column->zeros_in_front;
}

/* Whether `from` comes from `to` by references that are proposed. */
static bool reaches(const struct infer_table *from, const struct infer_table *to, uint32_t depth)
{
    if (from == to)
        return true;
    for (uint32_t c = 0; c < from->column_count && depth < 64; c++)
        if (from->columns[c].sure && reaches(from->columns[c].references, to, depth + 1))
            return true;
    return false;
}

/* Gives a column the form of the key that has all of its values, so that both have one type. */
static void take_form(struct infer_column *column, const struct infer_column *key)
{
    column->time_forms = key->time_forms;
    memcpy(column->number_forms, key->number_forms, sizeof column->number_forms);
    column->points = key->points;
}

/* Looks for the table that a column references. A table whose key lacks a few of the values is mentioned. */
static void find_reference(struct infer_table *tables, uint32_t count, struct infer_table *table,
                           struct infer_column *column)
{
    if (column->key || column->unnamed || !column->values || column->uncounted)
        return;
    for (uint32_t t = 0; t < count && !column->sure; t++) {
        const struct infer_column *const key = key_of(&tables[t]);
        if (&tables[t] == table || !key || key->uncounted || is_text(key) != is_text(column) ||
            !(is_text(key) || (key->kinds & column->kinds)) || !names_agree(column, &tables[t], key))
            continue;
        const uint64_t missing = count_missing(column, key);
        if (missing * 2 > column->distinct.table.count || reaches(&tables[t], table, 0) ||
            (column->references && missing >= column->missing))
            continue;
        column->references = &tables[t];
        column->missing = missing;
        column->sure = missing == 0;
        if (column->sure && is_text(key))
            take_form(column, key);
    }
}

void infer_keys_find(struct infer_table *tables, uint32_t count)
{
    for (uint32_t t = 0; t < count; t++)
        find_key(&tables[t]);
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t c = 0; c < tables[t].column_count; c++)
            find_reference(tables, count, &tables[t], &tables[t].columns[c]);
}
