/*
 * flatbuffer_write.h: writes FlatBuffers, the encoding of what Arrow's files say about their columns (its specification:
 * https://flatbuffers.dev/internals). A buffer here has some hundred bytes a column.
 *
 *     root       u32: the distance to the root table
 *     table      u16: bytes of the vtable   u16: bytes of the table   for each field a u16: where it is in the table, 0: nowhere
 *                i32: the distance back to the vtable, which is just before it   the fields, each aligned to its size
 *     vector     u32: the number of elements   the elements
 *     string     u32: bytes   the bytes, and a zero
 *
 * Numbers are little-endian, and a reference is a u32, the distance forward to what it refers to. So a buffer is written
 * from its front to its end, and an object is told the place of the reference that leads to it. A root table with the
 * short 4 and the string "ab":
 *
 *     00   10 00 00 00               root: the table is 16 bytes further
 *     04   00 00 00 00               the table is aligned to 8
 *     08   08 00 0c 00 04 00 08 00   vtable: 8 bytes, of the table 12, its fields at 4 and 8
 *     10   08 00 00 00               table: the vtable is 8 bytes before
 *     14   04 00 00 00               the short, and padding
 *     18   04 00 00 00               the string is 4 bytes further
 *     1c   02 00 00 00 61 62 00
 */
#ifndef TESSERA_ENGINE_LIBRARY_IPC_FLATBUFFER_WRITE_H
#define TESSERA_ENGINE_LIBRARY_IPC_FLATBUFFER_WRITE_H

#include "engine/answer/print/cells.h"

#define FLAT_NOWHERE   SIZE_MAX
#define FLAT_REFERENCE 4u /* bytes of one */

/* Initialise it by name with `to`, at a multiple of 8 bytes in it, and `error`. After the first failure the calls do
 * nothing, and `status` is STATUS_MACHINE: no memory. */
struct flat_writer {
    struct text_space *to;
    enum status status;
    struct error *error;
};

/* A field of a table, in the order of its schema. */
struct flat_field {
    uint8_t
        bytes; /* 1, 2, 4 or 8; FLAT_REFERENCE: filled in when what it refers to is written; 0: the field is not there */
    int64_t number; /* of a reference 0 */
    size_t at;      /* out: the field's place */
};

/* Begins a buffer; gives the place of the reference to its root table. */
size_t flat_begin(struct flat_writer *flat);

/* Write an object to which the reference at `from` leads. */
void flat_put_table(struct flat_writer *flat, size_t from, struct flat_field *fields, uint32_t count);
void flat_put_string(struct flat_writer *flat, size_t from, const char *text);
/* Elements of 8 bytes and more are aligned to 8. `elements` NULL: zeros. Gives the place of the first. */
size_t flat_put_vector(struct flat_writer *flat, size_t from, const void *elements, uint32_t count,
                       uint32_t bytes);

#endif
