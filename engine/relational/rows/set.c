/* set.c: UNION, EXCEPT and INTERSECT of answers; see relation.h. */
#include "engine/relational/rows/relation.h"

#include "engine/relational/rows/rows_hash.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/hash_table.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/deal.h"
#include "storage/base/sort/sort_rows.h"

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

/* ---- Parts ---- */

/* Equal rows of both sides are in one part, by the hash of all columns: threads take parts, whose tables fit a cache. */
#define PART_ROWS 8192u
#define PARTS_MAX 1024u

/* What the tables of all parts together take of a row: the account is asked for it before, because rows that it has no
 * memory for are divided (spill/spill.h) instead of being read at random places. */
#define TABLE_BYTES 32u

struct parting {
    enum relation_set set;
    const struct rowset *left, *right;
    uint32_t parts;
    struct deal lefts, rights;
    uint8_t *kept; /* of the left side's rows: 1 if the set has it */
    uint64_t *
        copies; /* with ALL, of a row of the right side that is the first of its kind: those that are not taken */
};

/* A side whose rows are dealt. */
struct side {
    const struct rowset *rows;
    uint32_t parts;
};

static uint32_t part_of(const void *context, uint64_t row)
{
    const struct side *const side = context;
    return (uint32_t)hash_part(row_hash(side->rows->columns, side->rows->column_count, row), side->parts);
}

/* The rows of a part are far from each other: those that come soon are asked for, so that their cache misses overlap. */
#define AHEAD 16u

static inline void ask_for(const struct rowset *of, const uint64_t *rows, uint64_t i, uint64_t count)
{
    for (uint32_t c = 0; i + AHEAD < count && c < of->column_count; c++)
        __builtin_prefetch(&of->columns[c].values[rows[i + AHEAD]]);
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

/* Keeps the first of equal rows of the left side that are (or are not) on the right side. */
static void keep_first(const struct parting *parting, const uint64_t *rows, uint64_t count,
                       struct hash_table *own, const struct hash_table *other)
{
    for (uint64_t i = 0; i < count; i++) {
        ask_for(parting->left, rows, i, count);
        parting->kept[rows[i]] =
            put_row(own, parting->left, rows[i]) == HASH_TABLE_NONE &&
            (parting->set == RELATION_UNION || (find_row(other, parting->right, parting->left, rows[i]) !=
                                                HASH_TABLE_NONE) == (parting->set == RELATION_INTERSECT));
    }
}

/* With ALL, each row of the right side is taken by one of the left side. */
static void keep_untaken(const struct parting *parting, const uint64_t *rows, uint64_t count,
                         const struct hash_table *other)
{
    for (uint64_t i = 0; i < count; i++) {
        ask_for(parting->left, rows, i, count);
        const uint32_t at = find_row(other, parting->right, parting->left, rows[i]);
        const bool found = at != HASH_TABLE_NONE && parting->copies[at];
        if (found)
            parting->copies[at]--;
        parting->kept[rows[i]] = found == (parting->set == RELATION_INTERSECT_ALL);
    }
}

static enum status keep_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct parting *const parting = context;
    const uint64_t *const lefts = parting->lefts.order + parting->lefts.start[part],
                          *const rights = parting->rights.order + parting->rights.start[part];
    const uint64_t left = parting->lefts.start[part + 1] - parting->lefts.start[part],
                   right = parting->rights.start[part + 1] - parting->rights.start[part];
    struct hash_table own = {.memory = HASH_TABLE_WORK}, other = {.memory = HASH_TABLE_WORK};
    (void)thread;
    enum status status = hash_table_reserve(&other, right, "a table of rows", error);
    for (uint64_t i = 0; status == STATUS_OK && i < right; i++) {
        ask_for(parting->right, rights, i, right);
        const uint32_t first = put_row(&other, parting->right, rights[i]);
        if (parting->copies)
            parting->copies[first == HASH_TABLE_NONE ? rights[i] : first]++;
    }
    if (!parting->copies)
        status = AND_THEN(status, hash_table_reserve(&own, left, "a table of rows", error));
    if (status == STATUS_OK && parting->copies)
        keep_untaken(parting, lefts, left, &other);
    else if (status == STATUS_OK)
        keep_first(parting, lefts, left, &own, &other);
    hash_table_free(&own);
    hash_table_free(&other);
    return AND_THEN(status, cancel_check(error));
}

static enum status open_parts(struct parting *parting, unsigned threads, struct error *error)
{
    const uint64_t rows = parting->left->rows + parting->right->rows, parts = rows / PART_ROWS + 1;
    parting->parts = parts < PARTS_MAX ? (uint32_t)parts : PARTS_MAX;
    const struct side left = {parting->left, parting->parts}, right = {parting->right, parting->parts};
    if (parting->set == RELATION_EXCEPT_ALL || parting->set == RELATION_INTERSECT_ALL) {
        const uint64_t bytes = (parting->right->rows + 1) * sizeof *parting->copies;
        RETURN_IF_ERROR(spillable_work(&parting->copies, bytes, "a table of rows", error));
        memset(parting->copies, 0, bytes);
    }
    RETURN_IF_ERROR(spillable_work(&parting->kept, parting->left->rows + 1, "a table of rows", error));
    RETURN_IF_ERROR(
        deal_make(parting->left->rows, parting->parts, threads, part_of, &left, &parting->lefts, error));
    return deal_make(parting->right->rows, parting->parts, threads, part_of, &right, &parting->rights, error);
}

/* Lists the rows of the left side that the set has. */
static enum status find_kept(struct parting *parting, unsigned threads, uint64_t **places, uint64_t *count,
                             struct error *error)
{
    struct memory_charge tables = {0};
    const uint64_t rows = parting->left->rows + parting->right->rows;
    *places = NULL;
    if (!execution_undivided())
        RETURN_IF_ERROR(memory_charge_add(&tables, rows * TABLE_BYTES, "a table of rows", error));
    memory_charge_drop(&tables);
    enum status status = open_parts(parting, threads, error);
    status = AND_THEN(status, parallel_for(threads, parting->parts, keep_part, parting, error));
    status = AND_THEN(status, sort_marks_list(parting->kept, parting->left->rows, 1, SORT_LIST_WORK, threads,
                                              places, count, error));
    deal_free(&parting->lefts);
    deal_free(&parting->rights);
    spillable_free(parting->kept);
    spillable_free(parting->copies);
    return status;
}

static enum status keep_rows(struct rowset *rows, const uint64_t *places, uint64_t count, unsigned threads,
                             struct error *error)
{
    for (uint32_t c = 0; c < rows->column_count; c++) {
        struct rowset_column kept;
        RETURN_IF_ERROR(relation_gather(&rows->columns[c], places, count, threads, &kept, error));
        rowset_column_free(&rows->columns[c]);
        rows->columns[c] = kept;
    }
    rows->rows = count;
    return STATUS_OK;
}

/* Keeps the rows of the left side that the set has. */
static enum status keep_set(enum relation_set set, struct rowset *left, const struct rowset *right,
                            unsigned threads, struct error *error)
{
    struct parting parting = {.set = set, .left = left, .right = right};
    uint64_t *places, count;
    enum status status = find_kept(&parting, threads, &places, &count, error);
    if (status == STATUS_OK && count < left->rows)
        status = keep_rows(left, places, count, threads, error);
    spillable_free(places);
    return status;
}

enum status relation_set(enum relation_set set, struct rowset *left, struct rowset *right, unsigned threads,
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
        RETURN_IF_ERROR(keep_set(set, left, right, threads, error));
    rowset_free(right);
    return STATUS_OK;
}
