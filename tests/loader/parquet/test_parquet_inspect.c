/* test_parquet_inspect.c: what `tessera inspect FILE.parquet` says, as tables and as JSON. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/loader/columnar/inspect_cases.h"

#include <jansson.h>

static void tables_tell_writer_groups_and_columns(void **state)
{
    (void)state;
    inspects_in("parquet", "pyarrow-stripes-groups.parquet", 0);
    tells("pyarrow-stripes-groups.parquet: Parquet 2 by parquet-cpp-arrow version 26.0.1\n"
          "  192 rows, 3 row groups, 1");
    tells("\n  3                    64 ");
    tells("  price                    decimal(12,2)          snappy ");
    tells("PLAIN, RLE, RLE_DICTIONARY\n");
    inspects_in("parquet", "pyarrow-types.parquet", 0);
    tells("  numbers.list.element     int32 ");
    tells("  utc                      timestamp(micros, UTC) ");
    inspects_in("parquet", "hand-old.parquet", 0);
    tells(": Parquet 1 by by hand\n");
}

static void json_has_every_chunk(void **state)
{
    (void)state;
    inspects_in("parquet", "--format json pyarrow-full-delta.parquet", 0);
    json_t *const root = json_loads(run.output, 0, NULL), *columns, *groups;
    const char *compression, *encodings;
    json_int_t rows, bytes, chunk, sum = 0;
    assert_int_equal(json_unpack(root, "{s:I, s:I, s:o, s:o}", "rows", &rows, "bytes", &bytes, "columns",
                                 &columns, "row_groups", &groups),
                     0);
    assert_int_equal(rows, 150);
    assert_int_equal(json_array_size(groups), 1);
    assert_int_equal(json_array_size(columns), 11);
    for (size_t c = 0; c < 11; c++) {
        json_t *const own = json_object_get(json_array_get(columns, c), "row_groups");
        assert_int_equal(json_array_size(own), 1);
        assert_int_equal(json_unpack(json_array_get(own, 0), "{s:I, s:s, s:s}", "bytes", &chunk,
                                     "compression", &compression, "encodings", &encodings),
                         0);
        assert_string_equal(compression, "snappy");
        sum += chunk;
    }
    assert_string_equal(encodings, "RLE, DELTA_LENGTH_BYTE_ARRAY");
    assert_in_range(sum, 1000, bytes);
    json_decref(root);
}

static void damage_is_told(void **state)
{
    (void)state;
    inspects_in("parquet", "make.py", 2);
    tells("make.py: is no ORC file and no Parquet file, or is not whole");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_tell_writer_groups_and_columns),
        cmocka_unit_test(json_has_every_chunk),
        cmocka_unit_test(damage_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
