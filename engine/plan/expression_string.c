/*
 * expression_string.c: strings in expressions. A string is a code of a sorted dictionary. So an operation on
 * a string column is computed once for each string of its dictionary, when a statement is bound, and becomes
 * a set of codes or a table of values by code.
 */
#include "engine/plan/functions/string_call.h"
#include "engine/plan/functions/string_pieces.h"
#include "engine/plan/functions/text_call.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- Dictionaries that belong to the list ---- */

/* The hash of a dictionary's strings. */
static uint64_t dictionary_hash(const struct dictionary *dictionary)
{
    const uint64_t bytes = dictionary->count ? dictionary->starts[dictionary->count] : 0;
    return XXH3_64bits_withSeed(dictionary->starts,
                                ((size_t)dictionary->count + 1) * sizeof *dictionary->starts,
                                bytes ? XXH3_64bits(dictionary->bytes, bytes) : 0);
}

struct dictionary_sought {
    const struct expression_list *list;
    const struct dictionary *dictionary;
};

static bool same_dictionary(const void *context, uint32_t number)
{
    const struct dictionary_sought *sought = context;
    const struct dictionary *a = sought->list->dictionaries[number], *b = sought->dictionary;
    return a->count == b->count &&
           memcmp(a->starts, b->starts, ((size_t)a->count + 1) * sizeof *a->starts) == 0 &&
           memcmp(a->bytes, b->bytes, a->starts[a->count]) == 0;
}

static enum status dictionary_append(struct expression_list *list, struct dictionary *made, uint64_t hash,
                                     struct error *error)
{
    if ((list->dictionary_count & (list->dictionary_count - 1)) == 0) { /* doubled at powers of two */
        const size_t capacity = list->dictionary_count ? 2 * (size_t)list->dictionary_count : 1;
        RETURN_IF_ERROR(
            memory_grow(&list->dictionaries, capacity * sizeof *list->dictionaries, "a dictionary", error));
    }
    RETURN_IF_ERROR(hash_table_add(&list->dictionary_index, hash, list->dictionary_count, error));
    list->dictionaries[list->dictionary_count++] = made;
    return STATUS_OK;
}

/* Takes ownership of a dictionary. *dictionary is this one, or an older one with the same strings, so that
 * equal expressions are equal nodes. */
static enum status dictionary_own(struct expression_list *list, struct dictionary *made,
                                  const struct dictionary **dictionary, struct error *error)
{
    const uint64_t hash = dictionary_hash(made);
    const struct dictionary_sought sought = {list, made};
    const uint32_t known = hash_table_find(&list->dictionary_index, hash, same_dictionary, &sought);
    enum status status = STATUS_OK;
    *dictionary = known == HASH_TABLE_NONE ? made : list->dictionaries[known];
    if (known == HASH_TABLE_NONE)
        status = dictionary_append(list, made, hash, error);
    if (known != HASH_TABLE_NONE || status != STATUS_OK)
        free(made);
    return status;
}

enum status expression_dictionary_of_pieces(struct expression_list *list, struct piece *pieces,
                                            uint64_t count, int64_t *codes,
                                            const struct dictionary **dictionary, struct error *error)
{
    struct dictionary *made;
    RETURN_IF_ERROR(dictionary_of_pieces(pieces, count, list->threads, codes, &made, error));
    return dictionary_own(list, made, dictionary, error);
}

enum status expression_string_constant(struct expression_list *list, const char *string, uint32_t length,
                                       uint32_t *index, struct error *error)
{
    const struct dictionary *dictionary;
    uint64_t *starts;
    char *text;
    struct dictionary *const made = dictionary_new(1, length, &starts, &text);
    if (!made)
        return error_out_of_memory(error, length, "a string");
    if (length)
        memcpy(text, string, length);
    starts[1] = length;
    RETURN_IF_ERROR(dictionary_own(list, made, &dictionary, error));
    const struct value_type type = {.kind = VALUE_STRING, .dictionary = dictionary};
    return expression_constant(list, type, 0, index, error);
}

/* ---- Common dictionaries ---- */

/* Converts a node to codes of dictionary `to`; codes[c] is the new code of code c. */
static enum status recode(struct expression_list *list, const int64_t *codes, const struct dictionary *to,
                          uint32_t *node, struct error *error)
{
    const struct value_type type = {.kind = VALUE_STRING, .dictionary = to};
    const uint32_t count = list->nodes[*node].type.dictionary->count;
    if (list->nodes[*node].operation == EXPRESSION_CONSTANT && list->nodes[*node].is_null)
        return expression_null(list, type, node, error);
    int64_t *values;
    RETURN_IF_ERROR(memory_take(&values, count * sizeof *values, "a dictionary's codes", error));
    memcpy(values, codes, count * sizeof *values);
    return expression_lookup(list, *node, type, values, count, node, error);
}

enum status expression_string_unify(struct expression_list *list, uint32_t *left, uint32_t *right,
                                    struct error *error)
{
    const struct dictionary *const a = list->nodes[*left].type.dictionary;
    const struct dictionary *const b = list->nodes[*right].type.dictionary;
    if (a == b || a == &run_time_strings || b == &run_time_strings)
        return STATUS_OK;
    struct dictionary *made;
    const struct dictionary *merged;
    int64_t *codes;
    RETURN_IF_ERROR(dictionaries_merge(a, b, list->threads, &codes, &made, error));
    enum status status = dictionary_own(list, made, &merged, error);
    if (status == STATUS_OK)
        status = recode(list, codes, merged, left, error);
    if (status == STATUS_OK)
        status = recode(list, codes + a->count, merged, right, error);
    free(codes);
    return status;
}

/* ---- LIKE ---- */

static void free_matcher(void *matcher)
{
    like_matcher_free(matcher);
}

enum status expression_string_like(struct expression_list *list, uint32_t child,
                                   const struct like_pattern *pattern, uint32_t *index, struct error *error)
{
    struct like_matcher *matcher;
    RETURN_IF_ERROR(like_matcher_create(pattern, &matcher, error));
    const struct string_call call = {.body = string_like,
                                     .type = {.kind = VALUE_BOOLEAN},
                                     .count = 1,
                                     .total = true,
                                     .context = matcher,
                                     .release = free_matcher};
    return expression_string_call(list, &call, &child, index, error);
}
