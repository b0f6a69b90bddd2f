/*
 * ipc_write.c: see ipc_write.h.
 *
 *     "ARROW1" 0 0                                            file
 *     message: the schema                                     file, stream
 *     message: a batch of rows; its body are their buffers    file, stream
 *     ...
 *     IPC_END                                                 file, stream
 *     footer: the schema, where each batch is                 file
 *     i32: bytes of the footer | "ARROW1"                     file
 *
 * Bodies and the buffers in them begin at multiples of 64 bytes, so that a program may map a file and use the columns as
 * they are. An item of the threads' work are ARROW_BATCH_ROWS rows: a thread makes a batch of them in memory and writes it
 * when those before it are written (ordered_output.h). Long strings make an item several batches.
 */
#include "engine/library/ipc/ipc_write.h"
#include "engine/answer/print/ordered_output.h"
#include "engine/library/arrow_export.h"
#include "storage/base/execution/execution.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MAGIC     "ARROW1" /* the last bytes of a file, and with two zeros the first */
#define ALIGNMENT 64u

/* Bytes of strings in a batch, after the string that reaches them. */
#define BATCH_STRING_BYTES (16u << 20)

/* As for Parquet's pages: a higher level gives hardly fewer bytes in more time. */
#define ZSTD_LEVEL 1

/* Buffers of a column at most: validity, offsets, bytes. */
#define BUFFERS_MAX 3u

/* The memory of one thread, for the batch that it makes. */
struct ipc_writer {
    struct ArrowArray array;
    struct ipc_node *nodes;
    struct ipc_buffer *buffers;
    const void **
        bytes; /* of each buffer, as it is written; compressed: in `packed` once this does not move any more */
    uint32_t buffer_count;
    struct text_space metadata, packed;
    ZSTD_CCtx *zstd;
};

struct ipc_writing {
    const struct rowset *rows;
    const struct ipc_style *style;
    struct ordered_output out; /* of items */
    struct ArrowSchema schema;
    struct ipc_writer *writers;
    unsigned writer_count;
    struct ipc_block *blocks; /* of the batches that are written; of whose turn it is */
    uint64_t block_count, block_capacity;
};

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- What is written, in its order ---- */

static enum status write_zeros(struct ipc_writing *writing, uint64_t count, struct error *error)
{
    static const char zeros[ALIGNMENT];
    return ordered_output_write(&writing->out, zeros, count, error);
}

/* Writes a message, whose metadata `metadata` has, without its body, which then begins at a multiple of 64 bytes. Gives the
 * bytes that it has. */
static enum status write_message(struct ipc_writing *writing, const struct text_space *metadata,
                                 int32_t *bytes, struct error *error)
{
    const uint64_t begin = writing->out.bytes + 8;
    const int32_t padded = (int32_t)(aligned(begin + metadata->used) - begin);
    *bytes = padded + 8;
    RETURN_IF_ERROR(ordered_output_write(&writing->out, IPC_CONTINUES, 4, error));
    RETURN_IF_ERROR(ordered_output_write(&writing->out, &padded, 4, error));
    RETURN_IF_ERROR(ordered_output_write(&writing->out, metadata->bytes, metadata->used, error));
    return write_zeros(writing, (uint64_t)padded - metadata->used, error);
}

static enum status add_block(struct ipc_writing *writing, struct ipc_block block, struct error *error)
{
    if (writing->block_count == writing->block_capacity) {
        const uint64_t capacity = 2 * writing->block_capacity + 16;
        RETURN_IF_ERROR(memory_grow(&writing->blocks, capacity * sizeof *writing->blocks, "batches", error));
        writing->block_capacity = capacity;
    }
    writing->blocks[writing->block_count++] = block;
    return STATUS_OK;
}

static enum status write_batch(struct ipc_writing *writing, const struct ipc_writer *own, struct error *error)
{
    struct ipc_block block = {.offset = (int64_t)writing->out.bytes};
    RETURN_IF_ERROR(write_message(writing, &own->metadata, &block.metadata_bytes, error));
    const uint64_t body = writing->out.bytes;
    for (uint32_t b = 0; b < own->buffer_count; b++) {
        const uint64_t bytes = (uint64_t)own->buffers[b].bytes;
        RETURN_IF_ERROR(ordered_output_write(&writing->out, own->bytes[b], bytes, error));
        RETURN_IF_ERROR(write_zeros(writing, aligned(bytes) - bytes, error));
    }
    block.body_bytes = (int64_t)(writing->out.bytes - body);
    return add_block(writing, block, error);
}

/* ---- A batch ---- */

/* The bytes of an array's buffer, which is there. */
static uint64_t buffer_bytes(const char *format, const struct ArrowArray *array, int64_t buffer)
{
    const uint64_t rows = (uint64_t)array->length;
    if (buffer == 0 || *format == 'b')
        return (rows + 7) / 8;
    if (buffer == 2) {
        const int64_t *const offsets = array->buffers[1];
        return (uint64_t)offsets[rows];
    }
    if (*format == 'U')
        return 8 * (rows + 1);
    return rows * (*format == 'd' ? 16 : strcmp(format, "tdD") == 0 ? 4 : 8);
}

static size_t pack(struct ipc_writer *own, enum ipc_codec codec, const void *bytes, size_t count, char *to,
                   size_t room)
{
    const size_t packed = codec == IPC_ZSTD ? ZSTD_compressCCtx(own->zstd, to, room, bytes, count, ZSTD_LEVEL)
                                            : LZ4F_compressFrame(to, room, bytes, count, NULL);
    return (codec == IPC_ZSTD ? ZSTD_isError(packed) : LZ4F_isError(packed)) ? SIZE_MAX : packed;
}

/* Appends a buffer as compressed ones are: an i64 of its bytes, or -1 before bytes that are as they were, because they do
 * not become fewer. Compressors fail for one reason, since there is room. */
static enum status put_packed(struct ipc_writer *own, enum ipc_codec codec, const void *bytes, size_t count,
                              struct error *error)
{
    struct text_space *const to = &own->packed;
    int64_t before = (int64_t)count;
    const size_t room = codec == IPC_ZSTD ? ZSTD_compressBound(count) : LZ4F_compressFrameBound(count, NULL);
    RETURN_IF_ERROR(text_space_reserve(to, sizeof before + room, error));
    char *const at = to->bytes + to->used;
    size_t packed = pack(own, codec, bytes, count, at + sizeof before, room);
    if (packed == SIZE_MAX)
        return error_out_of_memory(error, room, "a batch of rows");
    if (packed >= count) {
        before = -1;
        memcpy(at + sizeof before, bytes, packed = count);
    }
    memcpy(at, &before, sizeof before);
    to->used += sizeof before + packed;
    return STATUS_OK;
}

/* Says of an array's buffer where it is in the body, whose bytes so far are *body, and compresses it. */
static enum status take_buffer(struct ipc_writing *writing, struct ipc_writer *own, int64_t column,
                               int64_t buffer, int64_t *body, struct error *error)
{
    const struct ArrowArray *const array = own->array.children[column];
    const void *const bytes = array->buffers[buffer];
    const size_t before = own->packed.used;
    uint64_t count = bytes ? buffer_bytes(writing->schema.children[column]->format, array, buffer) : 0;
    if (writing->style->codec != IPC_PLAIN && count) {
        RETURN_IF_ERROR(put_packed(own, writing->style->codec, bytes, count, error));
        count = own->packed.used - before;
    }
    own->bytes[own->buffer_count] = bytes;
    own->buffers[own->buffer_count++] = (struct ipc_buffer){*body, (int64_t)count};
    *body += (int64_t)aligned(count);
    return STATUS_OK;
}

/* Makes the message of the rows in `array`. */
static enum status make_message(struct ipc_writing *writing, struct ipc_writer *own, struct error *error)
{
    const bool plain = writing->style->codec == IPC_PLAIN;
    int64_t body = 0;
    own->buffer_count = 0;
    own->metadata.used = own->packed.used = 0;
    for (int64_t c = 0; c < own->array.n_children; c++) {
        own->nodes[c] = (struct ipc_node){own->array.children[c]->length, own->array.children[c]->null_count};
        for (int64_t b = 0; b < own->array.children[c]->n_buffers; b++)
            RETURN_IF_ERROR(take_buffer(writing, own, c, b, &body, error));
    }
    for (size_t b = 0, at = 0; !plain && b < own->buffer_count; at += (size_t)own->buffers[b++].bytes)
        own->bytes[b] = own->packed.bytes + at;
    const struct ipc_batch batch = {.rows = own->array.length,
                                    .body_bytes = body,
                                    .nodes = own->nodes,
                                    .node_count = (uint32_t)own->array.n_children,
                                    .buffers = own->buffers,
                                    .buffer_count = own->buffer_count,
                                    .codec = writing->style->codec};
    return ipc_put_batch(&batch, &own->metadata, error);
}

/* ---- Items ---- */

/* How many of the rows are a batch. */
static uint32_t batch_rows(const struct rowset *rows, uint64_t first, uint32_t most)
{
    uint64_t bytes = 0;
    bool strings = false;
    for (uint32_t c = 0; c < rows->column_count; c++)
        strings |= rows->columns[c].type.kind == VALUE_STRING;
    for (uint32_t row = 0; strings && row < most; row++) {
        for (uint32_t c = 0; c < rows->column_count; c++) {
            const struct rowset_column *const column = &rows->columns[c];
            if (column->type.kind == VALUE_STRING && !(column->nulls && column->nulls[first + row]))
                bytes += rowset_string(column, first + row).length;
        }
        if (bytes >= BATCH_STRING_BYTES)
            return row + 1;
    }
    return most;
}

/* Writes the batches of an item; the first one is made before it is the item's turn. Nothing is written after another one's
 * failure, which ends the file. */
static enum status write_rows(struct ipc_writing *writing, struct ipc_writer *own, uint64_t item,
                              struct error *error)
{
    const uint64_t first = item * ARROW_BATCH_ROWS, left = writing->rows->rows - first;
    const uint32_t rows = left < ARROW_BATCH_ROWS ? (uint32_t)left : ARROW_BATCH_ROWS;
    for (uint32_t done = 0, count; done < rows; done += count) {
        RETURN_IF_ERROR(cancel_check(error));
        count = batch_rows(writing->rows, first + done, rows - done);
        RETURN_IF_ERROR(arrow_export_batch(writing->rows, first + done, count, &own->array, error));
        enum status status = make_message(writing, own, error);
        const bool turn = status == STATUS_OK && (done || ordered_output_wait(&writing->out, item));
        if (turn)
            status = write_batch(writing, own, error);
        own->array.release(&own->array);
        if (status != STATUS_OK || !turn)
            return status;
    }
    return STATUS_OK;
}

static enum status write_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct ipc_writing *const writing = context;
    const enum status status = write_rows(writing, &writing->writers[thread], item, error);
    ordered_output_end(&writing->out, status != STATUS_OK);
    return status;
}

/* ---- The file ---- */

static enum status write_footer(struct ipc_writing *writing, struct text_space *footer, struct error *error)
{
    footer->used = 0;
    RETURN_IF_ERROR(
        ipc_put_footer(&writing->schema, writing->blocks, (uint32_t)writing->block_count, footer, error));
    const int32_t bytes = (int32_t)footer->used;
    RETURN_IF_ERROR(ordered_output_write(&writing->out, footer->bytes, footer->used, error));
    RETURN_IF_ERROR(ordered_output_write(&writing->out, &bytes, sizeof bytes, error));
    return ordered_output_write(&writing->out, MAGIC, strlen(MAGIC), error);
}

static enum status write_file(struct ipc_writing *writing, uint64_t items, struct error *error)
{
    struct text_space *const metadata = &writing->writers[0].metadata;
    int32_t bytes;
    if (!writing->style->stream)
        RETURN_IF_ERROR(ordered_output_write(&writing->out, MAGIC "\0", sizeof MAGIC + 1, error));
    RETURN_IF_ERROR(ipc_put_schema(&writing->schema, metadata, error));
    RETURN_IF_ERROR(write_message(writing, metadata, &bytes, error));
    RETURN_IF_ERROR(parallel_for(writing->writer_count, items, write_item, writing, error));
    RETURN_IF_ERROR(ordered_output_write(&writing->out, IPC_END, sizeof IPC_END - 1, error));
    return writing->style->stream ? STATUS_OK : write_footer(writing, metadata, error);
}

static enum status make_schema(struct ipc_writing *writing, struct error *error)
{
    const struct rowset *const rows = writing->rows;
    struct value_type *types = NULL;
    char **names = NULL;
    enum status status = memory_zeros(&names, rows->column_count * sizeof *names, "names", error);
    status = AND_THEN(status, memory_zeros(&types, rows->column_count * sizeof *types, "types", error));
    for (uint32_t c = 0; status == STATUS_OK && c < rows->column_count; c++) {
        types[c] = rows->columns[c].type;
        names[c] = rowset_unique_name(rows, c, names);
        if (!names[c])
            status = error_out_of_memory(error, strlen(rows->columns[c].name), "a name");
    }
    if (status == STATUS_OK &&
        !arrow_export_schema((const char *const *)names, types, rows->column_count, &writing->schema))
        status = error_out_of_memory(error, rows->column_count * sizeof(struct ArrowSchema), "a schema");
    for (uint32_t c = 0; names && c < rows->column_count; c++)
        free(names[c]);
    free(names);
    free(types);
    return status;
}

static enum status writing_open(struct ipc_writing *writing, struct error *error)
{
    const uint64_t columns = writing->rows->column_count, buffers = BUFFERS_MAX * columns;
    RETURN_IF_ERROR(make_schema(writing, error));
    RETURN_IF_ERROR(memory_zeros(&writing->writers, writing->writer_count * sizeof *writing->writers,
                                 "rows to write", error));
    for (unsigned t = 0; t < writing->writer_count; t++) {
        struct ipc_writer *const own = &writing->writers[t];
        RETURN_IF_ERROR(memory_take(&own->nodes, columns * sizeof *own->nodes, "rows to write", error));
        RETURN_IF_ERROR(memory_take(&own->buffers, buffers * sizeof *own->buffers, "rows to write", error));
        RETURN_IF_ERROR(memory_take(&own->bytes, buffers * sizeof *own->bytes, "rows to write", error));
        own->zstd = ZSTD_createCCtx();
        if (!own->zstd)
            return error_out_of_memory(error, sizeof *own, "rows to write");
    }
    return STATUS_OK;
}

static void writing_close(struct ipc_writing *writing)
{
    for (unsigned t = 0; writing->writers && t < writing->writer_count; t++) {
        struct ipc_writer *const own = &writing->writers[t];
        free(own->nodes);
        free(own->buffers);
        free(own->bytes);
        free(own->metadata.bytes);
        free(own->packed.bytes);
        ZSTD_freeCCtx(own->zstd);
    }
    if (writing->schema.release)
        writing->schema.release(&writing->schema);
    free(writing->writers);
    free(writing->blocks);
    ordered_output_close(&writing->out);
}

enum status rowset_write_arrow(const struct rowset *rows, const struct ipc_style *style, unsigned threads,
                               FILE *out, struct error *error)
{
    const uint64_t items = (rows->rows + ARROW_BATCH_ROWS - 1) / ARROW_BATCH_ROWS;
    struct ipc_writing writing = {.rows = rows, .style = style, .out = ordered_output_to(out)};
    writing.writer_count = threads ? threads : parallel_threads_available();
    if (writing.writer_count > items)
        writing.writer_count = items ? (unsigned)items : 1;
    enum status status = writing_open(&writing, error);
    status = AND_THEN(status, write_file(&writing, items, error));
    writing_close(&writing);
    return status;
}
