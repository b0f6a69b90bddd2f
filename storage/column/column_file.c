/* column_file.c: reads column files. column_file.h draws the format; column_file_writer.c writes them. */
#include "storage/column/column_file_format.h"

#include "storage/base/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define REPAIR "restore the file from a copy or load the table again"

static enum status damaged(const char *path, const char *what, struct error *error)
{
    return error_set(error, STATUS_CHECK_FAILED, "%s: the %s is damaged (wrong checksum); " REPAIR, path,
                     what);
}

static enum status wrong(const char *path, const char *what, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT, "%s: %s; " REPAIR, path, what);
}

static enum status truncated(const char *path, uint64_t size, uint64_t expected, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: the file is truncated: %llu bytes where %llu were written; " REPAIR, path,
                     (unsigned long long)size, (unsigned long long)expected);
}

static enum status check_identity(const char *path, const struct file_header *header,
                                  const struct column_file_identity *expected, struct error *error)
{
    if (strcmp(header->table, expected->table) != 0 || strcmp(header->column, expected->column) != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: the file belongs to column %s.%s, not to %s.%s; put the right file back or "
                         "load the table again",
                         path, header->table, header->column, expected->table, expected->column);
    if (header->kind != (uint32_t)expected->kind || header->codec != (uint32_t)expected->codec)
        return wrong(path, "the file holds another codec than its name says", error);
    if (header->generation != expected->generation)
        return wrong(path, "the file is of another generation than its name says", error);
    if (header->rows != expected->rows || header->value_bytes != expected->value_bytes)
        return wrong(path, "the file's rows or value size are not what the catalogue says", error);
    return STATUS_OK;
}

static enum status check_header(const char *path, const struct file_header *header, uint64_t size,
                                const struct column_file_identity *expected, struct error *error)
{
    if (memcmp(header->magic, HEADER_MAGIC, sizeof header->magic) != 0)
        return wrong(path, "this is no column file (its magic is wrong)", error);
    if (header->version > COLUMN_FILE_VERSION)
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s: format version %u is newer than the %u that this program reads; use a newer Tessera", path,
            header->version, COLUMN_FILE_VERSION);
    if (header->checksum != XXH3_64bits(header, offsetof(struct file_header, checksum)))
        return damaged(path, "header", error);
    if (header->version != COLUMN_FILE_VERSION || header->table[NAME_BYTES - 1] ||
        header->column[NAME_BYTES - 1])
        return wrong(path, "the header is not valid", error);
    if (size < header->file_bytes)
        return truncated(path, size, header->file_bytes, error);
    uint64_t behind = header->part_count * (uint64_t)sizeof(struct column_part) + sizeof(struct file_trailer);
    if (size != header->file_bytes || header->directory_offset % COLUMN_FILE_ALIGNMENT ||
        header->directory_offset < COLUMN_FILE_HEADER_BYTES || header->directory_offset > size ||
        size - header->directory_offset != behind)
        return wrong(path, "the header's sizes do not match the file", error);
    return check_identity(path, header, expected, error);
}

static bool before(uint32_t kind, uint32_t segment, const struct column_part *part)
{
    return kind < part->kind || (kind == part->kind && segment < part->segment);
}

static bool part_valid(const struct column_part *part, uint64_t directory_offset)
{
    return part->offset % COLUMN_FILE_ALIGNMENT == 0 && part->offset >= COLUMN_FILE_HEADER_BYTES &&
           part->offset <= directory_offset && part->bytes <= directory_offset - part->offset &&
           part->reserved == 0;
}

static enum status check_directory(struct column_file *file, const struct file_header *header,
                                   struct error *error)
{
    struct file_trailer trailer;
    memcpy(&trailer, file->map.bytes + file->map.size - sizeof trailer, sizeof trailer);
    if (memcmp(trailer.magic, TRAILER_MAGIC, sizeof trailer.magic) != 0 ||
        trailer.file_bytes != file->map.size || trailer.header_checksum != header->checksum)
        return damaged(file->path, "trailer", error);
    uint64_t bytes = header->part_count * (uint64_t)sizeof *file->parts;
    if (trailer.directory_checksum != XXH3_64bits(file->map.bytes + header->directory_offset, bytes))
        return damaged(file->path, "directory or the trailer", error);
    file->part_count = header->part_count;
    file->parts = (const struct column_part *)(file->map.bytes + header->directory_offset);
    for (uint32_t p = 0; p < file->part_count; p++)
        if (!part_valid(&file->parts[p], header->directory_offset) ||
            (p > 0 && !before(file->parts[p - 1].kind, file->parts[p - 1].segment, &file->parts[p])))
            return wrong(file->path, "the directory is not valid", error);
    return STATUS_OK;
}

static enum status map_file(struct column_file *file, struct error *error)
{
    const uint64_t least = COLUMN_FILE_HEADER_BYTES + sizeof(struct file_trailer);
    int descriptor;
    uint64_t size;
    bool missing;
    enum status status = file_open(file->path, &descriptor, &size, &missing, error);
    if (missing)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: the file is missing; if another program changed the database, open it again, "
                         "else restore the file from a copy or load the table again",
                         file->path);
    RETURN_IF_ERROR(status);
    if (size < least)
        status = truncated(file->path, size, least, error);
    else
        status = file_map_open(file->path, descriptor, size, &file->map, error);
    close(descriptor);
    return status;
}

enum status column_file_open(const char *path, const struct column_file_identity *expected,
                             struct column_file **out, struct error *error)
{
    *out = NULL;
    struct column_file *file = calloc(1, sizeof *file);
    if (file)
        file->path = strdup(path);
    if (!file || !file->path) {
        free(file);
        return error_out_of_memory(error, sizeof *file, "a column file");
    }
    enum status status = map_file(file, error);
    if (status == STATUS_OK)
        status =
            check_header(path, (const struct file_header *)file->map.bytes, file->map.size, expected, error);
    status = AND_THEN(status, check_directory(file, (const struct file_header *)file->map.bytes, error));
    if (status != STATUS_OK) {
        column_file_close(file);
        return status;
    }
    *out = file;
    return STATUS_OK;
}

void column_file_close(struct column_file *file)
{
    if (!file)
        return;
    file_map_close(&file->map);
    free(file->path);
    free(file);
}

const struct column_part *column_file_part(const struct column_file *file, enum column_part_kind kind,
                                           uint32_t segment)
{
    uint32_t low = 0, high = file->part_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct column_part *part = &file->parts[middle];
        if (part->kind == (uint32_t)kind && part->segment == segment)
            return part;
        if (before(kind, segment, part))
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

enum status column_file_part_check(const struct column_file *file, const struct column_part *part,
                                   struct error *error)
{
    static const char *const names[] = {[PART_CHUNK] = "chunk",
                                        [PART_DICTIONARY_STARTS] = "dictionary's offsets",
                                        [PART_DICTIONARY_BYTES] = "dictionary's strings",
                                        [PART_VALIDITY] = "validity",
                                        [PART_TILE_MIN_MAX] = "tile statistics",
                                        [PART_INDEX_VECTORS] = "directory of the index",
                                        [PART_INDEX_WORDS] = "index",
                                        [PART_INDEX_PIECES] = "directory of the index's pieces",
                                        [PART_LEVELS] = "list of the table's levels",
                                        [PART_DICTIONARY_DIRECTORY] = "directory of the dictionary",
                                        [PART_DICTIONARY_BLOCKS] = "compressed dictionary"};
    if (XXH3_64bits(file->map.bytes + part->offset, part_padded(part->bytes)) == part->checksum)
        return STATUS_OK;
    bool known = part->kind >= PART_CHUNK && part->kind <= PART_DICTIONARY_BLOCKS;
    return error_set(error, STATUS_CHECK_FAILED,
                     "%s: segment %u: the %s is damaged (wrong checksum, bytes %llu to %llu); " REPAIR,
                     file->path, part->segment, known ? names[part->kind] : "part",
                     (unsigned long long)part->offset, (unsigned long long)(part->offset + part->bytes));
}
