/*
 * join.h: which rows of two answers are joined (engine/logical/node.h: enum logical_join).
 *
 * The right side is hashed by its keys, in parts that threads fill alone; then threads take some thousand rows of the left
 * side at a time, find their partners, and test the other conditions over up to 1024 pairs at once. The result does not
 * depend on the number of threads: it has the order of the left rows, and each row's partners in their order. Without keys
 * each row is paired with each.
 *
 * A row of the right side takes 12 to 24 bytes of the table, and 8 more while it is made. Where its keys are numbers and
 * dense, the table is an array of their ranks (join_table.h), which takes 0 to 24: sides in the order of the key find each
 * other in the cache, and others read two places that are small; else a row takes about 30 ns to enter, and 30 ns to look up.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_H
#define TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_H

#include "engine/relational/rows/relation.h"
#include "engine/logical/node.h"

#define JOIN_TEST_PAIRS 1024u

enum join_truth { JOIN_FALSE, JOIN_TRUE, JOIN_UNKNOWN };

/* The conditions of a join beside its keys. Gives an enum join_truth for each of up to JOIN_TEST_PAIRS pairs; threads call
 * it at the same time, each with its own number. */
struct join_test {
    enum status (*test)(void *context, unsigned thread, const uint64_t *lefts, const uint64_t *rights,
                        uint32_t count, uint8_t *truth, struct error *error);
    void *context;
};

struct join_task {
    enum logical_join join;
    uint32_t key_count;
    const struct rowset_column *left_keys, *right_keys; /* of equal types (relation_alike) */
    const bool *nulls_match; /* for each key: NULL equals NULL, as IS NOT DISTINCT FROM has it */
    bool
        unknown_keys; /* MARK: a key that is NULL makes a pair whose condition is unknown; else there is none */
    uint64_t left_rows, right_rows;
    const struct join_test *test; /* NULL: there are no other conditions */
    unsigned threads;
};

/* Valid if zero-initialised. Rows that are joined, RELATION_NO_ROW for the side that has none; `rights` is NULL of a SEMI
 * or ANTI join. Of a MARK join there are neither, but for each left row its mark. All are spillable. */
struct join_result {
    uint64_t *lefts, *rights, count;
    int64_t *marks;
    uint8_t *mark_nulls;
};

/* STATUS_BAD_INPUT, without a position, if the pairs are more than RELATION_ROWS_MAX, and for a second partner in a SINGLE
 * join. */
NODISCARD enum status join_rows(const struct join_task *task, struct join_result *result,
                                struct error *error);
void join_result_free(struct join_result *result);

#endif
