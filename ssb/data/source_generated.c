/* source_generated.c: the generator as a source of rows (source.h). */
#include "ssb/data/source.h"

#include "loader/table/dictionary_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct generated {
    struct ssb_source base;
    struct ssb_generator *generator;
};

struct ssb_cursor {
    const struct ssb_generator *generator;
    enum ssb_table table;
    struct ssb_row row;
};

static enum status cursor_open(const struct ssb_source *source, enum ssb_table table, struct ssb_cursor **out,
                               struct error *error)
{
    struct ssb_cursor *cursor = calloc(1, sizeof *cursor);
    *out = cursor;
    if (!cursor)
        return error_out_of_memory(error, sizeof *cursor, "generating rows");
    cursor->generator = ((const struct generated *)source)->generator;
    cursor->table = table;
    return STATUS_OK;
}

static void cursor_close(struct ssb_cursor *cursor)
{
    free(cursor);
}

static enum status generate_row(struct ssb_cursor *cursor, uint64_t row, struct ssb_values *values,
                                struct error *error)
{
    (void)error;
    const struct ssb_table_info *info = ssb_table_info(cursor->table);
    ssb_generate_row(cursor->generator, cursor->table, row, &cursor->row);
    for (uint32_t c = 0; c < info->column_count; c++)
        if (info->columns[c].number) {
            values->numbers[c] = cursor->row.numbers[c];
        } else {
            values->strings[c] = cursor->row.strings[c];
            values->lengths[c] = (uint32_t)strlen(cursor->row.strings[c]);
        }
    return STATUS_OK;
}

static enum status generate_lineorder(struct ssb_cursor *cursor, uint64_t first_row, uint64_t rows,
                                      void *const columns[SSB_COLUMNS_MAX], struct error *error)
{
    (void)error;
    ssb_generate_lineorder(cursor->generator, first_row, rows, columns);
    return STATUS_OK;
}

static void place(const struct ssb_source *source, enum ssb_table table, uint64_t row,
                  char text[SSB_PLACE_BYTES])
{
    (void)source;
    snprintf(text, SSB_PLACE_BYTES, "row %" PRIu64 " of %s", row + 1, ssb_table_info(table)->name);
}

static const char *no_path(const struct ssb_source *source, enum ssb_table table)
{
    (void)source;
    (void)table;
    return NULL;
}

static void close_generated(struct ssb_source *source)
{
    ssb_generator_destroy(((struct generated *)source)->generator);
    free(source);
}

static const struct ssb_source_methods methods = {
    .cursor_open = cursor_open,
    .cursor_close = cursor_close,
    .row = generate_row,
    .lineorder = generate_lineorder,
    .place = place,
    .path = no_path,
    .close = close_generated,
};

/* The generator's words are sorted, so that its codes are those of the dictionary. */
static enum status take_words(struct generated *generated, uint32_t column, struct error *error)
{
    const char *const *words;
    uint32_t count = ssb_lineorder_words(generated->generator, column, &words);
    RETURN_IF_ERROR(ssb_source_words_create(&generated->base, column, error));
    for (uint32_t w = 0; w < count; w++) {
        int32_t code;
        RETURN_IF_ERROR(dictionary_builder_add(generated->base.words[column], words[w],
                                               (uint32_t)strlen(words[w]), &code, error));
    }
    return ssb_source_words_sort(&generated->base, column, error);
}

enum status ssb_source_generate(const struct ssb_options *options, unsigned threads, struct ssb_source **out,
                                struct error *error)
{
    *out = NULL;
    struct generated *generated = calloc(1, sizeof *generated);
    if (!generated)
        return error_out_of_memory(error, sizeof *generated, "generating rows");
    generated->base.methods = &methods;
    enum status status = ssb_generator_create(options, threads, &generated->generator, error);
    if (status == STATUS_OK) {
        for (enum ssb_table table = 0; table < SSB_TABLES; table++)
            generated->base.rows[table] = ssb_rows(generated->generator, table);
        void *columns[SSB_COLUMNS_MAX] = {[LO_ORDERKEY] = &generated->base.largest_orderkey};
        ssb_generate_lineorder(generated->generator, generated->base.rows[SSB_LINEORDER] - 1, 1, columns);
        const struct ssb_table_info *info = ssb_table_info(SSB_LINEORDER);
        for (uint32_t c = 0; c < info->column_count && status == STATUS_OK; c++)
            if (!info->columns[c].number)
                status = take_words(generated, c, error);
    }
    if (status != STATUS_OK) {
        ssb_source_close(&generated->base);
        return status;
    }
    *out = &generated->base;
    return STATUS_OK;
}
