/* list_query.c: see list_query.h. */
#include "lab/lists/list_query.h"

#include "lab/lists/list_sets.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SHARED 8u /* one of so many documents of the shortest list is in all lists */

/* The documents of a list become its d-gaps, which `query` then owns. */
static enum status adopt(struct lab *lab, uint32_t *list, uint32_t count, struct dataset *gaps,
                         struct error *error)
{
    for (uint32_t i = count; i-- > 1;)
        list[i] -= list[i - 1];
    list[0]++;
    return dataset_adopt(lab, (int32_t *)list, count, gaps, error);
}

/* Draws a list and counts its documents. `own` has room for `length`. */
static enum status make_list(struct lab *lab, struct list_query *query, const uint32_t *shared,
                             uint32_t shared_count, uint32_t length, uint32_t *own, uint8_t *counts,
                             uint64_t *random, struct error *error)
{
    uint32_t *list;
    RETURN_IF_ERROR(memory_take(&list, length * sizeof *list, "a posting list", error));
    list_clustered(own, length - shared_count, query->documents, random);
    const uint32_t count = list_or(own, length - shared_count, shared, shared_count, list);
    for (uint32_t i = 0; i < count; i++)
        counts[list[i]]++;
    return adopt(lab, list, count, &query->gaps[query->lists++], error);
}

static enum status make_lists(struct lab *lab, struct list_query *query, uint32_t lists,
                              const uint32_t *lengths, uint32_t *shared, uint32_t *own, uint8_t *counts,
                              struct error *error)
{
    const uint32_t shared_count = lengths[0] / SHARED;
    uint64_t random = lists + lengths[0];
    list_clustered(shared, shared_count, query->documents, &random);
    for (uint32_t l = 0; l < lists; l++)
        RETURN_IF_ERROR(make_list(lab, query, shared, shared_count, lengths[l], own, counts, &random, error));
    return STATUS_OK;
}

/* The documents that are in at least `least` lists. */
static enum status answer(const struct list_query *query, const uint8_t *counts, uint32_t least,
                          uint32_t **documents, uint32_t *count, struct error *error)
{
    uint32_t found = 0;
    for (uint32_t d = 0; d < query->documents; d++)
        found += counts[d] >= least;
    RETURN_IF_ERROR(memory_take(documents, found * sizeof **documents, "a query's answer", error));
    for (uint32_t d = 0; d < query->documents; d++)
        if (counts[d] >= least)
            (*documents)[(*count)++] = d;
    return STATUS_OK;
}

enum status list_query_make(struct lab *lab, uint32_t documents, uint32_t lists, const uint32_t *lengths,
                            struct list_query *query, struct error *error)
{
    uint32_t *shared = NULL, *own = NULL;
    uint8_t *counts = NULL;
    *query = (struct list_query){.documents = documents};
    enum status status = memory_take(&shared, lengths[0] * sizeof *shared, "a posting list", error);
    if (status == STATUS_OK)
        status = memory_take(&own, lengths[lists - 1] * sizeof *own, "a posting list", error);
    if (status == STATUS_OK)
        status = memory_zeros(&counts, documents, "a count for each document", error);
    if (status == STATUS_OK)
        status = make_lists(lab, query, lists, lengths, shared, own, counts, error);
    if (status == STATUS_OK)
        status = answer(query, counts, lists, &query->all, &query->all_count, error);
    if (status == STATUS_OK)
        status = answer(query, counts, 1, &query->any, &query->any_count, error);
    free(counts);
    free(own);
    free(shared);
    return status;
}

void list_query_free(struct lab *lab, struct list_query *query)
{
    for (uint32_t l = 0; l < query->lists; l++)
        dataset_free(lab, &query->gaps[l]);
    free(query->all);
    free(query->any);
    *query = (struct list_query){0};
}

uint64_t list_query_integers(const struct list_query *query)
{
    uint64_t integers = 0;
    for (uint32_t l = 0; l < query->lists; l++)
        integers += query->gaps[l].rows;
    return integers;
}

enum status list_query_check(const struct list_query *query, bool any, const uint32_t *documents,
                             uint32_t count, const char *what, struct error *error)
{
    const uint32_t *const expected = any ? query->any : query->all;
    const uint32_t expected_count = any ? query->any_count : query->all_count;
    if (count == expected_count && memcmp(documents, expected, count * sizeof *documents) == 0)
        return STATUS_OK;
    return error_set(error, STATUS_CHECK_FAILED,
                     "%s of %u lists by %s gives %u documents, not the %u of the reference%s",
                     any ? "OR" : "AND", query->lists, what, count, expected_count,
                     count == expected_count ? ", which are others" : "");
}
