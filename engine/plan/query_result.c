/* engine/plan/query_result.c: from sums by slot to the rows of the answer (engine/plan/query_bind.h). Some thousand slots, once a query. */
#include "engine/plan/query_bind.h"

#include <string.h>

struct output_column {
    int32_t group; /* -1: the sum */
    const struct attribute *attribute;
};

static enum status output_columns(const struct bound_query *bound, struct output_column *columns,
                                  uint32_t *count, struct result *result, struct error *error)
{
    const struct star_query *query = bound->query;
    const char *names[STAR_OUTPUTS_MAX];
    uint8_t is_string[STAR_OUTPUTS_MAX];
    for (*count = 0; *count < STAR_OUTPUTS_MAX && query->output[*count].label; ++*count) {
        const struct star_output *output = &query->output[*count];
        struct output_column *column = &columns[*count];
        *column = (struct output_column){.group = -1};
        for (uint32_t g = 0; output->attribute && g < bound->group_count; g++)
            if (strcmp(output->attribute, query->group[g]) == 0) {
                column->group = (int32_t)g;
                column->attribute = &bound->attributes[bound->joins[bound->group_join[g]].code];
            }
        if (output->attribute && column->group < 0)
            return error_set(error, STATUS_BAD_INPUT, "query %s puts out %s, by which it does not group",
                             query->name, output->attribute);
        names[*count] = output->label;
        is_string[*count] = column->attribute && column->attribute->column->dictionary != NULL;
    }
    return result_create(result, *count, names, is_string, error);
}

static enum status add_slot(const struct bound_query *bound, const struct output_column *columns,
                            uint32_t count, uint32_t slot, int64_t sum, bool present, struct result *result,
                            struct error *error)
{
    struct result_cell cells[STAR_OUTPUTS_MAX];
    char strings[STAR_OUTPUTS_MAX][256];
    uint32_t codes[TILE_GROUPS_MAX];
    for (uint32_t g = bound->group_count; g-- > 0; slot /= bound->domain[g])
        codes[g] = slot % bound->domain[g];
    for (uint32_t c = 0; c < count; c++) {
        cells[c] = (struct result_cell){.number = sum, .null = !present};
        if (columns[c].group < 0)
            continue;
        uint32_t group = (uint32_t)columns[c].group;
        const struct dictionary *dictionary = columns[c].attribute->column->dictionary;
        int64_t value = (int64_t)bound->joins[bound->group_join[group]].code_base + codes[group];
        cells[c].number = value;
        if (!dictionary)
            continue;
        if (value < 0 || value >= dictionary->count)
            return error_set(error, STATUS_BAD_INPUT,
                             "column %s.%s holds code %lld, but its dictionary ends at %u; the file is "
                             "damaged: load the table again",
                             columns[c].attribute->column->table->name,
                             columns[c].attribute->column->schema.name, (long long)value, dictionary->count);
        uint32_t length;
        const char *string = dictionary_string(dictionary, (uint32_t)value, &length);
        if (length >= sizeof strings[c])
            return error_set(error, STATUS_BAD_INPUT, "a group's name in %s is longer than %zu bytes",
                             columns[c].attribute->column->schema.name, sizeof strings[c] - 1);
        memcpy(strings[c], string, length);
        strings[c][length] = '\0';
        cells[c].string = strings[c];
    }
    return result_add_row(result, cells, error);
}

static enum status fill(const struct bound_query *bound, const int64_t *sums, const uint32_t *present,
                        struct result *result, struct error *error)
{
    struct output_column columns[STAR_OUTPUTS_MAX];
    struct result_order orders[STAR_OUTPUTS_MAX];
    uint32_t count, order_count = 0;
    RETURN_IF_ERROR(output_columns(bound, columns, &count, result, error));
    for (uint32_t slot = 0; slot < bound->slots; slot++)
        if (present[slot] ||
            bound->group_count == 0) /* without groups there is one row, a NULL sum if nothing was added */
            RETURN_IF_ERROR(
                add_slot(bound, columns, count, slot, sums[slot], present[slot] != 0, result, error));
    for (uint32_t o = 0; o < STAR_OUTPUTS_MAX && bound->query->order[o].label; o++)
        for (uint32_t c = 0; c < count; c++)
            if (strcmp(bound->query->order[o].label, bound->query->output[c].label) == 0)
                orders[order_count++] = (struct result_order){c, bound->query->order[o].descending != 0};
    return result_sort(result, orders, order_count, error);
}

enum status bound_query_result(const struct bound_query *bound, const int64_t *sums, const uint32_t *present,
                               struct result *result, struct error *error)
{
    enum status status = fill(bound, sums, present, result, error);
    if (status != STATUS_OK)
        result_destroy(result);
    return status;
}
