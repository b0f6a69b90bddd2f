/* thrift_write.c: see thrift_write.h. */
#include "engine/answer/parquet/thrift_write.h"

static void base_128(struct thrift_writer *thrift, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        putc((int)(number & 127) | 128, thrift->out);
    putc((int)number, thrift->out);
}

/* 0 -1 1 -2 as 0 1 2 3 */
static void zigzag(struct thrift_writer *thrift, int64_t number)
{
    base_128(thrift, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void head(struct thrift_writer *thrift, int32_t id, enum thrift_type type)
{
    int32_t *const last = &thrift->last[thrift->depth];
    if (id - *last <= 15) {
        putc((id - *last) << 4 | (int)type, thrift->out);
    } else {
        putc((int)type, thrift->out);
        zigzag(thrift, id);
    }
    *last = id;
}

void thrift_put_number(struct thrift_writer *thrift, int32_t id, enum thrift_type type, int64_t number)
{
    head(thrift, id, type);
    zigzag(thrift, number);
}

void thrift_put_truth(struct thrift_writer *thrift, int32_t id, bool truth)
{
    head(thrift, id, truth ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_put_binary(struct thrift_writer *thrift, int32_t id, const void *bytes, size_t count)
{
    head(thrift, id, THRIFT_BINARY);
    thrift_add_binary(thrift, bytes, count);
}

void thrift_put_list(struct thrift_writer *thrift, int32_t id, enum thrift_type type, uint64_t count)
{
    head(thrift, id, THRIFT_LIST);
    putc((int)(count < 15 ? count : 15) << 4 | (int)type, thrift->out);
    if (count >= 15)
        base_128(thrift, count);
}

void thrift_add_number(struct thrift_writer *thrift, int64_t number)
{
    zigzag(thrift, number);
}

void thrift_add_binary(struct thrift_writer *thrift, const void *bytes, size_t count)
{
    base_128(thrift, count);
    fwrite(bytes, 1, count, thrift->out);
}

void thrift_add_begin(struct thrift_writer *thrift)
{
    thrift->last[++thrift->depth] = 0;
}

void thrift_begin(struct thrift_writer *thrift, int32_t id)
{
    head(thrift, id, THRIFT_STRUCT);
    thrift_add_begin(thrift);
}

void thrift_end(struct thrift_writer *thrift)
{
    putc(THRIFT_STOP, thrift->out);
    thrift->depth -= thrift->depth > 0;
}
