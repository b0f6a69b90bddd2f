/*
 * thrift.h: reads structs in Thrift's compact protocol, in which the metadata of Parquet files is. The bytes may be
 * hostile: a reader never leaves them, bounds what nests, and remembers that something was wrong.
 *
 *     struct     fields, then 0x00
 *     field      a byte: id - last id in the high half, type in the low half     0x15 0x06: field 1, i32 3
 *                or 0 in the high half, type, and the id as a number
 *     number     base 128, least digit first, zigzag: 0 -1 1 -2 as 0 1 2 3
 *     binary     a length in base 128, then its bytes
 *     list       a byte: count (15: it follows in base 128) and type of its elements, then the elements
 *
 *     struct thrift thrift = {bytes, bytes + count, false};
 *     for (struct thrift_field field = {0}; thrift_next(&thrift, &field);)
 *         if (field.id == 1)
 *             rows = thrift_number(&thrift, &field);
 *         else
 *             thrift_skip(&thrift, &field);
 *     if (thrift.bad) ...
 *
 * After the first wrong byte nothing is read any more: thrift_next returns false, numbers are 0, and lists empty.
 */
#ifndef TESSERA_LOADER_PARQUET_THRIFT_H
#define TESSERA_LOADER_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

struct thrift {
    const uint8_t *at, *end;
    bool bad;
};

struct thrift_field {
    int32_t id;
    uint32_t type;
};

/* Reads the next field's head; false at the end of the struct. Its value must be read, or skipped, before the next
 * call. */
bool thrift_next(struct thrift *thrift, struct thrift_field *field);

/* The value of a field, which must have such a type. A binary's bytes stay in the reader's memory. */
int64_t thrift_number(struct thrift *thrift, const struct thrift_field *field);
bool thrift_truth(struct thrift *thrift, const struct thrift_field *field);
const char *thrift_binary(struct thrift *thrift, const struct thrift_field *field, uint32_t *length);

/* Begins a struct, whose fields come next. */
void thrift_struct(struct thrift *thrift, const struct thrift_field *field);

/* Begins a list, whose elements come next; each is a field without an id. *count is at most the bytes that are left. */
void thrift_list(struct thrift *thrift, const struct thrift_field *field, struct thrift_field *element,
                 uint32_t *count);

void thrift_skip(struct thrift *thrift, const struct thrift_field *field);

#endif
