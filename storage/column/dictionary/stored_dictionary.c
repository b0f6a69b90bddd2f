/* stored_dictionary.c: see stored_dictionary.h. */
#include "storage/column/dictionary/stored_dictionary.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/column/column_span.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that a thread takes at once: 2 MiB of strings, which take it a millisecond. */
#define BLOCKS_AT_ONCE 8u

static enum status not_valid(const struct column_file *file, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: the dictionary is missing or not valid; load the table again", file->path);
}

/* ---- Opening ---- */

static bool open_blocks(struct stored_dictionary *stored, const struct column_part *directory,
                        const struct column_part *blocks)
{
    const uint64_t entries = directory->bytes / sizeof *stored->blocks.directory;
    if (directory->bytes % sizeof *stored->blocks.directory || entries < 2 || entries > INT32_MAX)
        return false;
    const uint8_t *const bytes = stored->file->map.bytes;
    stored->blocks = (struct dictionary_blocks){.directory = (const void *)(bytes + directory->offset),
                                                .block_count = (uint32_t)entries - 1,
                                                .strings = directory->rows,
                                                .blocks = bytes + blocks->offset,
                                                .bytes = blocks->bytes};
    return dictionary_blocks_valid(&stored->blocks);
}

static enum status open_parts(struct stored_dictionary *stored, bool in_blocks, struct error *error)
{
    const struct column_file *const file = stored->file;
    const struct column_part *const first =
        column_file_part(file, in_blocks ? PART_DICTIONARY_DIRECTORY : PART_DICTIONARY_STARTS, 0);
    const struct column_part *const second =
        column_file_part(file, in_blocks ? PART_DICTIONARY_BLOCKS : PART_DICTIONARY_BYTES, 0);
    if (!first || !second || first->rows > INT32_MAX)
        return not_valid(file, error);
    if (in_blocks) /* the directory decides on memory, so it is not only valid, but right */
        RETURN_IF_ERROR(column_file_part_check(file, first, error));
    if (in_blocks ? !open_blocks(stored, first, second)
                  : first->bytes != (first->rows + UINT64_C(1)) * sizeof(uint64_t))
        return not_valid(file, error);
    stored->disk_bytes = part_padded(first->bytes) + part_padded(second->bytes);
    stored->text_bytes = in_blocks ? dictionary_blocks_text(&stored->blocks) : second->bytes;
    stored->dictionary.count = first->rows;
    return STATUS_OK;
}

/* The caller holds the lock. */
static enum status open_locked(struct stored_dictionary *stored, struct error *error)
{
    if (stored->opened)
        return STATUS_OK;
    const struct column *const column = stored->column;
    const struct column_span *const side = spans_of(&column->sides, column->strings_generation);
    RETURN_IF_ERROR(span_open(stored->directory, column, CODEC_NONE, side, &stored->file, error));
    const enum status status = open_parts(stored, stored->column->dictionary_blocks, error);
    if (status != STATUS_OK) {
        column_file_close(stored->file);
        stored->file = NULL;
        stored->blocks = (struct dictionary_blocks){0};
    }
    atomic_store_explicit(&stored->opened, status == STATUS_OK, memory_order_release);
    return status;
}

void stored_dictionary_begin(const char *directory, const struct column *column,
                             struct stored_dictionary *stored)
{
    *stored = (struct stored_dictionary){
        .directory = directory, .column = column, .lock = PTHREAD_MUTEX_INITIALIZER};
}

enum status stored_dictionary_open(struct stored_dictionary *stored, struct error *error)
{
    if (!stored || atomic_load_explicit(&stored->opened, memory_order_acquire))
        return STATUS_OK;
    pthread_mutex_lock(&stored->lock);
    const enum status status = open_locked(stored, error);
    pthread_mutex_unlock(&stored->lock);
    return status;
}

void stored_dictionary_close(struct stored_dictionary *stored)
{
    if (!stored->column)
        return;
    column_file_close(stored->file);
    free(stored->memory);
    pthread_mutex_destroy(&stored->lock);
    *stored = (struct stored_dictionary){0};
}

uint64_t stored_dictionary_memory(const struct stored_dictionary *stored)
{
    return (stored->dictionary.count + UINT64_C(1)) * sizeof(uint64_t) + stored->text_bytes;
}

/* ---- Loading ---- */

/* True if the starts ascend and end at the size of the strings: then every code less than `count` can be looked up
 * safely. The order of the strings is checked only by database_check: a dictionary that is not sorted causes wrong
 * answers, but no invalid reads. */
static bool starts_valid(const uint64_t *starts, uint32_t count, uint64_t bytes)
{
    bool rising = starts[0] == 0 && starts[count] == bytes;
    for (uint32_t code = 0; code < count; code++)
        rising &= starts[code] <= starts[code + 1] && starts[code + 1] - starts[code] <= UINT32_MAX;
    return rising;
}

static enum status load_plain(struct stored_dictionary *stored, struct error *error)
{
    const struct column_file *const file = stored->file;
    const struct column_part *const starts = column_file_part(file, PART_DICTIONARY_STARTS, 0);
    const struct column_part *const bytes = column_file_part(file, PART_DICTIONARY_BYTES, 0);
    RETURN_IF_ERROR(column_file_part_check(file, starts, error));
    RETURN_IF_ERROR(column_file_part_check(file, bytes, error));
    stored->dictionary.starts = (const uint64_t *)(file->map.bytes + starts->offset);
    stored->dictionary.bytes = (const char *)(file->map.bytes + bytes->offset);
    return starts_valid(stored->dictionary.starts, stored->dictionary.count, bytes->bytes)
               ? STATUS_OK
               : not_valid(file, error);
}

struct decoding {
    const struct stored_dictionary *stored;
    uint64_t *starts;
    char *text;
};

static enum status decode_some(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct decoding *const decoding = context;
    const struct dictionary_blocks *const blocks = &decoding->stored->blocks;
    struct dictionary_decoder decoder = {0};
    enum status status = cancel_check(error);
    (void)thread;
    for (uint64_t b = item * BLOCKS_AT_ONCE;
         status == STATUS_OK && b < (item + 1) * BLOCKS_AT_ONCE && b < blocks->block_count; b++) {
        bool good;
        status = dictionary_block_decode(&decoder, blocks, (uint32_t)b, decoding->starts, decoding->text,
                                         &good, error);
        if (status == STATUS_OK && !good)
            status = error_set(error, STATUS_BAD_INPUT,
                               "%s: block %llu of the dictionary is damaged; load the table again",
                               decoding->stored->file->path, (unsigned long long)b);
    }
    dictionary_decoder_close(&decoder);
    return status;
}

static enum status load_blocks(struct stored_dictionary *stored, unsigned threads, struct error *error)
{
    const struct dictionary_blocks *const blocks = &stored->blocks;
    const uint64_t starts_bytes = (blocks->strings + UINT64_C(1)) * sizeof(uint64_t);
    RETURN_IF_ERROR(column_file_part_check(stored->file,
                                           column_file_part(stored->file, PART_DICTIONARY_BLOCKS, 0), error));
    RETURN_IF_ERROR(
        memory_take(&stored->memory, stored_dictionary_memory(stored) + 1, "a dictionary", error));
    huge_pages_prefer(stored->memory, stored_dictionary_memory(stored));
    struct decoding decoding = {
        .stored = stored, .starts = stored->memory, .text = (char *)stored->memory + starts_bytes};
    RETURN_IF_ERROR(parallel_for(threads, (blocks->block_count + BLOCKS_AT_ONCE - 1) / BLOCKS_AT_ONCE,
                                 decode_some, &decoding, error));
    decoding.starts[blocks->strings] = stored->text_bytes;
    stored->dictionary.starts = decoding.starts;
    stored->dictionary.bytes = decoding.text;
    return STATUS_OK;
}

enum status stored_dictionary_load(struct stored_dictionary *stored, unsigned threads, struct error *error)
{
    if (atomic_load_explicit(&stored->loaded, memory_order_acquire))
        return STATUS_OK;
    pthread_mutex_lock(&stored->lock);
    enum status status = open_locked(stored, error);
    if (status == STATUS_OK && !stored->loaded) {
        status = stored->blocks.directory ? load_blocks(stored, threads, error) : load_plain(stored, error);
        if (status == STATUS_OK) {
            atomic_store_explicit(&stored->loaded, true, memory_order_release);
        } else {
            free(stored->memory);
            stored->memory = NULL;
        }
    }
    pthread_mutex_unlock(&stored->lock);
    return status;
}

enum status column_dictionary(const struct column *column, unsigned threads,
                              const struct dictionary **dictionary, struct error *error)
{
    struct stored_dictionary *const stored = column->stored_dictionary;
    *dictionary = stored ? &stored->dictionary : column->memory_dictionary;
    return stored ? stored_dictionary_load(stored, threads, error) : STATUS_OK;
}

/* ---- Writing ---- */

/* Adds a part from a copy that is padded with zeros, as column_file_add requires. */
static enum status add_padded(struct column_file_writer *side, enum column_part_kind kind, uint32_t rows,
                              const void *bytes, uint64_t size, struct error *error)
{
    uint8_t *copy;
    RETURN_IF_ERROR(memory_zeros(&copy, part_padded(size) + 1, "a dictionary", error));
    if (size)
        memcpy(copy, bytes, size);
    const enum status status = column_file_add(side, kind, 0, rows, copy, size, error);
    free(copy);
    return status;
}

static enum status write_plain(struct column_file_writer *side, const struct dictionary *dictionary,
                               struct error *error)
{
    static const uint64_t no_starts[1] = {0};
    const uint64_t *const starts = dictionary->count ? dictionary->starts : no_starts;
    RETURN_IF_ERROR(add_padded(side, PART_DICTIONARY_STARTS, dictionary->count, starts,
                               ((uint64_t)dictionary->count + 1) * sizeof *starts, error));
    return add_padded(side, PART_DICTIONARY_BYTES, dictionary->count, dictionary->bytes,
                      starts[dictionary->count], error);
}

enum status stored_dictionary_write(struct column_file_writer *side, const struct dictionary *dictionary,
                                    bool *blocks, struct error *error)
{
    const uint32_t count = dictionary->count;
    const uint64_t starts = (count + UINT64_C(1)) * sizeof *dictionary->starts;
    const uint64_t text = count ? dictionary->starts[count] : 0;
    struct dictionary_encoding encoding;
    *blocks = false;
    if (starts + text < DICTIONARY_PLAIN_BYTES || count == 0)
        return write_plain(side, dictionary, error);
    enum status status = dictionary_encode(dictionary, &encoding, error);
    if (status == STATUS_OK) {
        const uint64_t directory = (encoding.block_count + UINT64_C(1)) * sizeof *encoding.directory;
        *blocks =
            part_padded(directory) + part_padded(encoding.bytes) < part_padded(starts) + part_padded(text);
        if (!*blocks)
            status = write_plain(side, dictionary, error);
        else
            status = column_file_add(side, PART_DICTIONARY_DIRECTORY, 0, count, encoding.directory, directory,
                                     error);
        if (status == STATUS_OK && *blocks)
            status = column_file_add(side, PART_DICTIONARY_BLOCKS, 0, count, encoding.blocks, encoding.bytes,
                                     error);
    }
    dictionary_encoding_free(&encoding);
    return status;
}
