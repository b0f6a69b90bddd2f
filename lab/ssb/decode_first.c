/* decode_first.c: see decode_first.h. */
#include "lab/ssb/decode_first.h"

#include "storage/base/memory.h"
#include "storage/column/column.h"

#include <stdio.h>
#include <string.h>

#define CASCADED_SCHEMES 3u /* the first of nvcomp_schemes */

enum status decode_first_open(struct lab *lab, struct decode_first *first, struct error *error)
{
    first->lab = lab;
    RETURN_IF_ERROR(nvcomp_open(lab, &first->nvcomp, error));
    if (nvcomp_missing(first->nvcomp))
        snprintf(first->nvcomp_missing, sizeof first->nvcomp_missing, "%s", nvcomp_missing(first->nvcomp));
    if (!lab->cuda)
        snprintf(first->published_missing, sizeof first->published_missing, "no GPU");
    return STATUS_OK;
}

void decode_first_close(struct decode_first *first)
{
    nvcomp_close(first->nvcomp);
    *first = (struct decode_first){0};
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

static enum status measure_nvcomp(struct nvcomp *nvcomp, const struct dataset *dataset,
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

/* Encodes the dataset in the method's codec and decodes it. */
static enum status measure_method(struct lab *lab, const struct published_method *method,
                                  const struct dataset *dataset, struct speed *speed, struct error *error)
{
    struct encoded encoded = {0};
    struct decode_result result = {0};
    enum status status = encoded_make(lab, codec_by_name(method->codec), dataset, &encoded, error);
    if (status == STATUS_OK)
        status = published_measure(lab, method, dataset, &encoded, &result, error);
    encoded_free(&encoded);
    *speed = result.memory;
    return status;
}

/* Measures a column, which is int32 in the plain codec, and appends it. */
static enum status measure_column(struct decode_first *first, const struct plan_column *plain,
                                  const struct published_method *method, struct error *error)
{
    struct dataset dataset = {0};
    struct nvcomp_result result = {0};
    enum status status = copy_values(first->lab, plain->data, &dataset, error);
    if (status == STATUS_OK)
        status = method ? measure_method(first->lab, method, &dataset, &result.memory, error)
                        : measure_nvcomp(first->nvcomp, &dataset, &result, error);
    dataset_free(first->lab, &dataset);
    RETURN_IF_ERROR(status);
    if (!method && !(result.bits > 0))
        memcpy(first->nvcomp_missing, result.why, sizeof result.why);
    first->columns[first->column_count++] =
        (struct decode_first_column){.column = plain->column, .method = method, .speed = result.memory};
    return STATUS_OK;
}

static enum status add_column(struct decode_first *first, const struct plan_column *plain,
                              const struct published_method *method, struct speed *sum, struct error *error)
{
    uint32_t known = 0;
    while (known < first->column_count &&
           (first->columns[known].column != plain->column || first->columns[known].method != method))
        known++;
    if (known == first->column_count)
        RETURN_IF_ERROR(measure_column(first, plain, method, error));
    sum->median += first->columns[known].speed.median;
    sum->least += first->columns[known].speed.least;
    sum->most += first->columns[known].speed.most;
    return STATUS_OK;
}

enum status decode_first_nvcomp(struct decode_first *first, const struct plan *plan, struct speed *sum,
                                struct error *error)
{
    for (uint32_t c = 0; c < plan->column_count && !*first->nvcomp_missing; c++)
        RETURN_IF_ERROR(add_column(first, &plan->columns[c], NULL, sum, error));
    return STATUS_OK;
}

/* Finds the method of the codec that the plan's column of the same name has. */
static enum status find_method(const struct plan *plan, const struct column *column,
                               const struct published_method **method, struct error *error)
{
    for (uint32_t c = 0; c < plan->column_count; c++)
        for (size_t m = 0; m < PUBLISHED_METHODS; m++)
            if (plan->columns[c].column == column &&
                strcmp(plan->columns[c].data->codec->name, published_methods[m].codec) == 0) {
                *method = &published_methods[m];
                return STATUS_OK;
            }
    return error_set(error, STATUS_BAD_INPUT, "no published method decodes the codec of column %s",
                     column->schema.name);
}

enum status decode_first_published(struct decode_first *first, const struct plan *plain,
                                   const struct plan *plan, struct speed *sum, struct error *error)
{
    for (uint32_t c = 0; c < plain->column_count && !*first->published_missing; c++) {
        const struct published_method *method = NULL;
        RETURN_IF_ERROR(find_method(plan, plain->columns[c].column, &method, error));
        if (published_is_here(method, first->published_missing, sizeof first->published_missing))
            RETURN_IF_ERROR(add_column(first, &plain->columns[c], method, sum, error));
    }
    return STATUS_OK;
}
