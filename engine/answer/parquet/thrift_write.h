/*
 * thrift_write.h: writes structs in Thrift's compact protocol (drawn in loader/parquet/thrift.h) to a stream, whose
 * errors its owner sees when it is closed.
 *
 *     struct thrift_writer thrift = {.out = out};
 *     thrift_put_number(&thrift, 1, THRIFT_I32, 2);      fields of the outermost struct, their ids ascending
 *     thrift_begin(&thrift, 5);                          field 5 is a struct
 *     thrift_put_binary(&thrift, 1, "x", 1);
 *     thrift_end(&thrift);
 *     thrift_end(&thrift);                               the outermost struct's
 */
#ifndef TESSERA_ENGINE_ANSWER_PARQUET_THRIFT_WRITE_H
#define TESSERA_ENGINE_ANSWER_PARQUET_THRIFT_WRITE_H

#include "storage/base/parquet_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define THRIFT_WRITE_DEPTH 16u

struct thrift_writer {
    FILE *out;
    int32_t last[THRIFT_WRITE_DEPTH]; /* the id of the last field of each struct that is open */
    uint32_t depth;
};

/* `type` is THRIFT_I16, THRIFT_I32 or THRIFT_I64. */
void thrift_put_number(struct thrift_writer *thrift, int32_t id, enum thrift_type type, int64_t number);
void thrift_put_truth(struct thrift_writer *thrift, int32_t id, bool truth);
void thrift_put_binary(struct thrift_writer *thrift, int32_t id, const void *bytes, size_t count);

/* A list, whose elements come next: numbers, binaries, or structs, each of which ends with thrift_end. */
void thrift_put_list(struct thrift_writer *thrift, int32_t id, enum thrift_type type, uint64_t count);
void thrift_add_number(struct thrift_writer *thrift, int64_t number);
void thrift_add_binary(struct thrift_writer *thrift, const void *bytes, size_t count);
void thrift_add_begin(struct thrift_writer *thrift);

void thrift_begin(struct thrift_writer *thrift, int32_t id);
void thrift_end(struct thrift_writer *thrift);

#endif
