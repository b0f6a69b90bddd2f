/* test_flatbuffer_write.c: the bytes that flatbuffer_write.h draws, fields of all sizes and none, and vectors.
 * Whole files are read by pyarrow in tests/engine/program/test_arrow_written.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/ipc/flatbuffer_write.h"

#include <stdlib.h>
#include <string.h>

static void bytes_are(const struct text_space *space, const void *bytes, size_t count)
{
    assert_int_equal(space->used, count);
    assert_memory_equal(space->bytes, bytes, count);
}

static void the_drawing_is_what_is_written(void **state)
{
    static const uint8_t drawn[] = {0x10, 0, 0, 0, 0, 0, 0, 0, 8, 0, 12, 0, 4, 0, 8,   0,   8, 0,
                                    0,    0, 4, 0, 0, 0, 4, 0, 0, 0, 2,  0, 0, 0, 'a', 'b', 0};
    struct text_space space = {0};
    struct error error;
    struct flat_writer flat = {.to = &space, .error = &error};
    struct flat_field fields[] = {{.bytes = 2, .number = 4}, {.bytes = FLAT_REFERENCE}};
    (void)state;
    flat_put_table(&flat, flat_begin(&flat), fields, 2);
    flat_put_string(&flat, fields[1].at, "ab");
    assert_int_equal(flat.status, STATUS_OK);
    bytes_are(&space, drawn, sizeof drawn);
    free(space.bytes);
}

/* A field that is not there has no place; each is aligned to its size, and structs to 8 bytes. */
static void fields_and_elements_are_aligned(void **state)
{
    static const uint64_t element[] = {1, UINT64_MAX};
    struct text_space space = {0};
    struct error error;
    struct flat_writer flat = {.to = &space, .error = &error};
    struct flat_field fields[] = {{.bytes = 1, .number = -1},
                                  {.bytes = 0, .number = 7},
                                  {.bytes = 8, .number = -2},
                                  {.bytes = FLAT_REFERENCE}};
    uint16_t place;
    uint32_t count, distance;
    (void)state;
    flat_put_table(&flat, flat_begin(&flat), fields, 4);
    const size_t first = flat_put_vector(&flat, fields[3].at, element, 1, sizeof element);
    assert_int_equal(flat.status, STATUS_OK);
    assert_int_equal(fields[2].at % 8, 0);
    assert_int_equal(first % 8, 0);
    assert_memory_equal(space.bytes + first, element, sizeof element);
    memcpy(&count, space.bytes + first - 4, sizeof count);
    assert_int_equal(count, 1);
    memcpy(&distance, space.bytes + fields[3].at, sizeof distance);
    assert_int_equal(fields[3].at + distance, first - 4);
    memcpy(&distance, space.bytes,
           sizeof distance); /* the table, before which its vtable of 4 + 2 * 4 bytes is */
    memcpy(&place, space.bytes + distance - 12 + 6, sizeof place);
    assert_int_equal(place, 0);
    memcpy(&place, space.bytes + distance - 12 + 8, sizeof place);
    assert_int_equal(distance + place, fields[2].at);
    assert_int_equal(space.bytes[fields[0].at], (char)-1);
    free(space.bytes);
}

static void a_table_without_fields_is_one(void **state)
{
    struct text_space space = {0};
    struct error error;
    struct flat_writer flat = {.to = &space, .error = &error};
    (void)state;
    flat_put_table(&flat, flat_begin(&flat), NULL, 0);
    uint32_t table;
    memcpy(&table, space.bytes, sizeof table);
    assert_int_equal(table % 8, 0);
    assert_int_equal(space.used, table + 4);
    free(space.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_drawing_is_what_is_written),
                                       cmocka_unit_test(fields_and_elements_are_aligned),
                                       cmocka_unit_test(a_table_without_fields_is_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
