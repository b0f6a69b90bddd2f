/*
 * rowset_print.c: prints answers as tables, CSV, JSON and Markdown (rowset.h).
 *
 * Threads take parts of some ten thousand rows. A thread makes the text of its part in memory, some hundred
 * rows at a time: first the cells, column by column, then the rows. Parts are written in their order, so a
 * thread waits for its turn. Memory is bounded, because the text of a large part is written piece by piece
 * once it is its turn.
 */
#include "engine/answer/print/printing.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* The values of a part, about a megabyte of text; and the values and rows of a block, which fit the first and
 * second level caches together with their text. */
#define PART_VALUES  131072u
#define BLOCK_VALUES 4096u
#define BLOCK_ROWS   256u

/* If the text of a part has this size, it is written before the rest of the part is made. */
#define TEXT_BYTES (4u << 20)

bool rowset_format_by_name(const char *name, enum rowset_format *format)
{
    static const char *const names[] = {"table", "csv", "json", "markdown"};
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0) {
            *format = (enum rowset_format)i;
            return true;
        }
    return false;
}

/* ---- Parts ---- */

static enum status write_out(struct printing *printing, struct text_space *text, struct error *error)
{
    RETURN_IF_ERROR(ordered_output_write(&printing->out, text->bytes, text->used, error));
    text->used = 0;
    return STATUS_OK;
}

static uint64_t part_end(const struct printing *printing, uint64_t part)
{
    const uint64_t end = (part + 1) * printing->part_rows;
    return end < printing->rows->rows ? end : printing->rows->rows;
}

static enum status write_part(struct printing *printing, uint64_t part, struct printing_thread *own,
                              struct error *error)
{
    const uint64_t end = part_end(printing, part);
    own->text.used = 0;
    for (uint64_t first = part * printing->part_rows; first < end; first += printing->block_rows) {
        const uint32_t count =
            end - first < printing->block_rows ? (uint32_t)(end - first) : printing->block_rows;
        RETURN_IF_ERROR(printing_cells_make(printing, own, first, count, error));
        RETURN_IF_ERROR(printing_rows_put(printing, own, count, error));
        if (own->text.used < TEXT_BYTES || first + count == end)
            continue;
        if (!ordered_output_wait(&printing->out, part))
            return STATUS_OK;
        RETURN_IF_ERROR(write_out(printing, &own->text, error));
    }
    own->text.used -= printing->format == ROWSET_JSON && !printing->style->lines &&
                      end == printing->rows->rows; /* the last comma */
    if (!ordered_output_wait(&printing->out, part))
        return STATUS_OK;
    return write_out(printing, &own->text, error);
}

static enum status print_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    struct printing *const printing = context;
    const enum status status = write_part(printing, part, &printing->threads[thread], error);
    ordered_output_end(&printing->out, status != STATUS_OK);
    return status;
}

static enum status measure_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    const struct printing *const printing = context;
    struct printing_thread *const own = &printing->threads[thread];
    const uint64_t end = part_end(printing, part);
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t first = part * printing->part_rows; first < end; first += printing->block_rows) {
        const uint32_t count =
            end - first < printing->block_rows ? (uint32_t)(end - first) : printing->block_rows;
        RETURN_IF_ERROR(printing_cells_make(printing, own, first, count, error));
        printing_rows_measure(printing, own, count);
    }
    return STATUS_OK;
}

/* ---- The whole answer ---- */

static enum status measure(struct printing *printing, struct error *error)
{
    struct printing_thread *const first = &printing->threads[0];
    RETURN_IF_ERROR(printing_names_make(printing, first, error));
    printing_rows_measure(printing, first, 1);
    RETURN_IF_ERROR(parallel_for(printing->thread_count, printing->parts, measure_part, printing, error));
    for (uint32_t c = 0; c < printing->rows->column_count; c++) {
        printing->widths[c] = 0;
        for (unsigned t = 0; t < printing->thread_count; t++)
            if (printing->threads[t].widths[c] > printing->widths[c])
                printing->widths[c] = printing->threads[t].widths[c];
    }
    return STATUS_OK;
}

static void printing_close(struct printing *printing)
{
    const uint32_t columns = printing->rows->column_count;
    for (unsigned t = 0; printing->threads && t < printing->thread_count; t++) {
        struct printing_thread *const own = &printing->threads[t];
        for (uint32_t c = 0; own->spaces && c < columns; c++)
            free(own->spaces[c].bytes);
        free(own->text.bytes);
        free(own->spaces);
        free(own->cells);
        free(own->widths);
    }
    for (uint32_t c = 0; printing->columns && c < columns; c++)
        cell_column_close(&printing->columns[c]);
    free(printing->threads);
    free(printing->columns);
    free(printing->before);
    free(printing->heads.bytes);
    free(printing->widths);
    ordered_output_close(&printing->out);
}

static enum status printing_open(struct printing *printing, struct error *error)
{
    const struct rowset *rows = printing->rows;
    const size_t columns = rows->column_count + 1u; /* never 0 */
    printing->columns = calloc(columns, sizeof *printing->columns);
    printing->before = calloc(columns, sizeof *printing->before);
    printing->widths = calloc(columns, sizeof *printing->widths);
    printing->threads = calloc(printing->thread_count, sizeof *printing->threads);
    bool fits = printing->columns && printing->before && printing->widths && printing->threads;
    for (unsigned t = 0; fits && t < printing->thread_count; t++) {
        struct printing_thread *const own = &printing->threads[t];
        own->spaces = calloc(columns, sizeof *own->spaces);
        own->widths = calloc(columns, sizeof *own->widths);
        own->cells = malloc(columns * printing->block_rows * sizeof *own->cells);
        fits = own->spaces && own->widths && own->cells;
    }
    if (!fits)
        return error_out_of_memory(error, columns * printing->block_rows * sizeof(struct piece),
                                   "an answer's text");
    for (uint32_t c = 0; c < rows->column_count; c++)
        RETURN_IF_ERROR(
            cell_column_open(&rows->columns[c], rows->rows, printing->style, &printing->columns[c], error));
    return printing_heads_make(printing, error);
}

static enum status print(struct printing *printing, struct error *error)
{
    struct printing_thread *const first = &printing->threads[0];
    if (printing_is_table(printing))
        RETURN_IF_ERROR(measure(printing, error));
    RETURN_IF_ERROR(printing_begin_put(printing, first, error));
    RETURN_IF_ERROR(write_out(printing, &first->text, error));
    RETURN_IF_ERROR(parallel_for(printing->thread_count, printing->parts, print_part, printing, error));
    RETURN_IF_ERROR(printing_end_put(printing, first, error));
    return write_out(printing, &first->text, error);
}

enum status rowset_print(const struct rowset *rows, enum rowset_format format, unsigned threads, FILE *out,
                         struct error *error)
{
    return rowset_write(rows, &(struct rowset_style){.format = format}, threads, out, error);
}

enum status rowset_write(const struct rowset *rows, const struct rowset_style *style, unsigned threads,
                         FILE *out, struct error *error)
{
    const uint32_t columns = rows->column_count ? rows->column_count : 1;
    const uint32_t block_rows = BLOCK_VALUES / columns;
    struct printing printing = {.rows = rows,
                                .style = style,
                                .format = style->format,
                                .out = ordered_output_to(out),
                                .part_rows = PART_VALUES / columns,
                                .block_rows = block_rows < BLOCK_ROWS ? block_rows : BLOCK_ROWS};
    printing.parts = (rows->rows + printing.part_rows - 1) / printing.part_rows;
    printing.thread_count = threads ? threads : parallel_threads_available();
    if (printing.thread_count > printing.parts)
        printing.thread_count = printing.parts ? (unsigned)printing.parts : 1;
    enum status status = printing_open(&printing, error);
    if (status == STATUS_OK)
        status = print(&printing, error);
    printing_close(&printing);
    return status;
}
