/*
 * list_query.h: a query over synthetic posting lists: 2 to 8 lists of documents, and the documents that are in all (AND) and in any (OR) of
 * them, by a count for each document, the reference of all other ways.
 *
 * The lists are clustered (Anh and Moffat, 2010), each drawn apart; one eighth of the shortest list's documents are in all lists, so that
 * AND has an answer.
 */
#ifndef TESSERA_LAB_LISTS_LIST_QUERY_H
#define TESSERA_LAB_LISTS_LIST_QUERY_H

#include "lab/bench/dataset.h"

#define LIST_QUERY_MAX 8u

struct list_query {
    uint32_t lists, documents; /* documents 0 .. documents - 1 */
    struct dataset gaps
        [LIST_QUERY_MAX]; /* the d-gaps of each list, shortest first; the first gap is the first document and 1 */
    uint32_t *all, *any; /* the answers, ascending */
    uint32_t all_count, any_count;
};

/* Makes lists of up to lengths[0] <= lengths[1] .. documents: a document that is drawn twice is in the list once. Every length is 1 ..
 * documents, and documents below 2^31. Free with list_query_free, also after an error. */
NODISCARD enum status list_query_make(struct lab *lab, uint32_t documents, uint32_t lists,
                                      const uint32_t *lengths, struct list_query *query, struct error *error);
void list_query_free(struct lab *lab, struct list_query *query);

/* Integers of all lists. */
uint64_t list_query_integers(const struct list_query *query);

/* STATUS_CHECK_FAILED, which names `what`, unless the documents are the answer: of AND, or of OR. */
NODISCARD enum status list_query_check(const struct list_query *query, bool any, const uint32_t *documents,
                                       uint32_t count, const char *what, struct error *error);

#endif
