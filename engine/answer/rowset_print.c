/*
 * rowset_print.c: answers as tables, CSV, JSON and Markdown (rowset.h).
 *
 * Threads take parts of some ten thousand rows. Each writes its part's text into memory, some hundred rows at a time:
 * first the cells, a column after the other, then the rows that they make. Parts go out in their order: who has one ready
 * waits for its turn. Memory is bounded, for a part that grows large goes out piece by piece once it is its turn.
 */
#include "engine/answer/cells.h"
#include "storage/base/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A part has so many values, about a megabyte of text; a block of rows within it so many, which the first and second
 * level caches hold with their texts. */
#define PART_VALUES  131072u
#define BLOCK_VALUES 4096u
#define BLOCK_ROWS   256u

/* A part's text waits for its turn at this size, and goes out without the rest. */
#define TEXT_BYTES (4u << 20)

/* What goes out at once. */
#define WRITE_BYTES (128u << 10)

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

/* What one thread works with. */
struct printing_thread {
    struct text_space text;    /* rows, ready to go out */
    struct text_space *spaces; /* of each column's cells */
    struct piece *cells;       /* of a block, column by column */
    size_t *widths;            /* of the columns' cells so far, in characters */
};

struct printing {
    const struct rowset *rows;
    enum rowset_format format;
    FILE *out;
    struct cell_column *columns;
    struct piece *before;    /* a cell: a separator, a key; with PIECE_PADDING */
    struct text_space heads; /* their bytes */
    size_t *widths;          /* of tables */
    uint32_t block_rows;
    uint64_t part_rows, parts;
    struct printing_thread *threads;
    unsigned thread_count;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t turn; /* the part whose text goes out, under lock; */
    bool stopped;  /* none does any more */
};

static bool is_number(const struct rowset_column *column)
{
    return column->type.kind == VALUE_INTEGER || column->type.kind == VALUE_DOUBLE;
}

static bool is_table(const struct printing *printing)
{
    return printing->format == ROWSET_TABLE || printing->format == ROWSET_MARKDOWN;
}

/* ---- Text ---- */

static enum status put(struct text_space *text, const char *bytes, size_t count, struct error *error)
{
    RETURN_IF_ERROR(text_space_reserve(text, count, error));
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
    return STATUS_OK;
}

static enum status put_string(struct text_space *text, enum rowset_format format, const char *string,
                              struct error *error)
{
    const size_t length = strlen(string);
    RETURN_IF_ERROR(text_space_reserve(text, cell_string_bound(format, length), error));
    char *const at = text->bytes + text->used;
    text->used += (size_t)(cell_string(format, string, length, at) - at);
    return STATUS_OK;
}

/* Most pieces are shorter than the padding: one copy of a size that the compiler knows. */
static char *put_piece(char *at, struct piece piece)
{
    memcpy(at, piece.text, PIECE_PADDING);
    if (piece.bytes > PIECE_PADDING)
        memcpy(at + PIECE_PADDING, piece.text + PIECE_PADDING, piece.bytes - PIECE_PADDING);
    return at + piece.bytes;
}

/* Piece by piece: a reader may be slow, and Ctrl-C does not wait for it. */
static enum status write_out(struct printing *printing, struct text_space *text, struct error *error)
{
    for (size_t done = 0, bytes; done < text->used; done += bytes) {
        bytes = text->used - done < WRITE_BYTES ? text->used - done : WRITE_BYTES;
        RETURN_IF_ERROR(cancel_check(error));
        errno = 0;
        if (fwrite(text->bytes + done, 1, bytes, printing->out) != bytes)
            return error_set(error, STATUS_MACHINE,
                             "the answer could not be written: %s; what was printed is not complete",
                             strerror(errno));
    }
    text->used = 0;
    return STATUS_OK;
}

/* ---- Rows ---- */

static enum status make_cells(const struct printing *printing, struct printing_thread *own, uint64_t first,
                              uint32_t count, struct error *error)
{
    for (uint32_t c = 0; c < printing->rows->column_count; c++)
        RETURN_IF_ERROR(cells_make(&printing->columns[c], first, count, &own->spaces[c],
                                   own->cells + (size_t)c * printing->block_rows, error));
    return STATUS_OK;
}

static size_t cell_bytes(const struct printing *printing, const struct printing_thread *own, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t c = 0; c < printing->rows->column_count; c++)
        for (uint32_t i = 0; i < count; i++)
            bytes += own->cells[(size_t)c * printing->block_rows + i].bytes;
    return bytes;
}

/* Rows of CSV and JSON: what stands before each cell, the cell, the row's end. */
static enum status put_rows(const struct printing *printing, struct printing_thread *own, uint32_t count,
                            struct error *error)
{
    const uint32_t columns = printing->rows->column_count;
    const char end[PIECE_PADDING] = {[0] = printing->format == ROWSET_CSV ? '\n' : '}', [1] = ','};
    const size_t end_bytes = printing->format == ROWSET_CSV ? 1 : 2;
    RETURN_IF_ERROR(text_space_reserve(
        &own->text, cell_bytes(printing, own, count) + count * (printing->heads.used + end_bytes), error));
    char *at = own->text.bytes + own->text.used;
    for (uint32_t i = 0; i < count; i++) {
        const struct piece *cell = own->cells + i;
        for (uint32_t c = 0; c < columns; c++, cell += printing->block_rows) {
            at = put_piece(at, printing->before[c]);
            at = put_piece(at, *cell);
        }
        at = put_piece(at, (struct piece){end, end_bytes});
    }
    own->text.used = (size_t)(at - own->text.bytes);
    return STATUS_OK;
}

/* Characters, not bytes. */
static size_t text_width(struct piece piece)
{
    size_t width = 0;
    for (size_t i = 0; i < piece.bytes; i++)
        width += ((unsigned char)piece.text[i] & 0xc0) != 0x80;
    return width;
}

static char *put_padded(char *at, struct piece piece, size_t width, bool right)
{
    const size_t own = text_width(piece), blanks = width > own ? width - own : 0;
    if (right) {
        memset(at, ' ', blanks);
        return put_piece(at + blanks, piece);
    }
    at = put_piece(at, piece);
    memset(at, ' ', blanks);
    return at + blanks;
}

/* A line's cells, from one to the next `stride` apart. The last column of a table is not filled up with blanks. */
static char *put_line(const struct printing *printing, const struct piece *cells, size_t stride, char *at)
{
    const uint32_t columns = printing->rows->column_count;
    const bool markdown = printing->format == ROWSET_MARKDOWN;
    for (uint32_t c = 0; c < columns; c++) {
        const bool number = is_number(&printing->rows->columns[c]);
        at = put_piece(at, printing->before[c]);
        at = put_padded(at, cells[c * stride],
                        c + 1 == columns && !markdown && !number ? 0 : printing->widths[c], number);
    }
    if (markdown) {
        memcpy(at, " |", 2);
        at += 2;
    }
    *at = '\n';
    return at + 1;
}

static size_t line_bytes(const struct printing *printing)
{
    size_t bytes = printing->heads.used + 3;
    for (uint32_t c = 0; c < printing->rows->column_count; c++)
        bytes += printing->widths[c];
    return bytes;
}

static enum status put_lines(const struct printing *printing, struct printing_thread *own, uint32_t count,
                             struct error *error)
{
    RETURN_IF_ERROR(text_space_reserve(
        &own->text, cell_bytes(printing, own, count) + count * line_bytes(printing), error));
    char *at = own->text.bytes + own->text.used;
    for (uint32_t i = 0; i < count; i++)
        at = put_line(printing, own->cells + i, printing->block_rows, at);
    own->text.used = (size_t)(at - own->text.bytes);
    return STATUS_OK;
}

/* ---- Parts ---- */

static uint64_t part_end(const struct printing *printing, uint64_t part)
{
    const uint64_t end = (part + 1) * printing->part_rows;
    return end < printing->rows->rows ? end : printing->rows->rows;
}

/* False if nothing is written any more. */
static bool wait_for_turn(struct printing *printing, uint64_t part)
{
    pthread_mutex_lock(&printing->lock);
    while (printing->turn != part && !printing->stopped)
        pthread_cond_wait(&printing->turned, &printing->lock);
    const bool mine = !printing->stopped;
    pthread_mutex_unlock(&printing->lock);
    return mine;
}

static void end_turn(struct printing *printing, bool stop)
{
    pthread_mutex_lock(&printing->lock);
    printing->turn++;
    printing->stopped |= stop;
    pthread_cond_broadcast(&printing->turned);
    pthread_mutex_unlock(&printing->lock);
}

static enum status write_part(struct printing *printing, uint64_t part, struct printing_thread *own,
                              struct error *error)
{
    const uint64_t end = part_end(printing, part);
    own->text.used = 0;
    for (uint64_t first = part * printing->part_rows; first < end; first += printing->block_rows) {
        const uint32_t count =
            end - first < printing->block_rows ? (uint32_t)(end - first) : printing->block_rows;
        RETURN_IF_ERROR(make_cells(printing, own, first, count, error));
        RETURN_IF_ERROR(is_table(printing) ? put_lines(printing, own, count, error)
                                           : put_rows(printing, own, count, error));
        if (own->text.used < TEXT_BYTES || first + count == end)
            continue;
        if (!wait_for_turn(printing, part))
            return STATUS_OK;
        RETURN_IF_ERROR(write_out(printing, &own->text, error));
    }
    own->text.used -= printing->format == ROWSET_JSON && end == printing->rows->rows; /* the last comma */
    if (!wait_for_turn(printing, part))
        return STATUS_OK;
    return write_out(printing, &own->text, error);
}

static enum status print_part(void *context, uint64_t part, unsigned thread, struct error *error)
{
    struct printing *const printing = context;
    const enum status status = write_part(printing, part, &printing->threads[thread], error);
    end_turn(printing, status != STATUS_OK);
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
        RETURN_IF_ERROR(make_cells(printing, own, first, count, error));
        for (uint32_t c = 0; c < printing->rows->column_count; c++)
            for (uint32_t i = 0; i < count; i++) {
                const size_t width = text_width(own->cells[(size_t)c * printing->block_rows + i]);
                own->widths[c] = width > own->widths[c] ? width : own->widths[c];
            }
    }
    return STATUS_OK;
}

/* ---- Heads ---- */

static bool is_one_of(char *const *keys, uint32_t count, const char *key)
{
    for (uint32_t c = 0; c < count; c++)
        if (strcmp(keys[c], key) == 0)
            return true;
    return false;
}

/* "a" and "a" are "a" and "a_1", as DuckDB makes them: an object's keys must differ. To be freed. */
static char *unique_key(char *const *keys, const struct rowset *rows, uint32_t column)
{
    const char *const name = rows->columns[column].name;
    const size_t bytes = strlen(name) + 16;
    char *const key = malloc(bytes);
    uint32_t number = 0; /* columns before that have the name, and then as many more as it takes */
    for (uint32_t c = 0; c < column; c++)
        number += strcmp(rows->columns[c].name, name) == 0;
    if (!key)
        return NULL;
    do
        if (number == 0)
            snprintf(key, bytes, "%s", name);
        else
            snprintf(key, bytes, "%s_%u", name, number);
    while (number++, is_one_of(keys, column, key));
    return key;
}

static enum status put_keys(struct text_space *heads, const struct rowset *rows, size_t *ends,
                            struct error *error)
{
    char **const keys = calloc(rows->column_count + 1, sizeof *keys);
    enum status status = keys ? STATUS_OK : error_out_of_memory(error, sizeof *keys, "an answer's names");
    for (uint32_t c = 0; status == STATUS_OK && c < rows->column_count; c++) {
        keys[c] = unique_key(keys, rows, c);
        status = keys[c] ? put(heads, c ? ", " : "\n {", c ? 2 : 3, error)
                         : error_out_of_memory(error, 1, "an answer's names");
        if (status == STATUS_OK)
            status = put_string(heads, ROWSET_JSON, keys[c], error);
        if (status == STATUS_OK)
            status = put(heads, ": ", 2, error);
        ends[c] = heads->used;
    }
    for (uint32_t c = 0; keys && c < rows->column_count; c++)
        free(keys[c]);
    free(keys);
    return status;
}

/* What stands before the cells of each column. */
static enum status make_heads(struct printing *printing, struct error *error)
{
    static const struct {
        const char *first, *other;
    } separators[] = {[ROWSET_TABLE] = {"", "  "},
                      [ROWSET_CSV] = {"", ","},
                      [ROWSET_JSON] = {"", ""}, /* keys, below */
                      [ROWSET_MARKDOWN] = {"| ", " | "}};
    const uint32_t columns = printing->rows->column_count;
    size_t *const ends = printing->widths; /* free until tables are measured */
    if (printing->format == ROWSET_JSON)
        RETURN_IF_ERROR(put_keys(&printing->heads, printing->rows, ends, error));
    for (uint32_t c = 0; printing->format != ROWSET_JSON && c < columns; c++) {
        const char *const separator =
            c ? separators[printing->format].other : separators[printing->format].first;
        RETURN_IF_ERROR(put(&printing->heads, separator, strlen(separator), error));
        ends[c] = printing->heads.used;
    }
    RETURN_IF_ERROR(text_space_reserve(&printing->heads, 0, error));
    for (uint32_t c = 0; c < columns; c++) {
        const size_t begin = c ? ends[c - 1] : 0;
        printing->before[c] = (struct piece){printing->heads.bytes + begin, ends[c] - begin};
    }
    return STATUS_OK;
}

/* The line below a table's names. */
static char *put_rule(const struct printing *printing, char *at)
{
    const bool markdown = printing->format == ROWSET_MARKDOWN;
    for (uint32_t c = 0; c < printing->rows->column_count; c++) {
        const char *const separator = markdown ? "|" : c ? "  " : "";
        memcpy(at, separator, strlen(separator));
        at += strlen(separator);
        memset(at, '-', printing->widths[c] + 2);
        at += printing->widths[c] + (markdown ? 2 : 0);
        if (markdown && is_number(&printing->rows->columns[c]))
            at[-1] = ':';
    }
    if (markdown)
        *at++ = '|';
    *at = '\n';
    return at + 1;
}

/* Names are strings like others; the pieces are of the first thread's cells. */
static enum status make_names(const struct printing *printing, struct printing_thread *own,
                              struct error *error)
{
    const uint32_t columns = printing->rows->column_count;
    for (uint32_t c = 0; c < columns; c++) {
        struct text_space *const space = &own->spaces[c];
        space->used = 0;
        RETURN_IF_ERROR(put_string(space, printing->format, printing->rows->columns[c].name, error));
        own->cells[c] = (struct piece){space->bytes, space->used};
    }
    return STATUS_OK;
}

static enum status measure(struct printing *printing, struct error *error)
{
    const uint32_t columns = printing->rows->column_count;
    RETURN_IF_ERROR(parallel_for(printing->thread_count, printing->parts, measure_part, printing, error));
    RETURN_IF_ERROR(make_names(printing, &printing->threads[0], error));
    for (uint32_t c = 0; c < columns; c++) {
        printing->widths[c] = text_width(printing->threads[0].cells[c]);
        for (unsigned t = 0; t < printing->thread_count; t++)
            if (printing->threads[t].widths[c] > printing->widths[c])
                printing->widths[c] = printing->threads[t].widths[c];
    }
    return STATUS_OK;
}

/* All that comes before the first row. */
static enum status print_names(struct printing *printing, struct error *error)
{
    struct printing_thread *const own = &printing->threads[0];
    const uint32_t columns = printing->rows->column_count;
    own->text.used = 0;
    if (printing->format == ROWSET_JSON) {
        RETURN_IF_ERROR(put(&own->text, "[", 1, error));
        return write_out(printing, &own->text, error);
    }
    if (is_table(printing))
        RETURN_IF_ERROR(measure(printing, error));
    RETURN_IF_ERROR(make_names(printing, own, error));
    for (uint32_t c = 0; c < columns && !is_table(printing); c++) {
        RETURN_IF_ERROR(put(&own->text, printing->before[c].text, printing->before[c].bytes, error));
        RETURN_IF_ERROR(put(&own->text, own->cells[c].text, own->cells[c].bytes, error));
    }
    if (!is_table(printing)) {
        RETURN_IF_ERROR(put(&own->text, "\n", 1, error));
        return write_out(printing, &own->text, error);
    }
    size_t bytes = 0;
    for (uint32_t c = 0; c < columns; c++)
        bytes += own->cells[c].bytes;
    RETURN_IF_ERROR(text_space_reserve(&own->text, bytes + 2 * line_bytes(printing) + 4 * columns, error));
    char *const end = put_rule(printing, put_line(printing, own->cells, 1, own->text.bytes));
    own->text.used = (size_t)(end - own->text.bytes);
    return write_out(printing, &own->text, error);
}

/* ---- All of it ---- */

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
    pthread_cond_destroy(&printing->turned);
    pthread_mutex_destroy(&printing->lock);
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
            cell_column_open(&rows->columns[c], rows->rows, printing->format, &printing->columns[c], error));
    return make_heads(printing, error);
}

static enum status print(struct printing *printing, struct error *error)
{
    RETURN_IF_ERROR(print_names(printing, error));
    RETURN_IF_ERROR(parallel_for(printing->thread_count, printing->parts, print_part, printing, error));
    if (printing->format != ROWSET_JSON)
        return STATUS_OK;
    struct text_space *const text = &printing->threads[0].text;
    RETURN_IF_ERROR(put(text, "\n]\n" + (printing->rows->rows == 0), printing->rows->rows ? 3 : 2, error));
    return write_out(printing, text, error);
}

enum status rowset_print(const struct rowset *rows, enum rowset_format format, unsigned threads, FILE *out,
                         struct error *error)
{
    const uint32_t columns = rows->column_count ? rows->column_count : 1;
    const uint32_t block_rows = BLOCK_VALUES / columns;
    struct printing printing = {.rows = rows,
                                .format = format,
                                .out = out,
                                .part_rows = PART_VALUES / columns,
                                .block_rows = block_rows < BLOCK_ROWS ? block_rows : BLOCK_ROWS,
                                .lock = PTHREAD_MUTEX_INITIALIZER,
                                .turned = PTHREAD_COND_INITIALIZER};
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
