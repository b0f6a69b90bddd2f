/* spill.c: see spill.h. */
#include "engine/relational/spill/spill.h"

#include "engine/relational/rows/rows_hash.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/memory.h"
#include "storage/base/sort/deal.h"

#include <string.h>

#define DIVISIONS_MAX (64u / SPILL_BITS) /* then no bits of the hash are left */

struct spill_mark spill_mark(void)
{
    const struct memory_account *const account = execution_memory();
    return (struct spill_mark){account ? account->refused : 0};
}

bool spill_wanted(struct relational *run, const struct spill_mark *mark, enum status status)
{
    const struct memory_account *const account = execution_memory();
    if (status != STATUS_MACHINE || !account || account->refused == mark->refused || execution_undivided())
        return false;
    *run->error = (struct error){0};
    return true;
}

/* ---- Parts ---- */

struct dividing {
    uint32_t count;
    const struct rowset_column **columns;
    const uint64_t **places;
    unsigned shift; /* of the hash, to the bits that are a row's part */
};

static uint64_t hash_at(const struct dividing *dividing, uint64_t row)
{
    uint64_t hash = ROW_HASH_SEED;
    for (uint32_t c = 0; c < dividing->count; c++) {
        const uint64_t *const places = dividing->places[c];
        hash = row_hash_add(hash, dividing->columns[c], places ? places[row] : row);
    }
    return hash;
}

static uint32_t part_of(const void *context, uint64_t row)
{
    const struct dividing *const dividing = context;
    return (uint32_t)(hash_at(dividing, row) >> dividing->shift) % SPILL_PARTS;
}

static enum status dividing_open(struct relational *run, const struct result *rows, uint32_t count,
                                 const uint32_t *keys, struct dividing *dividing)
{
    *dividing =
        (struct dividing){.count = count, .shift = 64 - SPILL_BITS * (run->divisions % DIVISIONS_MAX + 1)};
    RETURN_IF_ERROR(relational_memory(run, (count + 1) * sizeof *dividing->columns, &dividing->columns));
    RETURN_IF_ERROR(relational_memory(run, (count + 1) * sizeof *dividing->places, &dividing->places));
    for (uint32_t c = 0; c < count; c++)
        dividing->columns[c] = result_column(rows, keys[c], &dividing->places[c]);
    return STATUS_OK;
}

enum status spill_is_one_key(struct relational *run, const struct result *rows, uint32_t count,
                             const uint32_t *keys, bool *is_one)
{
    struct dividing dividing;
    *is_one = true;
    if (run->divisions >= DIVISIONS_MAX)
        return STATUS_OK;
    RETURN_IF_ERROR(dividing_open(run, rows, count, keys, &dividing));
    for (uint64_t row = 1; row < rows->rows && *is_one; row++)
        *is_one = hash_at(&dividing, row) == hash_at(&dividing, 0);
    return STATUS_OK;
}

/* Divides rows by columns of theirs, and frees them. */
static enum status divide(struct relational *run, struct result *rows, uint32_t count, const uint32_t *keys,
                          struct result parts[SPILL_PARTS])
{
    struct dividing dividing;
    struct deal deal;
    memset(parts, 0, SPILL_PARTS * sizeof *parts);
    RETURN_IF_ERROR(dividing_open(run, rows, count, keys, &dividing));
    enum status status = deal_make(rows->rows, SPILL_PARTS, engine_threads(run->task->engine), part_of,
                                   &dividing, &deal, run->error);
    for (uint32_t p = 0; status == STATUS_OK && p < SPILL_PARTS; p++) {
        status = cancel_check(run->error);
        if (status == STATUS_OK)
            status = result_copied(run, rows, deal.order + deal.start[p], deal.start[p + 1] - deal.start[p],
                                   &parts[p]);
    }
    deal_free(&deal);
    result_free(rows);
    return status;
}

/* ---- Rows of parts ---- */

enum status spill_append(struct relational *run, struct result *all, struct result *more)
{
    const uint32_t count = more->column_count;
    struct rowset left, right;
    uint32_t *numbers[2];
    if (!all->column_count) {
        result_free(all);
        *all = *more;
        *more = (struct result){0};
        return STATUS_OK;
    }
    for (int i = 0; i < 2; i++) {
        RETURN_IF_ERROR(relational_memory(run, (count + 1) * sizeof **numbers, &numbers[i]));
        for (uint32_t c = 0; c < count; c++)
            numbers[i][c] = (i ? more : all)->columns[c].number;
    }
    RETURN_IF_ERROR(result_rows(run, all, numbers[0], count, &left));
    enum status status = result_rows(run, more, numbers[1], count, &right);
    if (status == STATUS_OK)
        status =
            relation_set(RELATION_UNION_ALL, &left, &right, engine_threads(run->task->engine), run->error);
    if (status == STATUS_OK)
        status = relational_keep(run, &left);
    if (status == STATUS_OK)
        return result_of_rows(run, &left, numbers[0], all);
    rowset_free(&left);
    rowset_free(&right);
    return status;
}

/* Puts the parts together, two and two, so that rows are not copied once for each part. */
static enum status join_parts(struct relational *run, struct result parts[SPILL_PARTS], struct result *all)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < SPILL_PARTS; p++)
        if (parts[p].column_count) {
            const struct result part = parts[p];
            parts[p] = (struct result){0};
            parts[count++] = part;
        }
    for (uint32_t step = 1; step < count; step *= 2)
        for (uint32_t p = 0; p + step < count; p += 2 * step)
            RETURN_IF_ERROR(spill_append(run, &parts[p], &parts[p + step]));
    *all = parts[0];
    parts[0] = (struct result){0};
    return STATUS_OK;
}

static enum status work_on(struct relational *run, struct result inputs[2][SPILL_PARTS], spill_work *work,
                           void *context, struct result made[SPILL_PARTS])
{
    struct explain_tree *const explained = run->explained;
    enum status status = STATUS_OK;
    run->explained = NULL; /* parts of an operator */
    run->divisions++;
    for (uint32_t p = 0; status == STATUS_OK && p < SPILL_PARTS; p++) {
        struct result part[2] = {inputs[0][p], inputs[1][p]};
        inputs[0][p] = inputs[1][p] = (struct result){0};
        if (part[0].rows || part[1].rows)
            status = work(context, part, &made[p]);
        if (status == STATUS_OK)
            status = result_code(run, &made[p]);
        result_free(&part[0]);
        result_free(&part[1]);
    }
    run->divisions--;
    run->explained = explained;
    return status;
}

enum status spill_run(struct relational *run, uint32_t input_count, struct result *const *inputs,
                      uint32_t count, const uint32_t *const *keys, spill_work *work, void *context,
                      struct result *result)
{
    struct result parts[2][SPILL_PARTS] = {0}, made[SPILL_PARTS] = {0};
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < input_count; i++)
        status = divide(run, inputs[i], count, keys[i], parts[i]);
    if (status == STATUS_OK)
        status = work_on(run, parts, work, context, made);
    *result = (struct result){0};
    if (status == STATUS_OK)
        status = join_parts(run, made, result);
    for (uint32_t p = 0; p < SPILL_PARTS; p++) {
        result_free(&parts[0][p]);
        result_free(&parts[1][p]);
        result_free(&made[p]);
    }
    return status;
}

enum status spill_undivided(struct relational *run, spill_work *work, void *context, struct result *inputs,
                            struct result *result)
{
    struct execution *const execution = execution_current();
    struct explain_tree *const explained = run->explained;
    run->explained = NULL;
    execution->undivided = true;
    enum status status = work(context, inputs, result);
    if (status == STATUS_OK)
        status = result_code(run, result); /* as those of parts */
    execution->undivided = false;
    run->explained = explained;
    return status;
}
