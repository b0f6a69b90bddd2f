/* delimited.c: see delimited.h. One scan a line finds its fields; numbers are then read from their digits. */
#define _GNU_SOURCE
#include "loader/text/delimited.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Line starts are remembered at this distance: finding a line then scans half of it on average, 20 us. */
#define INDEX_BYTES DELIMITED_BUFFER_BYTES

/* Room for a field made printable: 40 of its bytes at 4 characters each, an ellipsis, two quotes. */
#define SHOWN_BYTES 40u
#define SHOWN_TEXT  (4u * SHOWN_BYTES + 6u)

struct delimited_file {
    char *path;
    int descriptor;
    char separator;
    const char *const *names;
    uint32_t columns;
    bool trailing; /* line 1 has a separator behind its last field: then every line must */
    uint64_t bytes;
    uint64_t lines;
    uint64_t blocks; /* of INDEX_BYTES, the last one shorter */
    uint64_t
        *newlines_before; /* blocks + 1: newlines in front of each block; line k starts behind newline k */
};

struct delimited_reader {
    const struct delimited_file *file;
    uint64_t offset; /* in the file, of buffer[0] */
    uint32_t filled; /* bytes in the buffer; buffer[filled] is a newline that ends every scan */
    uint32_t next;   /* where the next line starts in the buffer */
    uint64_t line;   /* 0-based number of the line that starts at `next` */
    char buffer[DELIMITED_BUFFER_BYTES + 1];
};

/* Reads until `size` bytes are there or the file ends. */
static enum status read_at(const struct delimited_file *file, uint64_t offset, char *out, uint32_t size,
                           uint32_t *got, struct error *error)
{
    *got = 0;
    while (*got < size) {
        ssize_t count = pread(file->descriptor, out + *got, size - *got, (off_t)(offset + *got));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_set_errno(error, errno, "cannot read %s at byte %" PRIu64, file->path,
                                   offset + *got);
        if (count == 0)
            break;
        *got += (uint32_t)count;
    }
    return STATUS_OK;
}

static enum status shortened(const struct delimited_file *file, uint64_t line, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "%s:%" PRIu64 ": the file ended before this line although it had %" PRIu64
                     " lines; load it again when nothing writes to it",
                     file->path, line + 1, file->lines);
}

/* ---- The line index ---- */

struct indexing {
    struct delimited_file *file;
    char *buffers; /* INDEX_BYTES for each thread */
    bool ends_with_newline;
};

/* The file's first line says whether a separator stands behind the last field. All lines must agree, so that
 * a row that was cut short is not taken for a whole one. */
static bool ends_with_separator(const struct delimited_file *file, const char *text, uint32_t length)
{
    const char *end = memchr(text, '\n', length);
    if (!end)
        end = text + length;
    if (end > text && end[-1] == '\r')
        end--;
    uint32_t separators = 0;
    for (const char *at = text; at < end; at++)
        separators += *at == file->separator;
    return separators == file->columns && end[-1] == file->separator;
}

static enum status index_block(void *context, uint64_t block, unsigned thread, struct error *error)
{
    struct indexing *indexing = context;
    struct delimited_file *file = indexing->file;
    RETURN_IF_ERROR(cancel_check(error));
    char *buffer = indexing->buffers + (size_t)thread * INDEX_BYTES;
    uint32_t got;
    RETURN_IF_ERROR(read_at(file, block * INDEX_BYTES, buffer, INDEX_BYTES, &got, error));
    uint64_t newlines = 0;
    for (const char *at = buffer, *end = buffer + got; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        newlines++;
    file->newlines_before[block + 1] = newlines;
    if (block == 0)
        file->trailing = ends_with_separator(file, buffer, got);
    if (block + 1 == file->blocks)
        indexing->ends_with_newline = got > 0 && buffer[got - 1] == '\n';
    return STATUS_OK;
}

static enum status index_lines(struct delimited_file *file, unsigned threads, struct error *error)
{
    if (threads == 0)
        threads = parallel_threads_available();
    file->blocks = (file->bytes + INDEX_BYTES - 1) / INDEX_BYTES;
    if (threads > file->blocks)
        threads = (unsigned)file->blocks;
    file->newlines_before = calloc(file->blocks + 1, sizeof *file->newlines_before);
    struct indexing indexing = {.file = file, .buffers = malloc((size_t)threads * INDEX_BYTES)};
    enum status status;
    if (!file->newlines_before || !indexing.buffers)
        status = error_out_of_memory(error, (file->blocks + 1) * 8 + (uint64_t)threads * INDEX_BYTES,
                                     "the line index of a text file");
    else
        status = parallel_for(threads, file->blocks, index_block, &indexing, error);
    free(indexing.buffers);
    RETURN_IF_ERROR(status);
    for (uint64_t b = 0; b < file->blocks; b++)
        file->newlines_before[b + 1] += file->newlines_before[b];
    file->lines = file->newlines_before[file->blocks] + (indexing.ends_with_newline ? 0 : 1);
    return STATUS_OK;
}

/* ---- Files ---- */

enum status delimited_open(const char *path, char separator, const char *const *column_names,
                           uint32_t columns, unsigned threads, struct delimited_file **out,
                           struct error *error)
{
    *out = NULL;
    if (columns == 0 || columns > DELIMITED_COLUMNS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "%s: %u columns asked for; a text file has 1 to %u", path,
                         columns, DELIMITED_COLUMNS_MAX);
    struct delimited_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return error_out_of_memory(error, sizeof *file, "a text file");
    }
    file->separator = separator;
    file->names = column_names;
    file->columns = columns;
    struct stat info;
    enum status status;
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0 || fstat(file->descriptor, &info) != 0)
        status = error_set_errno(error, errno, "cannot open %s", path);
    else if (!S_ISREG(info.st_mode))
        status = error_set(error, STATUS_BAD_INPUT, "%s is not a regular file; rows are read from files only",
                           path);
    else if (info.st_size == 0)
        status = error_set(error, STATUS_BAD_INPUT, "%s is empty; it must hold one line for each row", path);
    else {
        file->bytes = (uint64_t)info.st_size;
        posix_fadvise(file->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
        status = index_lines(file, threads, error);
    }
    if (status != STATUS_OK) {
        delimited_close(file);
        return status;
    }
    *out = file;
    return STATUS_OK;
}

void delimited_close(struct delimited_file *file)
{
    if (!file)
        return;
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->newlines_before);
    free(file->path);
    free(file);
}

const char *delimited_path(const struct delimited_file *file)
{
    return file->path;
}

uint64_t delimited_lines(const struct delimited_file *file)
{
    return file->lines;
}

/* ---- Readers ---- */

enum status delimited_reader_create(const struct delimited_file *file, struct delimited_reader **out,
                                    struct error *error)
{
    struct delimited_reader *reader = malloc(sizeof *reader);
    *out = reader;
    if (!reader)
        return error_out_of_memory(error, sizeof *reader, "reading a text file");
    reader->file = file;
    reader->offset = reader->line = 0;
    reader->filled = reader->next = 0;
    reader->buffer[0] = '\n';
    return STATUS_OK;
}

void delimited_reader_destroy(struct delimited_reader *reader)
{
    free(reader);
}

/* Moves what is left of the buffer to its front and fills the rest from the file. */
static enum status refill(struct delimited_reader *reader, struct error *error)
{
    uint32_t kept = reader->filled - reader->next;
    memmove(reader->buffer, reader->buffer + reader->next, kept);
    reader->offset += reader->next;
    reader->next = 0;
    uint32_t got;
    RETURN_IF_ERROR(read_at(reader->file, reader->offset + kept, reader->buffer + kept,
                            DELIMITED_BUFFER_BYTES - kept, &got, error));
    reader->filled = kept + got;
    reader->buffer[reader->filled] = '\n';
    return STATUS_OK;
}

enum status delimited_seek(struct delimited_reader *reader, uint64_t line, struct error *error)
{
    const struct delimited_file *file = reader->file;
    if (line >= file->lines)
        return shortened(file, line, error);
    /* the last block with fewer than `line` newlines in front of it holds newline number `line` */
    uint64_t low = 0, high = file->blocks;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (file->newlines_before[middle] < line)
            low = middle;
        else
            high = middle;
    }
    reader->offset = low * INDEX_BYTES;
    reader->filled = reader->next = 0;
    reader->line = line;
    RETURN_IF_ERROR(refill(reader, error));
    const char *at = reader->buffer, *end = reader->buffer + reader->filled;
    for (uint64_t n = file->newlines_before[low]; n < line; n++, at++)
        if (!(at = memchr(at, '\n', (size_t)(end - at))))
            return shortened(file, line, error);
    reader->next = (uint32_t)(at - reader->buffer);
    return STATUS_OK;
}

/* `text` printable and in quotes, cut to SHOWN_BYTES of it. */
static const char *shown(const char *text, uint32_t length, char out[SHOWN_TEXT])
{
    char *at = out;
    *at++ = '\'';
    for (uint32_t i = 0; i < length && i < SHOWN_BYTES; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f)
            at += sprintf(at, "\\x%02x", c);
        else
            *at++ = (char)c;
    }
    strcpy(at, length > SHOWN_BYTES ? "...'" : "'");
    return out;
}

/* A row of `parts` parts between separators and line ends, which are too few or too many. */
static enum status wrong_fields(const struct delimited_reader *reader, const struct delimited_field *fields,
                                uint32_t parts, const char *start, const char *end, struct error *error)
{
    const struct delimited_file *file = reader->file;
    char text[SHOWN_TEXT];
    uint32_t found = file->trailing && end > start && end[-1] == file->separator ? parts - 1 : parts;
    if (start == end)
        return error_set(error, STATUS_BAD_INPUT, "%s:%" PRIu64 ": the line is empty; a row needs %u fields",
                         file->path, reader->line, file->columns);
    if (found < file->columns) {
        const struct delimited_field *last = &fields[found - 1];
        return error_set(error, STATUS_BAD_INPUT,
                         "%s:%" PRIu64 ": the row ends after %u of %u fields, with %s; column %s is missing",
                         file->path, reader->line, found, file->columns,
                         shown(last->text, last->length, text), file->names[found]);
    }
    const struct delimited_field *last = &fields[file->columns - 1];
    if (found == file->columns)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s:%" PRIu64
                         ": the row ends with %s in column %s, without the '%c' that ends line 1; is the "
                         "file cut short?",
                         file->path, reader->line, shown(last->text, last->length, text),
                         file->names[file->columns - 1], file->separator);
    const char *extra = last->text + last->length + 1;
    return error_set(error, STATUS_BAD_INPUT,
                     "%s:%" PRIu64
                     ": the row goes on with %s behind column %s, its last; %u fields are expected",
                     file->path, reader->line, shown(extra, (uint32_t)(end - extra), text),
                     file->names[file->columns - 1], file->columns);
}

/* The end of the line that starts at reader->next, and its fields: those behind the last column are only
 * counted. NULL if the buffer ends first. */
static const char *scan(const struct delimited_reader *reader, struct delimited_field *fields,
                        uint32_t *found)
{
    const char separator = reader->file->separator;
    const uint32_t columns = reader->file->columns;
    const char *start = reader->buffer + reader->next;
    const char *end = reader->buffer + reader->filled;
    uint32_t count = 0;
    for (const char *at = start;; at++) {
        if (*at != separator && *at != '\n')
            continue;
        if (count < columns)
            fields[count] = (struct delimited_field){.text = start, .length = (uint32_t)(at - start)};
        count++;
        if (*at == '\n') {
            *found = count;
            return at == end ? NULL : at;
        }
        start = at + 1;
    }
}

enum status delimited_next(struct delimited_reader *reader, struct delimited_field *fields,
                           struct error *error)
{
    const struct delimited_file *file = reader->file;
    if (reader->line >= file->lines)
        return shortened(file, reader->line, error);
    uint32_t found;
    const char *end = scan(reader, fields, &found);
    if (!end) {
        RETURN_IF_ERROR(refill(reader, error));
        if (reader->filled == 0)
            return shortened(file, reader->line, error);
        end = scan(reader, fields, &found);
        if (!end && reader->filled == DELIMITED_BUFFER_BYTES)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s:%" PRIu64 ": the line is longer than %u bytes; is this a file of rows?",
                             file->path, reader->line + 1, DELIMITED_BUFFER_BYTES);
        if (!end) /* the last line, without a newline */
            end = reader->buffer + reader->filled;
    }
    const char *start = reader->buffer + reader->next;
    reader->next = (uint32_t)(end - reader->buffer) + (end < reader->buffer + reader->filled ? 1u : 0u);
    reader->line++;

    const char *nul = memchr(start, 0, (size_t)(end - start));
    if (nul)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s:%" PRIu64 ": there is a NUL byte at byte %zu of the line; is this a text file?",
                         file->path, reader->line, (size_t)(nul - start) + 1);
    if (end > start && end[-1] == '\r') {
        end--;
        if (found <= file->columns)
            fields[found - 1].length--;
    }
    if (!file->trailing && found == file->columns)
        return STATUS_OK;
    if (file->trailing && found == file->columns + 1 && end[-1] == file->separator)
        return STATUS_OK;
    return wrong_fields(reader, fields, found, start, end, error);
}

/* ---- Fields ---- */

enum status delimited_complain(const struct delimited_reader *reader, uint32_t column,
                               const struct delimited_field *field, struct error *error,
                               const char *complaint, ...)
{
    char reason[512], text[SHOWN_TEXT];
    va_list arguments;
    va_start(arguments, complaint);
    vsnprintf(reason, sizeof reason, complaint, arguments);
    va_end(arguments);
    return error_set(error, STATUS_BAD_INPUT, "%s:%" PRIu64 ": column %s: %s %s", reader->file->path,
                     reader->line, reader->file->names[column], shown(field->text, field->length, text),
                     reason);
}

enum status delimited_integer(const struct delimited_reader *reader, uint32_t column,
                              const struct delimited_field *field, int64_t low, int64_t high, int64_t *value,
                              struct error *error)
{
    const char *at = field->text, *end = field->text + field->length;
    bool negative = at < end && *at == '-';
    at += negative;
    bool number = at < end, fits = true;
    uint64_t magnitude = 0;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        number &= digit <= 9;
        fits &= magnitude <= (uint64_t)INT64_MAX / 10; /* so that the next step stays below 2^64 */
        magnitude = magnitude * 10 + digit;
    }
    if (!number)
        return delimited_complain(reader, column, field, error, "is not a whole number; correct the line");
    fits &= magnitude <= (uint64_t)INT64_MAX + negative;
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    if (!fits || *value < low || *value > high)
        return delimited_complain(reader, column, field, error,
                                  "is out of range: the column holds %" PRId64 " to %" PRId64, low, high);
    return STATUS_OK;
}
