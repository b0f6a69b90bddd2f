/* join.c: joins of answers on equality; see relation.h. The right side is hashed; equal rows are linked in order. */
#include "engine/answer/relation/relation.h"

#include "engine/answer/relation/rows_hash.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <string.h>

#define PAIR_BYTES (2 * sizeof(uint64_t))
#define ROW_BYTES  (4 * sizeof(uint64_t)) /* of the right side: slots of the hash table, and the next row */

struct pairs {
    uint64_t *lefts, *rights;
    uint64_t count, capacity;
    struct memory_charge charge;
    struct error *error;
};

static enum status pair_add(struct pairs *pairs, uint64_t left, uint64_t right)
{
    if (pairs->count == pairs->capacity) {
        const uint64_t capacity = pairs->capacity ? 2 * pairs->capacity : 1024;
        if (pairs->count == RELATION_ROWS_MAX)
            return error_set(
                pairs->error, STATUS_BAD_INPUT,
                "a join of answers has more than %llu rows; add an equality to its conditions, or "
                "group before joining",
                (unsigned long long)RELATION_ROWS_MAX);
        RETURN_IF_ERROR(cancel_check(pairs->error));
        RETURN_IF_ERROR(
            memory_charge_set(&pairs->charge, capacity * PAIR_BYTES, "a join of answers", pairs->error));
        RETURN_IF_ERROR(memory_grow(&pairs->lefts, capacity * sizeof *pairs->lefts, "a join", pairs->error));
        RETURN_IF_ERROR(
            memory_grow(&pairs->rights, capacity * sizeof *pairs->rights, "a join", pairs->error));
        pairs->capacity = capacity;
    }
    pairs->lefts[pairs->count] = left;
    pairs->rights[pairs->count++] = right;
    return STATUS_OK;
}

static bool has_null(const struct rowset_column *columns, uint32_t count, uint64_t row)
{
    for (uint32_t c = 0; c < count; c++)
        if (columns[c].nulls && columns[c].nulls[row])
            return true;
    return false;
}

/* next[r]: the next row after r with the same keys. Rows are entered from the last one, so that lists ascend. */
static void enter_rows(const struct rows_hash *hash, const struct rowset_column *right, uint64_t rows,
                       uint32_t count, uint64_t *next)
{
    for (uint64_t row = rows; row-- > 0;) {
        if (has_null(right, count, row))
            continue;
        uint64_t *const slot = rows_hash_slot(hash, right, right, row, count);
        next[row] = *slot;
        *slot = row;
    }
}

static enum status join_equal(const struct rowset_column *left, uint64_t left_rows,
                              const struct rowset_column *right, uint64_t right_rows, uint32_t count,
                              bool outer, struct pairs *pairs)
{
    struct rows_hash hash = {0};
    uint64_t *next = NULL;
    struct memory_charge charge = {0};
    enum status status =
        memory_charge_add(&charge, right_rows * ROW_BYTES, "a join of answers", pairs->error);
    if (status == STATUS_OK)
        status = memory_take(&next, (right_rows + 1) * sizeof *next, "a join", pairs->error);
    if (status == STATUS_OK)
        status = rows_hash_create(right_rows, &hash, pairs->error);
    if (status == STATUS_OK)
        enter_rows(&hash, right, right_rows, count, next);
    for (uint64_t row = 0; status == STATUS_OK && row < left_rows; row++) {
        uint64_t partner =
            has_null(left, count, row) ? RELATION_NO_ROW : *rows_hash_slot(&hash, right, left, row, count);
        if (partner == RELATION_NO_ROW && outer)
            status = pair_add(pairs, row, RELATION_NO_ROW);
        for (; status == STATUS_OK && partner != RELATION_NO_ROW; partner = next[partner])
            status = pair_add(pairs, row, partner);
    }
    free(hash.rows);
    free(next);
    memory_charge_drop(&charge);
    return status;
}

static enum status join_all(uint64_t left_rows, uint64_t right_rows, bool outer, struct pairs *pairs)
{
    for (uint64_t row = 0; row < left_rows; row++) {
        if (outer && right_rows == 0)
            RETURN_IF_ERROR(pair_add(pairs, row, RELATION_NO_ROW));
        for (uint64_t partner = 0; partner < right_rows; partner++)
            RETURN_IF_ERROR(pair_add(pairs, row, partner));
    }
    return STATUS_OK;
}

enum status relation_join(const struct rowset_column *left, uint64_t left_rows,
                          const struct rowset_column *right, uint64_t right_rows, uint32_t count, bool outer,
                          uint64_t **lefts, uint64_t **rights, uint64_t *pairs, struct memory_charge *charge,
                          struct error *error)
{
    struct pairs made = {.error = error};
    const enum status status = count ? join_equal(left, left_rows, right, right_rows, count, outer, &made)
                                     : join_all(left_rows, right_rows, outer, &made);
    if (status != STATUS_OK) {
        free(made.lefts);
        free(made.rights);
        memory_charge_drop(&made.charge);
        made = (struct pairs){0};
    }
    *lefts = made.lefts;
    *rights = made.rights;
    *pairs = made.count;
    *charge = made.charge;
    return status;
}
