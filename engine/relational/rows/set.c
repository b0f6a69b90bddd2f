/* set.c: UNION, EXCEPT and INTERSECT of answers; see relation.h. */
#include "engine/relational/rows/relation.h"

#include "engine/relational/rows/rows_hash.h"
#include "storage/base/memory.h"

#include <string.h>

/* Makes one type of the columns of both, and hands a dictionary that is made to the left one. */
static enum status columns_alike(struct rowset *left, struct rowset *right, uint32_t c, struct error *error)
{
    struct dictionary *made;
    RETURN_IF_ERROR(
        relation_alike(&left->columns[c], left->rows, &right->columns[c], right->rows, &made, error));
    if (!made && right->columns[c].type.kind == VALUE_STRING &&
        left->columns[c].type.dictionary == right->dictionaries[c] && !left->dictionaries[c]) {
        left->dictionaries[c] = right->dictionaries[c]; /* the left one has only NULLs */
        right->dictionaries[c] = NULL;
    }
    if (made) {
        free(left->dictionaries[c]);
        left->dictionaries[c] = made;
    }
    return STATUS_OK;
}

static enum status column_append(struct rowset_column *to, uint64_t rows, const struct rowset_column *from,
                                 uint64_t more, struct error *error)
{
    RETURN_IF_ERROR(spillable_grow(&to->values, (rows + more + 1) * sizeof *to->values, "an answer", error));
    memcpy(to->values + rows, from->values, more * sizeof *to->values);
    if (!to->nulls && !from->nulls)
        return STATUS_OK;
    const bool had = to->nulls != NULL;
    RETURN_IF_ERROR(spillable_grow(&to->nulls, rows + more + 1, "an answer", error));
    if (!had)
        memset(to->nulls, 0, rows);
    if (from->nulls)
        memcpy(to->nulls + rows, from->nulls, more);
    else
        memset(to->nulls + rows, 0, more);
    return STATUS_OK;
}

/* Finds the rows to keep: the first of equal rows of the left side that are (or are not) on the right side. */
static enum status find_kept(enum relation_set set, const struct rowset *left, const struct rowset *right,
                             uint64_t *places, uint64_t *count, struct error *error)
{
    struct rows_hash own = {0}, other = {0};
    const uint32_t columns = left->column_count;
    enum status status = rows_hash_create(left->rows, &own, error);
    if (status == STATUS_OK)
        status = rows_hash_create(right->rows, &other, error);
    for (uint64_t row = 0; status == STATUS_OK && row < right->rows; row++)
        *rows_hash_slot(&other, right->columns, right->columns, row, columns) = row;
    *count = 0;
    for (uint64_t row = 0; status == STATUS_OK && row < left->rows; row++) {
        uint64_t *const slot = rows_hash_slot(&own, left->columns, left->columns, row, columns);
        if (*slot != UINT64_MAX)
            continue;
        *slot = row;
        const bool found = *rows_hash_slot(&other, right->columns, left->columns, row, columns) != UINT64_MAX;
        if (set == RELATION_UNION || found == (set == RELATION_INTERSECT))
            places[(*count)++] = row;
    }
    spillable_free(own.rows);
    spillable_free(other.rows);
    return status;
}

/* The same with ALL: each row of the right side is taken by one of the left side. */
static enum status find_all_kept(enum relation_set set, const struct rowset *left, const struct rowset *right,
                                 uint64_t *places, uint64_t *count, struct error *error)
{
    struct rows_hash other = {0};
    uint64_t *copies = NULL; /* of the row in a slot, those that are not taken */
    const uint32_t columns = left->column_count;
    enum status status = rows_hash_create(right->rows, &other, error);
    if (status == STATUS_OK)
        status = spillable_work(&copies, (right->rows + 1) * sizeof *copies, "a table of rows", error);
    if (status == STATUS_OK)
        memset(copies, 0, (right->rows + 1) * sizeof *copies);
    for (uint64_t row = 0; status == STATUS_OK && row < right->rows; row++) {
        uint64_t *const slot = rows_hash_slot(&other, right->columns, right->columns, row, columns);
        *slot = *slot == UINT64_MAX ? row : *slot;
        copies[*slot]++;
    }
    *count = 0;
    for (uint64_t row = 0; status == STATUS_OK && row < left->rows; row++) {
        const uint64_t at = *rows_hash_slot(&other, right->columns, left->columns, row, columns);
        const bool found = at != UINT64_MAX && copies[at];
        if (found)
            copies[at]--;
        if (found == (set == RELATION_INTERSECT_ALL))
            places[(*count)++] = row;
    }
    spillable_free(other.rows);
    spillable_free(copies);
    return status;
}

static enum status keep_rows(struct rowset *rows, const uint64_t *places, uint64_t count, struct error *error)
{
    for (uint32_t c = 0; c < rows->column_count; c++) {
        struct rowset_column kept;
        RETURN_IF_ERROR(relation_gather(&rows->columns[c], places, count, &kept, error));
        rowset_column_free(&rows->columns[c]);
        rows->columns[c] = kept;
    }
    rows->rows = count;
    return STATUS_OK;
}

/* Keeps the rows of the left side that the set has. */
static enum status keep_set(enum relation_set set, struct rowset *left, const struct rowset *right,
                            struct error *error)
{
    const bool all = set == RELATION_EXCEPT_ALL || set == RELATION_INTERSECT_ALL;
    uint64_t *places, count;
    RETURN_IF_ERROR(spillable_rows(&places, (left->rows + 1) * sizeof *places, "an answer", error));
    enum status status = (all ? find_all_kept : find_kept)(set, left, right, places, &count, error);
    if (status == STATUS_OK)
        status = keep_rows(left, places, count, error);
    spillable_free(places);
    return status;
}

enum status relation_set(enum relation_set set, struct rowset *left, struct rowset *right,
                         struct error *error)
{
    const bool appends = set == RELATION_UNION || set == RELATION_UNION_ALL;
    for (uint32_t c = 0; c < left->column_count; c++) {
        RETURN_IF_ERROR(columns_alike(left, right, c, error));
        if (appends)
            RETURN_IF_ERROR(
                column_append(&left->columns[c], left->rows, &right->columns[c], right->rows, error));
    }
    left->rows += appends ? right->rows : 0;
    right->rows = appends ? 0 : right->rows;
    if (set != RELATION_UNION_ALL)
        RETURN_IF_ERROR(keep_set(set, left, right, error));
    rowset_free(right);
    return STATUS_OK;
}
