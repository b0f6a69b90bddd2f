/* column_file_writer.c: writes column files; column_file.h draws the format.
 *
 * Any thread adds parts: it reserves the part's place under a lock and writes the bytes outside it. The file
 * is opened again for each part, so that a table of thousands of columns does not run out of descriptors.
 * That takes microseconds, and a part has megabytes. */
#include "storage/column/column_file_format.h"

#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

struct column_file_writer {
    char *path;
    const struct column_file_identity *identity;
    pthread_mutex_t lock; /* protects the fields below */
    uint64_t end;         /* where the next part begins */
    struct column_part *parts;
    uint32_t part_count, part_capacity;
};

enum status column_file_create(const char *path, const struct column_file_identity *identity,
                               struct column_file_writer **out, struct error *error)
{
    *out = NULL;
    int descriptor;
    RETURN_IF_ERROR(file_create(path, &descriptor, error));
    close(descriptor);
    struct column_file_writer *writer = calloc(1, sizeof *writer);
    if (writer)
        writer->path = strdup(path);
    if (!writer || !writer->path) {
        free(writer);
        return error_out_of_memory(error, sizeof *writer, "a column file");
    }
    writer->identity = identity;
    writer->end = COLUMN_FILE_HEADER_BYTES;
    pthread_mutex_init(&writer->lock, NULL);
    *out = writer;
    return STATUS_OK;
}

void column_file_writer_free(struct column_file_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_destroy(&writer->lock);
    free(writer->path);
    free(writer->parts);
    free(writer);
}

static enum status reserve(struct column_file_writer *writer, struct column_part *part, struct error *error)
{
    enum status status = STATUS_OK;
    pthread_mutex_lock(&writer->lock);
    if (writer->part_count == writer->part_capacity) {
        uint32_t capacity = writer->part_capacity ? writer->part_capacity * 2 : 4;
        status =
            memory_grow(&writer->parts, capacity * sizeof *writer->parts, "a column file's directory", error);
        writer->part_capacity = status == STATUS_OK ? capacity : writer->part_capacity;
    }
    if (status == STATUS_OK) {
        part->offset = writer->end;
        writer->end += part_padded(part->bytes);
        writer->parts[writer->part_count++] = *part;
    }
    pthread_mutex_unlock(&writer->lock);
    return status;
}

enum status column_file_add(struct column_file_writer *writer, enum column_part_kind kind, uint32_t segment,
                            uint32_t rows, const void *bytes, uint64_t size, struct error *error)
{
    struct column_part part = {.bytes = size,
                               .checksum = XXH3_64bits(bytes, part_padded(size)),
                               .kind = kind,
                               .segment = segment,
                               .rows = rows};
    RETURN_IF_ERROR(reserve(writer, &part, error));
    int descriptor;
    RETURN_IF_ERROR(file_open_again(writer->path, &descriptor, error));
    enum status status = file_write(writer->path, descriptor, bytes, part_padded(size), part.offset, error);
    close(descriptor);
    return status;
}

static int compare_parts(const void *left, const void *right, const void *context)
{
    (void)context;
    const struct column_part *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->segment < b->segment ? -1 : a->segment > b->segment;
}

/* The header is written last, so an incomplete file has no magic. */
static enum status write_ends(struct column_file_writer *writer, int descriptor, struct file_header *header,
                              struct error *error)
{
    const struct column_file_identity *identity = writer->identity;
    uint64_t directory_bytes = writer->part_count * (uint64_t)sizeof *writer->parts;
    *header = (struct file_header){
        .version = COLUMN_FILE_VERSION,
        .kind = identity->kind,
        .generation = identity->generation,
        .codec = identity->codec,
        .value_bytes = identity->value_bytes,
        .rows = identity->rows,
        .part_count = writer->part_count,
        .directory_offset = writer->end,
        .file_bytes = writer->end + directory_bytes + sizeof(struct file_trailer),
    };
    memcpy(header->magic, HEADER_MAGIC, sizeof header->magic);
    memcpy(header->table, identity->table, strlen(identity->table));
    memcpy(header->column, identity->column, strlen(identity->column));
    header->checksum = XXH3_64bits(header, offsetof(struct file_header, checksum));
    struct file_trailer trailer = {.directory_checksum = XXH3_64bits(writer->parts, directory_bytes),
                                   .header_checksum = header->checksum,
                                   .file_bytes = header->file_bytes};
    memcpy(trailer.magic, TRAILER_MAGIC, sizeof trailer.magic);
    RETURN_IF_ERROR(file_write(writer->path, descriptor, writer->parts, directory_bytes, writer->end, error));
    RETURN_IF_ERROR(
        file_write(writer->path, descriptor, &trailer, sizeof trailer, writer->end + directory_bytes, error));
    RETURN_IF_ERROR(file_write(writer->path, descriptor, header, sizeof *header, 0, error));
    const int reason = file_sync(descriptor);
    return reason ? error_set_errno(error, reason, "cannot bring %s to disk", writer->path) : STATUS_OK;
}

enum status column_file_finish(struct column_file_writer *writer, struct error *error)
{
    if (writer->part_count)
        sort_items(writer->parts, writer->part_count, sizeof *writer->parts, compare_parts, NULL);
    struct file_header *header;
    RETURN_IF_ERROR(memory_take(&header, sizeof *header, "a column file's header", error));
    int descriptor;
    enum status status = file_open_again(writer->path, &descriptor, error);
    if (status == STATUS_OK) {
        status = write_ends(writer, descriptor, header, error);
        close(descriptor);
    }
    free(header);
    return status;
}
