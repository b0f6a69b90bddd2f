/* thrift.c: see thrift.h. */
#include "loader/parquet/thrift.h"

#include "storage/base/parquet_numbers.h"

#include <stddef.h>

/* Parquet's metadata nest 6 deep. */
#define DEPTH_MAX 32u

static uint8_t byte(struct thrift *thrift)
{
    thrift->bad |= thrift->at == thrift->end;
    return thrift->bad ? 0 : *thrift->at++;
}

static uint64_t base_128(struct thrift *thrift)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t digit = byte(thrift);
        number |= (uint64_t)(digit & 127) << shift;
        if (digit < 128)
            return thrift->bad ? 0 : number;
    }
    thrift->bad = true;
    return 0;
}

static int64_t zigzag(struct thrift *thrift)
{
    const uint64_t coded = base_128(thrift);
    return (int64_t)(coded >> 1 ^ (0 - (coded & 1)));
}

static void expect(struct thrift *thrift, bool right)
{
    thrift->bad |= !right;
}

static void advance(struct thrift *thrift, uint64_t bytes)
{
    expect(thrift, bytes <= (uint64_t)(thrift->end - thrift->at));
    thrift->at += thrift->bad ? 0 : bytes;
}

bool thrift_next(struct thrift *thrift, struct thrift_field *field)
{
    const uint8_t head = byte(thrift);
    field->type = head & 15;
    if (field->type == THRIFT_STOP)
        return false;
    const int64_t id = head >> 4 ? field->id + (head >> 4) : zigzag(thrift);
    expect(thrift, id == (int16_t)id);
    field->id = thrift->bad ? 0 : (int32_t)id;
    return !thrift->bad;
}

int64_t thrift_number(struct thrift *thrift, const struct thrift_field *field)
{
    if (field->type == THRIFT_BYTE)
        return (int8_t)byte(thrift);
    expect(thrift, field->type == THRIFT_I16 || field->type == THRIFT_I32 || field->type == THRIFT_I64);
    const int64_t number = zigzag(thrift);
    expect(thrift, field->type == THRIFT_I64 || number == (int32_t)number);
    return thrift->bad ? 0 : number;
}

bool thrift_truth(struct thrift *thrift, const struct thrift_field *field)
{
    expect(thrift, field->type == THRIFT_TRUE || field->type == THRIFT_FALSE);
    return !thrift->bad && field->type == THRIFT_TRUE;
}

const char *thrift_binary(struct thrift *thrift, const struct thrift_field *field, uint32_t *length)
{
    expect(thrift, field->type == THRIFT_BINARY);
    const uint64_t bytes = base_128(thrift);
    expect(thrift, bytes <= INT32_MAX);
    const uint8_t *const begin = thrift->at;
    advance(thrift, bytes);
    *length = thrift->bad ? 0 : (uint32_t)bytes;
    return thrift->bad ? "" : (const char *)begin;
}

void thrift_struct(struct thrift *thrift, const struct thrift_field *field)
{
    expect(thrift, field->type == THRIFT_STRUCT);
}

void thrift_list(struct thrift *thrift, const struct thrift_field *field, struct thrift_field *element,
                 uint32_t *count)
{
    expect(thrift, field->type == THRIFT_LIST || field->type == THRIFT_SET);
    const uint8_t head = byte(thrift);
    const uint64_t elements = head >> 4 < 15 ? head >> 4 : base_128(thrift);
    *element = (struct thrift_field){.type = head & 15};
    expect(thrift, elements <= (uint64_t)(thrift->end - thrift->at) && elements <= INT32_MAX);
    *count = thrift->bad ? 0 : (uint32_t)elements;
}

static void skip(struct thrift *thrift, uint32_t type, bool in_list, uint32_t depth);

static void skip_struct(struct thrift *thrift, uint32_t depth)
{
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);)
        skip(thrift, field.type, false, depth + 1);
}

static void skip_map(struct thrift *thrift, uint32_t depth)
{
    const uint64_t pairs = base_128(thrift);
    const uint8_t types = pairs ? byte(thrift) : 0;
    for (uint64_t p = 0; p < pairs && !thrift->bad; p++) {
        skip(thrift, types >> 4, true, depth + 1);
        skip(thrift, types & 15, true, depth + 1);
    }
}

static void skip(struct thrift *thrift, uint32_t type, bool in_list, uint32_t depth)
{
    struct thrift_field element;
    uint32_t count;
    expect(thrift, depth < DEPTH_MAX);
    if (thrift->bad)
        return;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        advance(thrift, in_list);
        return;
    case THRIFT_BYTE:
        advance(thrift, 1);
        return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        base_128(thrift);
        return;
    case THRIFT_DOUBLE:
        advance(thrift, 8);
        return;
    case THRIFT_UUID:
        advance(thrift, 16);
        return;
    case THRIFT_BINARY:
        advance(thrift, base_128(thrift));
        return;
    case THRIFT_LIST:
    case THRIFT_SET:
        thrift_list(thrift, &(struct thrift_field){.type = type}, &element, &count);
        for (uint32_t e = 0; e < count && !thrift->bad; e++)
            skip(thrift, element.type, true, depth + 1);
        return;
    case THRIFT_MAP:
        skip_map(thrift, depth);
        return;
    case THRIFT_STRUCT:
        skip_struct(thrift, depth);
        return;
    default:
        expect(thrift, false);
    }
}

void thrift_skip(struct thrift *thrift, const struct thrift_field *field)
{
    skip(thrift, field->type, false, 0);
}
