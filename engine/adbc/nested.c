/* nested.c: see nested.h. */
#define _POSIX_C_SOURCE 200809L
#include "engine/adbc/nested.h"
#include "engine/library/arrow_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct nested *nested_make(const char *format, const char *name, uint32_t count,
                           struct nested *const *children)
{
    struct nested *const node = calloc(1, sizeof *node);
    bool made = node != NULL;
    if (made) {
        *node = (struct nested){.format = format, .name = name, .child_count = count};
        node->children = calloc(count + 1, sizeof *node->children);
        made = node->children != NULL;
    }
    for (uint32_t c = 0; c < count; c++) {
        made = made && children[c];
        if (node && node->children)
            node->children[c] = children[c];
        else
            nested_free(children[c]);
    }
    if (made)
        return node;
    nested_free(node);
    return NULL;
}

void nested_free(struct nested *node)
{
    if (!node)
        return;
    for (uint32_t c = 0; node->children && c < node->child_count; c++)
        nested_free(node->children[c]);
    free(node->children);
    free(node->valid.bytes);
    free(node->values.bytes);
    free(node->text.bytes);
    free(node);
}

/* ---- Rows ---- */

static void append(struct nested *node, struct nested_bytes *to, const void *from, size_t count)
{
    if (to->count + count > to->room) {
        const size_t room = 2 * (to->count + count) + 64;
        uint8_t *const bytes = realloc(to->bytes, room);
        if (!bytes) {
            node->failed = true;
            return;
        }
        to->bytes = bytes;
        to->room = room;
    }
    if (count)
        memcpy(to->bytes + to->count, from, count);
    to->count += count;
}

static void append_row(struct nested *node, bool valid)
{
    append(node, &node->valid, &(uint8_t){valid}, 1);
    node->length++;
    node->nulls += !valid;
}

static bool is_list(const struct nested *node)
{
    return strcmp(node->format, "+l") == 0 || strcmp(node->format, "+m") == 0;
}

/* The end of the row's text, or of its list. Where the first begins is added when the array is made. */
static void append_offset(struct nested *node, size_t offset)
{
    append(node, &node->values, &(int32_t){(int32_t)offset}, sizeof(int32_t));
}

void nested_text(struct nested *node, const char *text)
{
    append(node, &node->text, text, text ? strlen(text) : 0);
    append_offset(node, node->text.count);
    append_row(node, text != NULL);
}

/* Bytes of a number; a truth value has one until the array is made. */
static size_t number_bytes(const struct nested *node)
{
    return node->format[0] == 'l' ? 8 : node->format[0] == 's' ? 2 : node->format[0] == 'b' ? 1 : 4;
}

void nested_number(struct nested *node, int64_t number)
{
    append(node, &node->values, &number, number_bytes(node)); /* little-endian: the low bytes come first */
    append_row(node, true);
}

void nested_null(struct nested *node)
{
    static const int64_t zero;
    if (node->format[0] == 'u') {
        nested_text(node, NULL);
        return;
    }
    if (is_list(node))
        append_offset(node, (size_t)node->children[0]->length);
    else if (node->format[0] != '+')
        append(node, &node->values, &zero, number_bytes(node));
    for (uint32_t c = 0; node->format[0] == '+' && !is_list(node) && c < node->child_count; c++)
        nested_null(node->children[c]);
    append_row(node, false);
}

void nested_end(struct nested *node)
{
    if (is_list(node))
        append_offset(node, (size_t)node->children[0]->length);
    append_row(node, true);
}

void nested_choice(struct nested *node, uint32_t which)
{
    append(node, &node->text, &(int8_t){(int8_t)which}, 1);
    append_offset(node, (size_t)node->children[which]->length - 1);
    append_row(node, true);
}

/* ---- The stream ---- */

static bool make_schema(const struct nested *node, struct ArrowSchema *schema)
{
    const size_t length = strlen(node->name);
    const bool whole = length && node->name[length - 1] == '!';
    char *const name = malloc(length + 1 + strlen(node->format) + 1), *const format = name + length + 1;
    *schema = (struct ArrowSchema){.format = format,
                                   .name = name,
                                   .flags = whole ? 0 : ARROW_FLAG_NULLABLE,
                                   .release = arrow_schema_release,
                                   .private_data = name};
    schema->children = calloc(node->child_count + 1, sizeof *schema->children);
    if (!name || !schema->children)
        return false;
    memcpy(name, node->name, length + 1);
    strcpy(format, node->format);
    if (whole)
        name[length - 1] = '\0';
    for (uint32_t c = 0; c < node->child_count; c++) {
        schema->children[c] = calloc(1, sizeof **schema->children);
        schema->n_children = c + (schema->children[c] != NULL);
        if (!schema->children[c] || !make_schema(node->children[c], schema->children[c]))
            return false;
    }
    return true;
}

struct array_memory {
    const void *buffers[3];
};

static void release_array(struct ArrowArray *array)
{
    struct array_memory *const memory = array->private_data;
    for (int64_t c = 0; c < array->n_children; c++) {
        if (array->children[c] && array->children[c]->release)
            array->children[c]->release(array->children[c]);
        free(array->children[c]);
    }
    free(array->children);
    for (int b = 0; memory && b < 3; b++)
        free((void *)memory->buffers[b]);
    free(memory);
    array->release = NULL;
}

/* Offsets with the 0 at which the first row begins, or a copy of `bytes`. */
static void *copy_values(const struct nested_bytes *bytes, bool offsets)
{
    uint8_t *const copy = calloc(bytes->count + 8, 1);
    if (copy && bytes->count)
        memcpy(copy + (offsets ? sizeof(int32_t) : 0), bytes->bytes, bytes->count);
    return copy;
}

static uint8_t *copy_bits(const struct nested_bytes *bytes)
{
    uint8_t *const bits = calloc(bytes->count / 8 + 8, 1);
    for (size_t row = 0; bits && row < bytes->count; row++)
        bits[row / 8] |= (uint8_t)((bytes->bytes[row] != 0) << row % 8);
    return bits;
}

/* Fills the node's buffers, as many as its format has. */
static bool make_buffers(const struct nested *node, const void **buffers, int64_t *count)
{
    bool made = true;
    if (strncmp(node->format, "+u", 2) == 0) {
        *count = 2;
        buffers[0] = copy_values(&node->text, false);
        buffers[1] = copy_values(&node->values, false);
        return buffers[0] && buffers[1];
    }
    if (node->nulls)
        made = (buffers[0] = copy_bits(&node->valid)) != NULL;
    *count = strcmp(node->format, "+s") == 0 ? 1 : node->format[0] == 'u' ? 3 : 2;
    if (*count >= 2)
        made = (buffers[1] = node->format[0] == 'b'
                                 ? (void *)copy_bits(&node->values)
                                 : copy_values(&node->values, node->format[0] == 'u' || is_list(node))) &&
               made;
    if (*count == 3)
        made = (buffers[2] = copy_values(&node->text, false)) && made;
    return made;
}

static bool make_array(const struct nested *node, struct ArrowArray *array)
{
    struct array_memory *const memory = calloc(1, sizeof *memory);
    const bool is_union = strncmp(node->format, "+u", 2) == 0;
    *array = (struct ArrowArray){.length = node->length,
                                 .null_count = is_union ? 0 : node->nulls,
                                 .release = release_array,
                                 .private_data = memory};
    array->children = calloc(node->child_count + 1, sizeof *array->children);
    if (!memory || !array->children || node->failed)
        return false;
    array->buffers = memory->buffers;
    array->n_children = node->child_count;
    bool made = make_buffers(node, memory->buffers, &array->n_buffers);
    for (uint32_t c = 0; made && c < node->child_count; c++) {
        array->children[c] = calloc(1, sizeof **array->children);
        made = array->children[c] && make_array(node->children[c], array->children[c]);
    }
    return made;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    if (make_schema(stream->private_data, schema))
        return 0;
    schema->release(schema);
    return ENOMEM;
}

/* The first call gives all rows; the stream's tree is empty after it. */
static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct nested *const root = stream->private_data;
    *array = (struct ArrowArray){0};
    if (root->length < 0)
        return 0;
    if (!make_array(root, array)) {
        array->release(array);
        return ENOMEM;
    }
    root->length = -1;
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    nested_free(stream->private_data);
    stream->release = NULL;
}

bool nested_stream(struct nested *root, struct ArrowArrayStream *stream)
{
    if (!root)
        return false;
    *stream = (struct ArrowArrayStream){.get_schema = stream_schema,
                                        .get_next = stream_next,
                                        .get_last_error = stream_error,
                                        .release = release_stream,
                                        .private_data = root};
    return true;
}
