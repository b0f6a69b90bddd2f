/* nvcomp_query.c: see nvcomp_query.h. */
#include "lab/bench/nvcomp_query.h"

#include "storage/base/memory.h"
#include "storage/column/column.h"

#include <stdio.h>
#include <string.h>

#define CASCADED_SCHEMES 3u /* the first of nvcomp_schemes */

enum status nvcomp_query_open(struct lab *lab, struct nvcomp_query *query, struct error *error)
{
    query->lab = lab;
    RETURN_IF_ERROR(nvcomp_open(lab, &query->nvcomp, error));
    if (nvcomp_missing(query->nvcomp))
        snprintf(query->missing, sizeof query->missing, "%s", nvcomp_missing(query->nvcomp));
    return STATUS_OK;
}

void nvcomp_query_close(struct nvcomp_query *query)
{
    nvcomp_close(query->nvcomp);
    *query = (struct nvcomp_query){0};
}

static enum status copy_values(struct lab *lab, const struct column_data *data, struct dataset *dataset,
                               struct error *error)
{
    uint64_t rows = 0;
    int32_t *values;
    for (uint32_t s = 0; s < data->segment_count; s++)
        rows += data->segments[s].chunk.rows;
    RETURN_IF_ERROR(memory_take(&values, rows * sizeof *values, "a column's values", error));
    rows = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct chunk_view *const chunk = &data->segments[s].chunk;
        memcpy(values + rows, chunk->data, chunk->rows * sizeof *values);
        rows += chunk->rows;
    }
    return dataset_adopt(lab, values, rows, dataset, error);
}

static enum status measure_dataset(struct nvcomp *nvcomp, const struct dataset *dataset,
                                   struct nvcomp_result *best, struct error *error)
{
    for (uint32_t s = 0; s < CASCADED_SCHEMES; s++) {
        struct nvcomp_result result;
        RETURN_IF_ERROR(nvcomp_measure(nvcomp, s, dataset, &result, error));
        if (s == 0 || (result.bits > 0 && (!(best->bits > 0) || result.bits < best->bits)))
            *best = result;
    }
    return STATUS_OK;
}

static enum status measure_column(struct nvcomp_query *query, const struct plan_column *column,
                                  struct error *error)
{
    struct dataset dataset = {0};
    struct nvcomp_result result = {0};
    enum status status = copy_values(query->lab, column->data, &dataset, error);
    if (status == STATUS_OK)
        status = measure_dataset(query->nvcomp, &dataset, &result, error);
    dataset_free(query->lab, &dataset);
    RETURN_IF_ERROR(status);
    if (!(result.bits > 0))
        memcpy(query->missing, result.why, sizeof result.why);
    query->columns[query->column_count].column = column->column;
    query->columns[query->column_count++].speed = result.memory;
    return STATUS_OK;
}

enum status nvcomp_query_measure(struct nvcomp_query *query, const struct plan *plan, struct speed *sum,
                                 struct error *error)
{
    for (uint32_t c = 0; c < plan->column_count && !*query->missing; c++) {
        uint32_t known = 0;
        while (known < query->column_count && query->columns[known].column != plan->columns[c].column)
            known++;
        if (known == query->column_count)
            RETURN_IF_ERROR(measure_column(query, &plan->columns[c], error));
        sum->median += query->columns[known].speed.median;
        sum->least += query->columns[known].speed.least;
        sum->most += query->columns[known].speed.most;
    }
    return STATUS_OK;
}
