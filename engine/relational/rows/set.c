/* set.c: UNION, EXCEPT and INTERSECT of answers; see relation.h. */
#include "engine/relational/rows/relation.h"

#include "engine/relational/rows/rows_hash.h"
#include "storage/base/hash_table.h"
#include "storage/base/memory.h"

#include <stdlib.h>
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

/* A table of the different rows of an answer, into which they are put one by one. */
static enum status rows_table(const struct rowset *rows, struct hash_table *table, struct error *error)
{
    *table = (struct hash_table){.memory = HASH_TABLE_WORK};
    return hash_table_reserve(table, rows->rows, "a table of rows", error);
}

/* The first row that equals this one, or HASH_TABLE_NONE: it is the first itself. */
static uint32_t put_row(struct hash_table *table, const struct rowset *rows, uint64_t row)
{
    const struct row_sought sought = {rows->columns, rows->columns, row, rows->column_count};
    return hash_table_put(table, row_hash(rows->columns, rows->column_count, row), (uint32_t)row, row_same,
                          &sought);
}

/* The first row on the right side that equals this one of the left side, or HASH_TABLE_NONE. */
static uint32_t find_row(const struct hash_table *table, const struct rowset *right,
                         const struct rowset *left, uint64_t row)
{
    const struct row_sought sought = {right->columns, left->columns, row, left->column_count};
    return hash_table_find(table, row_hash(left->columns, left->column_count, row), row_same, &sought);
}

/* Finds the rows to keep: the first of equal rows of the left side that are (or are not) on the right side. */
static enum status find_kept(enum relation_set set, const struct rowset *left, const struct rowset *right,
                             uint64_t *places, uint64_t *count, struct error *error)
{
    struct hash_table own, other = {0};
    enum status status = rows_table(left, &own, error);
    status = AND_THEN(status, rows_table(right, &other, error));
    for (uint64_t row = 0; status == STATUS_OK && row < right->rows; row++)
        (void)put_row(&other, right, row);
    *count = 0;
    for (uint64_t row = 0; status == STATUS_OK && row < left->rows; row++)
        if (put_row(&own, left, row) == HASH_TABLE_NONE &&
            (set == RELATION_UNION ||
             (find_row(&other, right, left, row) != HASH_TABLE_NONE) == (set == RELATION_INTERSECT)))
            places[(*count)++] = row;
    hash_table_free(&own);
    hash_table_free(&other);
    return status;
}

/* The same with ALL: each row of the right side is taken by one of the left side. */
static enum status find_all_kept(enum relation_set set, const struct rowset *left, const struct rowset *right,
                                 uint64_t *places, uint64_t *count, struct error *error)
{
    struct hash_table other;
    uint64_t *copies = NULL; /* of a row that is the first of its kind, those that are not taken */
    enum status status = rows_table(right, &other, error);
    if (status == STATUS_OK)
        status = spillable_work(&copies, (right->rows + 1) * sizeof *copies, "a table of rows", error);
    if (status == STATUS_OK)
        memset(copies, 0, (right->rows + 1) * sizeof *copies);
    for (uint64_t row = 0; status == STATUS_OK && row < right->rows; row++) {
        const uint32_t first = put_row(&other, right, row);
        copies[first == HASH_TABLE_NONE ? row : first]++;
    }
    *count = 0;
    for (uint64_t row = 0; status == STATUS_OK && row < left->rows; row++) {
        const uint32_t at = find_row(&other, right, left, row);
        const bool found = at != HASH_TABLE_NONE && copies[at];
        if (found)
            copies[at]--;
        if (found == (set == RELATION_INTERSECT_ALL))
            places[(*count)++] = row;
    }
    hash_table_free(&other);
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
