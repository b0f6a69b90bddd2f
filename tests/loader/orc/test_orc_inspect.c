/* test_orc_inspect.c: what `tessera inspect FILE.orc` says, as tables and as JSON. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/loader/columnar/inspect_cases.h"

#include <jansson.h>

static void tables_tell_writer_stripes_and_columns(void **state)
{
    (void)state;
    inspects_in("orc", "pyarrow-stripes-0.11.orc", 0);
    tells("pyarrow-stripes-0.11.orc: ORC 0.11 by ORC C++ 2.2.2 (writer version 6), zlib in chunks of 65536 "
          "bytes\n"
          "  192 rows, 2 stripes, 6");
    tells("\n  2                ");
    tells("moment                   timestamp        DIRECT               ");
    inspects_in("orc", "pyorc-types.orc", 0);
    tells("snappy in chunks");
    tells("  price                    decimal(12,2)    DIRECT_V2                       461     46.100  DATA "
          "395, SECONDARY "
          "7, ROW_INDEX 59\n");
    tells("char(7)          DICTIONARY_V2");
    tells("; 8 strings");
    tells("unused_map.key ");
    tells("unused_struct.b ");
    inspects_in("orc", "pyarrow-rows-0.12-uncompressed.orc", 0);
    tells("not compressed\n");
}

static void json_has_every_stream(void **state)
{
    (void)state;
    inspects_in("orc", "--format json pyarrow-stripes-0.12.orc", 0);
    json_t *const root = json_loads(run.output, 0, NULL);
    const char *version, *compression;
    json_int_t rows, bytes, data = 0, sum = 0;
    json_t *columns, *stripes, *streams, *stream;
    size_t s;
    const char *kind;
    assert_int_equal(json_unpack(root, "{s:s, s:s, s:I, s:I, s:o, s:o}", "version", &version, "compression",
                                 &compression, "rows", &rows, "bytes", &bytes, "stripes", &stripes, "columns",
                                 &columns),
                     0);
    assert_string_equal(version, "0.12");
    assert_string_equal(compression, "zlib");
    assert_int_equal(rows, 192);
    assert_int_equal(json_array_size(stripes), 2);
    assert_int_equal(json_array_size(columns), 11);
    for (size_t c = 0; c < 11; c++)
        for (s = 0; s < 2; s++) {
            streams = json_object_get(
                json_array_get(json_object_get(json_array_get(columns, c), "stripes"), s), "streams");
            json_object_foreach(streams, kind, stream) sum += json_integer_value(stream);
        }
    for (s = 0; s < 2; s++)
        data += json_integer_value(json_object_get(json_array_get(stripes, s), "data_bytes")) +
                json_integer_value(json_object_get(json_array_get(stripes, s), "index_bytes"));
    assert_in_range(sum, data - 100, data); /* the root has a stream, too */
    assert_in_range(bytes, data, data + 3000);
    json_decref(root);
}

static void what_is_no_file_is_told(void **state)
{
    (void)state;
    inspects_in("orc", "nothing.orc", 2);
    tells("which database? Add --db DIR (there is no file 'nothing.orc')");
    inspects_in("orc", "", 2);
    tells("which database? Add --db DIR, or give an ORC or Parquet file");
    inspects_in("orc", "rows.csv", 2);
    tells("rows.csv: is no ORC file and no Parquet file, or is not whole");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_tell_writer_stripes_and_columns),
        cmocka_unit_test(json_has_every_stream),
        cmocka_unit_test(what_is_no_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
