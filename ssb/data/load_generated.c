/*
 * load_generated.c: see load_generated.h. Dimensions are made row by row. lineorder, which is nearly all the
 * data, is made directly in the arrays that are encoded; its words are codes of dictionaries that are known
 * in advance.
 */
#include "ssb/data/load_generated.h"

#include "storage/column/dictionary/dictionary_builder.h"
#include "ssb/data/schema.h"

#include <stdlib.h>
#include <string.h>

struct generated {
    struct ssb_generator *generator;
    struct ssb_row *rows; /* one a thread, for the dimension that is being loaded */
    int64_t *orderkeys;   /* MADE_ROWS a thread; NULL: the column is int64, like the generator's keys */
    struct dictionary_builder *words[LO_COLUMNS];
    struct dictionary dictionaries[LO_COLUMNS];
    struct generated_table {
        const struct generated *generated;
        enum ssb_table table;
        uint64_t first; /* row of the benchmark's table */
        struct row_maker maker;
    } tables[SSB_TABLES];
};

/* ---- Rows ---- */

static void make_row(void *context, uint64_t row, unsigned thread, struct made_value *values)
{
    const struct generated_table *const made = context;
    const struct ssb_table_info *const info = ssb_table_info(made->table);
    struct ssb_row *const fields = &made->generated->rows[thread];
    ssb_generate_row(made->generated->generator, made->table, row, fields);
    for (uint32_t c = 0; c < info->column_count; c++)
        if (info->columns[c].number)
            values[c].number = fields->numbers[c];
        else
            values[c] = (struct made_value){.text = fields->strings[c],
                                            .length = (uint32_t)strlen(fields->strings[c])};
}

static void make_columns(void *context, uint64_t first, uint32_t rows, unsigned thread, void *const *columns)
{
    const struct generated_table *const made = context;
    const struct generated *const generated = made->generated;
    int64_t *const wide = generated->orderkeys ? generated->orderkeys + (size_t)thread * MADE_ROWS : NULL;
    int32_t *const narrow = columns[LO_ORDERKEY];
    void *wanted[SSB_COLUMNS_MAX];
    memcpy(wanted, columns, sizeof wanted);
    if (wide && narrow)
        wanted[LO_ORDERKEY] = wide;
    ssb_generate_lineorder(generated->generator, made->first + first, rows, wanted);
    for (uint32_t r = 0; wide && narrow && r < rows; r++)
        narrow[r] = (int32_t)wide[r];
}

/* ---- The load ---- */

/* Makes a dictionary of the generator's words. They are sorted, so the generator's codes are the
 * dictionary's. */
static enum status take_words(struct generated *generated, uint32_t column, struct error *error)
{
    const char *const *words;
    const int32_t *sorted;
    const uint32_t count = ssb_lineorder_words(generated->generator, column, &words);
    struct dictionary_builder **const builder = &generated->words[column];
    RETURN_IF_ERROR(dictionary_builder_create(builder, error));
    for (uint32_t w = 0; w < count; w++) {
        int32_t code;
        RETURN_IF_ERROR(dictionary_builder_add(*builder, words[w], (uint32_t)strlen(words[w]), &code, error));
    }
    return dictionary_builder_sort(*builder, &generated->dictionaries[column], &sorted, error);
}

/* The most lines of an order. */
#define ORDER_LINES 7u

/* The first row from `row` on that begins an order. */
static uint64_t order_begin(const struct generated *generated, uint64_t row)
{
    const uint64_t all = ssb_rows(generated->generator, SSB_LINEORDER), left = all - row;
    int32_t lines[ORDER_LINES];
    void *columns[SSB_COLUMNS_MAX] = {[LO_LINENUMBER] = lines};
    const uint64_t count = left < ORDER_LINES ? left : ORDER_LINES;
    ssb_generate_lineorder(generated->generator, row, count, columns);
    for (uint64_t line = 0; line < count; line++)
        if (lines[line] == 1)
            return row + line;
    return all;
}

/* Makes lineorder's rows those of whole orders: part 1 .. of. The parts have nearly the same number of rows. */
static void take_part(struct generated *generated, struct table_part *part)
{
    struct generated_table *const lineorder = &generated->tables[SSB_LINEORDER];
    const uint64_t all = ssb_rows(generated->generator, SSB_LINEORDER), share = all / part->of,
                   more = all % part->of, before = part->number - 1;
    const uint64_t first = before * share + (before < more ? before : more),
                   end = first + share + (before < more);
    part->first = lineorder->first = first ? order_begin(generated, first) : 0;
    part->whole_rows = all;
    lineorder->maker.rows = (end < all ? order_begin(generated, end) : all) - lineorder->first;
}

static enum status prepare(struct generated *generated, const struct ssb_options *data, unsigned threads,
                           bool *wide_orderkeys, struct error *error)
{
    const struct ssb_table_info *const lineorder = ssb_table_info(SSB_LINEORDER);
    int64_t last;
    void *columns[SSB_COLUMNS_MAX] = {[LO_ORDERKEY] = &last};
    RETURN_IF_ERROR(ssb_generator_create(data, threads, &generated->generator, error));
    ssb_generate_lineorder(generated->generator, ssb_rows(generated->generator, SSB_LINEORDER) - 1, 1,
                           columns);
    *wide_orderkeys = last > INT32_MAX;
    generated->rows = malloc(threads * sizeof *generated->rows);
    generated->orderkeys =
        *wide_orderkeys ? NULL : malloc((size_t)threads * MADE_ROWS * sizeof *generated->orderkeys);
    if (!generated->rows || (!*wide_orderkeys && !generated->orderkeys))
        return error_out_of_memory(error, (uint64_t)threads * MADE_ROWS * 8, "generating rows");
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        if (!lineorder->columns[c].number)
            RETURN_IF_ERROR(take_words(generated, c, error));
    for (enum ssb_table table = 0; table < SSB_TABLES; table++) {
        struct generated_table *const made = &generated->tables[table];
        *made = (struct generated_table){.generated = generated, .table = table};
        made->maker = (struct row_maker){.rows = ssb_rows(generated->generator, table), .context = made};
        if (table == SSB_LINEORDER) {
            made->maker.columns = make_columns;
            made->maker.dictionaries = generated->dictionaries;
        } else {
            made->maker.row = make_row;
        }
    }
    return STATUS_OK;
}

static void generated_free(struct generated *generated)
{
    for (uint32_t c = 0; c < LO_COLUMNS; c++)
        dictionary_builder_destroy(generated->words[c]);
    ssb_generator_destroy(generated->generator);
    free(generated->rows);
    free(generated->orderkeys);
}

enum status ssb_load_generated(const struct ssb_options *data, const struct table_part *part,
                               const struct load_options *asked, struct progress *progress,
                               struct error *error)
{
    struct generated generated = {0};
    struct load_input inputs[SSB_TABLES];
    struct load_options load = *asked;
    struct load_report report;
    struct table_part taken = *part;
    struct schema_script schema = {0};
    bool wide_orderkeys = false;
    load.threads = load.threads ? load.threads : parallel_threads_available();
    load.inputs = inputs;
    load.input_count = SSB_TABLES;
    enum status status = prepare(&generated, data, load.threads, &wide_orderkeys, error);
    for (enum ssb_table table = 0; table < SSB_TABLES; table++)
        inputs[table] = (struct load_input){.table = ssb_table_info(table)->name,
                                            .maker = &generated.tables[table].maker};
    if (status == STATUS_OK && part->of) {
        take_part(&generated, &taken);
        load.part = &taken;
        load.part_table = ssb_table_info(SSB_LINEORDER)->name;
    }
    status = AND_THEN(status, ssb_schema_make(wide_orderkeys, load.dangling_null, &schema, error));
    status = AND_THEN(status, tables_load(&schema, &load, &report, progress, error));
    schema_script_free(&schema);
    generated_free(&generated);
    return status;
}
