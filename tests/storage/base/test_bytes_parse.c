/* test_bytes_parse.c: numbers of bytes as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/bytes_parse.h"

#include <string.h>

static void units_are_powers_of_1024(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {{"0", 0},
                 {"1", 1},
                 {"1023b", 1023},
                 {"64K", 65536},
                 {"64kb", 65536},
                 {"64KiB", 65536},
                 {"512M", UINT64_C(512) << 20},
                 {"1.5g", UINT64_C(3) << 29},
                 {"4G", UINT64_C(4) << 30},
                 {"2TiB", UINT64_C(2) << 40}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 7;
        assert_int_equal(bytes_parse(cases[i].text, "--gpu-memory", &bytes, NULL), STATUS_OK);
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void other_texts_are_refused(void **state)
{
    static const char *const texts[] = {"",    "G",     "-1",   "+1",  " 1",        "4X",    "4 G",
                                        "4GG", "4Gib ", "0x1g", "nan", "99999999T", "1e300", "1,5G"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = {0};
        uint64_t bytes;
        const enum status status = bytes_parse(texts[i], "--gpu-memory", &bytes, &error);
        if (status != STATUS_BAD_INPUT)
            fail_msg("'%s' is taken", texts[i]);
        assert_non_null(strstr(error.text, "--gpu-memory"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_powers_of_1024),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
