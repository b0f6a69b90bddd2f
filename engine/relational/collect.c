/*
 * collect.c: see collect.h. A part's rows travel as
 *
 *     struct head             the part's number, and the rows
 *     column by column        8 bytes a row, and then, if the column may have NULLs, a byte a row
 *
 * Strings are codes of dictionaries that all parts have (cluster_join_database).
 */
#include "engine/relational/collect.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct head {
    uint64_t part, rows;
};

static uint64_t row_bytes(const struct rowset *part)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < part->column_count; c++)
        bytes += sizeof *part->columns[c].values + (part->columns[c].nulls != NULL);
    return bytes;
}

static enum status write_part(const struct plan *plan, const struct rowset *part, char **bytes,
                              uint64_t *size, struct error *error)
{
    const struct head head = {.part = plan->fact->part.number, .rows = part->rows};
    *size = sizeof head + part->rows * row_bytes(part);
    RETURN_IF_ERROR(memory_take(bytes, *size, "rows of a part", error));
    char *at = *bytes;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (uint32_t c = 0; c < part->column_count; c++) {
        const struct rowset_column *const column = &part->columns[c];
        memcpy(at, column->values, part->rows * sizeof *column->values);
        at += part->rows * sizeof *column->values;
        if (column->nulls)
            memcpy(at, column->nulls, part->rows);
        at += column->nulls ? part->rows : 0;
    }
    return STATUS_OK;
}

/* Makes a rowset like `part` with room for `rows`. */
static enum status make_whole(const struct rowset *part, uint64_t rows, struct rowset *whole,
                              struct error *error)
{
    const char *names[PLAN_OUTPUTS_MAX] = {NULL};
    struct value_type types[PLAN_OUTPUTS_MAX] = {{0}};
    for (uint32_t c = 0; c < part->column_count; c++) {
        names[c] = part->columns[c].name;
        types[c] = part->columns[c].type;
    }
    RETURN_IF_ERROR(rowset_create(whole, part->column_count, names, types, rows, error));
    for (uint32_t c = 0; c < part->column_count; c++)
        if (part->columns[c].nulls)
            RETURN_IF_ERROR(spillable_rows(&whole->columns[c].nulls, rows + 1, "an answer", error));
    return STATUS_OK;
}

static void append(const char *bytes, const struct head *head, struct rowset *whole)
{
    bytes += sizeof *head;
    for (uint32_t c = 0; c < whole->column_count; c++) {
        struct rowset_column *const column = &whole->columns[c];
        memcpy(column->values + whole->rows, bytes, head->rows * sizeof *column->values);
        bytes += head->rows * sizeof *column->values;
        if (column->nulls)
            memcpy(column->nulls + whole->rows, bytes, head->rows);
        bytes += column->nulls ? head->rows : 0;
    }
    whole->rows += head->rows;
}

/* Puts the parts into the order of their numbers, which is that of their rows. */
static enum status join(const struct plan *plan, const struct rowset *part, const char *bytes,
                        const uint64_t *sizes, uint32_t count, struct rowset *whole, struct error *error)
{
    const uint64_t each = row_bytes(part);
    uint64_t rows = 0;
    for (uint32_t rank = 0; rank < count; rank++)
        rows += each ? (sizes[rank] - sizeof(struct head)) / each : 0;
    RETURN_IF_ERROR(make_whole(part, rows, whole, error));
    for (uint32_t number = 1; number <= plan->fact->part.of; number++) {
        const char *at = bytes;
        for (uint32_t rank = 0; rank < count; at += sizes[rank++]) {
            struct head head;
            memcpy(&head, at, sizeof head);
            if (head.part == number && sizes[rank] == sizeof head + head.rows * each)
                append(at, &head, whole);
        }
    }
    return whole->rows == rows
               ? STATUS_OK
               : error_set(error, STATUS_MACHINE, "rows of some part are missing; start the processes again");
}

static enum status rows_collect(struct cluster *cluster, const struct plan *plan,
                                const struct partial *partial, unsigned threads, struct rowset *rows,
                                struct error *error)
{
    const uint32_t count = cluster_size(cluster);
    struct rowset part = {0}, whole = {0};
    char *mine = NULL, *all = NULL;
    uint64_t bytes = 0, *sizes = NULL;
    *rows = (struct rowset){0};
    enum status status = answer_part(plan, partial, threads, &part, error);
    status = AND_THEN(status, write_part(plan, &part, &mine, &bytes, error));
    status = AND_THEN(status, memory_zeros(&sizes, count * sizeof *sizes, "rows of parts", error));
    status = cluster_collect(cluster, status, mine, bytes, &all, sizes, error);
    if (status == STATUS_OK)
        status =
            all ? join(plan, &part, all, sizes, count, &whole, error) : make_whole(&part, 0, &whole, error);
    status = AND_THEN(status, answer_whole(plan, &whole, rows, error));
    rowset_free(&part);
    rowset_free(&whole);
    free(mine);
    free(all);
    free(sizes);
    return status;
}

enum status collect_rows(const struct engine *engine, const struct plan *plan, struct partial *partial,
                         struct rowset *rows, struct error *error)
{
    struct cluster *const cluster = plan->fact->part.of ? engine_cluster(engine) : NULL;
    return cluster && plan->shape == PLAN_ROWS
               ? rows_collect(cluster, plan, partial, engine_threads(engine), rows, error)
               : answer_rows(plan, partial, engine_threads(engine), rows, error);
}
