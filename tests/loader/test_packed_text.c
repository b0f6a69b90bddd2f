/*
 * test_packed_text.c: rows of text in gzip, zstd, xz and bzip2, of several streams and files, come out as they went in;
 * files that are cut or damaged are refused.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/one_directory.h"
#include "tests/support/text_rows.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

static void xz_and_bzip2_are_read(const char *text, size_t bytes, const char *expected, char *packed)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    struct error error = {0};
    static const char *const files[] = {"long.csv.xz", "long.csv.bz2"};
    for (int kind = 0; kind < 2; kind++) {
        size_t packed_bytes = 0;
        for (int part = 0; part < 2; part++) { /* two streams after each other */
            const size_t from = part ? bytes / 3 : 0, to = part ? bytes : bytes / 3, room = 2 * bytes;
            unsigned int more = (unsigned int)(room - packed_bytes);
            if (kind == 0)
                assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL,
                                                         (const uint8_t *)text + from, to - from,
                                                         (uint8_t *)packed, &packed_bytes, room),
                                 LZMA_OK);
            else
                assert_int_equal(BZ2_bzBuffToBuffCompress(packed + packed_bytes, &more, (char *)text + from,
                                                          (unsigned int)(to - from), 1, 0, 0),
                                 BZ_OK);
            packed_bytes += kind ? more : 0;
        }
        const char *file = file_write(files[kind], packed, packed_bytes);
        char *got = read_all(&file, 1, &plain, &error);
        if (!got || strcmp(got, expected) != 0)
            fail_msg("%s: %s", files[kind], error.text);
        free(got);
        file = file_write("cut.csv", packed, packed_bytes - 5);
        free(read_all(&file, 1, &plain, &error));
        assert_non_null(strstr(error.text, "ends in the middle"));
        packed[packed_bytes / 2] ^= 0x55;
        file = file_write("damaged.csv", packed, packed_bytes);
        free(read_all(&file, 1, &plain, &error));
        assert_non_null(strstr(error.text, "data is damaged"));
    }
}

/* The same rows from one file, two files, gzip, zstd, xz and bzip2, across many block boundaries. */
static void long_files_compressed_files_and_several(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    struct error error = {0};
    (void)state;
    char *text = NULL, *expected = NULL;
    size_t bytes, expected_bytes;
    FILE *out = open_memstream(&text, &bytes), *rows = open_memstream(&expected, &expected_bytes);
    uint64_t random = 20261121;
    for (int row = 0; row < 150000; row++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const int kind = (int)(random >> 60);
        fprintf(out,
                kind == 0   ? "%d,\"q\"\"%d\n,\",x\n"
                : kind == 1 ? "%d,,\"%d\"\r\n"
                            : "%d,word%d,x\n",
                row, (int)(random >> 40));
        fprintf(rows,
                kind == 0   ? "%d/q\"%d\n,/x;"
                : kind == 1 ? "%d/~/%d;"
                            : "%d/word%d/x;",
                row, (int)(random >> 40));
    }
    fclose(out);
    fclose(rows);
    const char *file = file_write("long.csv", text, bytes);
    char *got = read_all(&file, 1, &plain, &error);
    assert_non_null(got);
    assert_true(strcmp(got, expected) == 0);
    free(got);

    char *packed = malloc(2 * bytes);
    xz_and_bzip2_are_read(text, bytes, expected, packed);
    size_t packed_bytes = ZSTD_compress(packed, 2 * bytes, text, bytes, 1);
    file = file_write("long.csv.zst", packed, packed_bytes);
    got = read_all(&file, 1, &plain, &error);
    assert_true(got && strcmp(got, expected) == 0);
    free(got);
    file = file_write("cut.csv.zst", packed, packed_bytes / 2);
    got = read_all(&file, 1, &plain, &error);
    assert_non_null(strstr(error.text, "cut.csv.zst"));
    free(got);

    char gz[PATH_BYTES + 64];
    snprintf(gz, sizeof gz, "%.*s/two.csv.gz", (int)(strlen(path) - 3), path);
    gzFile zipped = gzopen(gz, "wb");
    assert_int_equal(gzwrite(zipped, text, (unsigned)bytes), (int)bytes);
    gzclose(zipped);
    FILE *padded = fopen(gz, "ab"); /* as tapes do */
    assert_int_equal(fwrite("\0\0\0\0\0", 1, 5, padded), 5);
    fclose(padded);
    const char *const two[] = {gz, file_write("last.csv", "1,2,3", 5)};
    got = read_all(two, 2, &plain, &error);
    assert_non_null(got);
    assert_memory_equal(got, expected, expected_bytes);
    assert_string_equal(got + expected_bytes, "1/2/3;");
    free(got);
    free(packed);
    free(text);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_files_compressed_files_and_several),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
