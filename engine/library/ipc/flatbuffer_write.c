/* flatbuffer_write.c: see flatbuffer_write.h. */
#include "engine/library/ipc/flatbuffer_write.h"

#include <string.h>

/* Room for `bytes` zeros, so aligned that what follows the first `lead` of them is at a multiple of `align`. Gives where
 * they begin. */
static size_t make_room(struct flat_writer *flat, size_t lead, size_t align, size_t bytes)
{
    struct text_space *const to = flat->to;
    const size_t padding = -(to->used + lead) % align, begin = to->used + padding;
    if (flat->status == STATUS_OK)
        flat->status = text_space_reserve(to, padding + bytes, flat->error);
    if (flat->status != STATUS_OK)
        return FLAT_NOWHERE;
    memset(to->bytes + to->used, 0, padding + bytes);
    to->used = begin + bytes;
    return begin;
}

static void put(struct flat_writer *flat, size_t at, const void *bytes, size_t count)
{
    memcpy(flat->to->bytes + at, bytes, count);
}

static void put_number(struct flat_writer *flat, size_t at, uint64_t number, size_t bytes)
{
    put(flat, at, &number, bytes); /* the least byte first, as this machine has it */
}

static void refer(struct flat_writer *flat, size_t from, size_t to)
{
    put_number(flat, from, to - from, 4);
}

size_t flat_begin(struct flat_writer *flat)
{
    return make_room(flat, 0, 8, 4);
}

void flat_put_table(struct flat_writer *flat, size_t from, struct flat_field *fields, uint32_t count)
{
    uint32_t bytes = 4;
    for (uint32_t f = 0; f < count; f++)
        if (fields[f].bytes) {
            fields[f].at = (bytes + fields[f].bytes - 1) / fields[f].bytes * fields[f].bytes;
            bytes = (uint32_t)fields[f].at + fields[f].bytes;
        }
    const size_t vtable_bytes = 4 + 2 * count,
                 vtable = make_room(flat, vtable_bytes, 8, vtable_bytes + bytes),
                 table = vtable + vtable_bytes;
    if (vtable == FLAT_NOWHERE)
        return;
    refer(flat, from, table);
    put_number(flat, vtable, vtable_bytes, 2);
    put_number(flat, vtable + 2, bytes, 2);
    put_number(flat, table, vtable_bytes, 4);
    for (uint32_t f = 0; f < count; f++)
        if (fields[f].bytes) {
            put_number(flat, vtable + 4 + 2 * f, fields[f].at, 2);
            fields[f].at += table;
            put_number(flat, fields[f].at, (uint64_t)fields[f].number, fields[f].bytes);
        }
}

size_t flat_put_vector(struct flat_writer *flat, size_t from, const void *elements, uint32_t count,
                       uint32_t bytes)
{
    const size_t vector = make_room(flat, 4, bytes < 8 ? 4 : 8, 4 + (size_t)count * bytes);
    if (vector == FLAT_NOWHERE)
        return 0;
    refer(flat, from, vector);
    put_number(flat, vector, count, 4);
    if (elements && count)
        put(flat, vector + 4, elements, (size_t)count * bytes);
    return vector + 4;
}

void flat_put_string(struct flat_writer *flat, size_t from, const char *text)
{
    const size_t bytes = strlen(text), string = make_room(flat, 0, 4, 4 + bytes + 1);
    if (string == FLAT_NOWHERE)
        return;
    refer(flat, from, string);
    put_number(flat, string, bytes, 4);
    put(flat, string + 4, text, bytes);
}
