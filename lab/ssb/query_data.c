/* query_data.c: see query_data.h. */
#include "lab/ssb/query_data.h"

#include "lab/ssb/lineorder.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_ROWS   (1u << 20)
#define BRANDS       40u /* of a category */
#define FIRST_YEAR   1992
#define FIRST_DATE   (FIRST_YEAR * 10000 + 101)
#define LAST_DATE    19981231
#define CATEGORY     "MFGR#12" /* a brand is it and a number, 1 .. BRANDS */
#define KEYS_A_PIECE 16384u

/* ---- Queries ---- */

static int32_t q11_row(const struct query_data *data, const int32_t values[QUERY_COLUMNS], int64_t *number)
{
    const int32_t date = values[0], discount = values[1], quantity = values[2];
    (void)data;
    *number = (int64_t)discount * values[3];
    return date >= 19930101 && date <= 19931231 && discount >= 1 && discount <= 3 && quantity < 25 ? 0 : -1;
}

static uint32_t byte_of(const struct query_data *data, uint32_t column, int32_t key)
{
    const struct query_dimension *const dimension = &data->dimensions[column];
    return dimension->bytes[key - dimension->first];
}

static int32_t q21_row(const struct query_data *data, const int32_t values[QUERY_COLUMNS], int64_t *number)
{
    const uint32_t brand = byte_of(data, 1, values[1]);
    *number = values[3];
    if (!byte_of(data, 0, values[0]) || brand == 0)
        return -1;
    return (int32_t)(byte_of(data, 2, values[2]) * BRANDS + brand - 1);
}

const struct query_kind query_kinds[QUERIES] = {
    {"Q1.1", "q11", {LO_ORDERDATE, LO_DISCOUNT, LO_QUANTITY, LO_EXTENDEDPRICE}, false, 1, q11_row},
    {"Q2.1", "q21", {LO_SUPPKEY, LO_PARTKEY, LO_ORDERDATE, LO_REVENUE}, true, QUERY_GROUPS_MAX, q21_row},
};

/* ---- Dimensions ---- */

/* Fills the bytes of a dimension whose keys are 1 .. rows. */
struct filling {
    const struct ssb_generator *generator;
    enum ssb_table table;
    uint32_t column; /* of the table: the words that decide */
    uint64_t rows;
    uint8_t *bytes;
};

static uint32_t column_named(enum ssb_table table, const char *name)
{
    uint32_t column = 0;
    while (strcmp(ssb_table_info(table)->columns[column].name, name) != 0)
        column++;
    return column;
}

static uint8_t byte_for(enum ssb_table table, const char *word)
{
    if (table == SSB_SUPPLIER)
        return strcmp(word, "AMERICA") == 0;
    return strncmp(word, CATEGORY, strlen(CATEGORY)) == 0 ? (uint8_t)atoi(word + strlen(CATEGORY)) : 0;
}

static enum status fill_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct filling *const filling = context;
    const uint64_t first = item * KEYS_A_PIECE;
    const uint64_t last = first + KEYS_A_PIECE < filling->rows ? first + KEYS_A_PIECE : filling->rows;
    struct ssb_row row;
    (void)thread;
    (void)error;
    for (uint64_t r = first; r < last; r++) {
        ssb_generate_row(filling->generator, filling->table, r, &row);
        filling->bytes[row.numbers[0]] = byte_for(filling->table, row.strings[filling->column]);
    }
    return STATUS_OK;
}

static enum status fill_keys(struct lab *lab, const struct ssb_generator *generator, enum ssb_table table,
                             const char *column, struct query_dimension *dimension, struct error *error)
{
    const uint64_t rows = ssb_rows(generator, table);
    struct filling filling = {generator, table, column_named(table, column), rows, NULL};
    *dimension = (struct query_dimension){.count = (uint32_t)rows + 1};
    RETURN_IF_ERROR(memory_zeros(&dimension->bytes, dimension->count, "a dimension's keys", error));
    filling.bytes = dimension->bytes;
    return parallel_for(lab->threads, (rows + KEYS_A_PIECE - 1) / KEYS_A_PIECE, fill_piece, &filling, error);
}

static enum status fill_years(struct query_dimension *dimension, struct error *error)
{
    *dimension = (struct query_dimension){.first = FIRST_DATE, .count = LAST_DATE - FIRST_DATE + 1};
    RETURN_IF_ERROR(memory_zeros(&dimension->bytes, dimension->count, "the dates", error));
    for (uint32_t d = 0; d < dimension->count; d++)
        dimension->bytes[d] = (uint8_t)((FIRST_DATE + d) / 10000 - FIRST_YEAR);
    return STATUS_OK;
}

static enum status make_dimension(struct lab *lab, const struct ssb_generator *generator,
                                  const struct query_kind *kind, uint32_t column,
                                  struct query_dimension *dimension, struct error *error)
{
    if (!kind->joins)
        return STATUS_OK;
    switch (kind->columns[column]) {
    case LO_SUPPKEY:
        return fill_keys(lab, generator, SSB_SUPPLIER, "s_region", dimension, error);
    case LO_PARTKEY:
        return fill_keys(lab, generator, SSB_PART, "p_brand1", dimension, error);
    case LO_ORDERDATE:
        return fill_years(dimension, error);
    default:
        return STATUS_OK;
    }
}

/* ---- The answer ---- */

struct adding {
    const struct query_kind *kind;
    struct query_data *data;
    int64_t (*sums)[QUERY_GROUPS_MAX]; /* of each thread */
};

static enum status add_piece(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct adding *const adding = context;
    const struct query_data *const data = adding->data;
    const uint64_t first = item * PIECE_ROWS;
    const uint64_t last = first + PIECE_ROWS < data->rows ? first + PIECE_ROWS : data->rows;
    (void)error;
    for (uint64_t row = first; row < last; row++) {
        int32_t values[QUERY_COLUMNS];
        int64_t number;
        for (uint32_t c = 0; c < QUERY_COLUMNS; c++)
            values[c] = data->columns[c].values[row];
        const int32_t group = adding->kind->row(data, values, &number);
        if (group >= 0)
            adding->sums[thread][group] += number;
    }
    return STATUS_OK;
}

static enum status answer(struct lab *lab, const struct query_kind *kind, struct query_data *data,
                          struct error *error)
{
    struct adding adding = {.kind = kind, .data = data};
    RETURN_IF_ERROR(memory_zeros(&adding.sums, PARALLEL_THREADS_MAX * sizeof *adding.sums, "sums", error));
    const enum status status =
        parallel_for(lab->threads, (data->rows + PIECE_ROWS - 1) / PIECE_ROWS, add_piece, &adding, error);
    for (unsigned thread = 0; thread < PARALLEL_THREADS_MAX; thread++)
        for (uint32_t g = 0; g < kind->groups; g++)
            data->sums[g] += adding.sums[thread][g];
    free(adding.sums);
    return status;
}

/* ---- All ---- */

static enum status make_columns(struct lab *lab, const struct ssb_generator *generator,
                                const struct query_kind *kind, struct query_data *data, struct error *error)
{
    data->rows = lineorder_rows(lab, generator);
    for (uint32_t c = 0; c < QUERY_COLUMNS; c++) {
        const struct lineorder_column source = {.generator = generator, .column = kind->columns[c]};
        RETURN_IF_ERROR(dataset_make(lab, "making lineorder", data->rows, fill_lineorder, &source,
                                     &data->columns[c], error));
        RETURN_IF_ERROR(make_dimension(lab, generator, kind, c, &data->dimensions[c], error));
    }
    return STATUS_OK;
}

enum status query_data_make(struct lab *lab, const struct query_kind *kind, struct query_data *data,
                            struct error *error)
{
    struct ssb_generator *generator;
    *data = (struct query_data){0};
    RETURN_IF_ERROR(lineorder_generator(lab, &generator, error));
    const enum status status = make_columns(lab, generator, kind, data, error);
    ssb_generator_destroy(generator);
    return status == STATUS_OK ? answer(lab, kind, data, error) : status;
}

void query_data_free(struct lab *lab, struct query_data *data)
{
    for (uint32_t c = 0; c < QUERY_COLUMNS; c++) {
        dataset_free(lab, &data->columns[c]);
        free(data->dimensions[c].bytes);
    }
    *data = (struct query_data){0};
}
