/*
 * test_text_encoding.c: text in other encodings gives the rows that its UTF-8 gives, wherever blocks end; bytes that are no
 * character make a bad row, which is told by its line; a byte order mark says what a file is.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/text/text_encoding.h"
#include "tests/support/one_directory.h"
#include "tests/support/text_rows.h"

#include <iconv.h>

#define TEXT_ROOM (8u << 20)

#define BYTES(text) (text), sizeof(text) - 1 /* of a text with zeros in it */

/* Rows with characters of 1 to 4 bytes and quotes; `rare` has some that few encodings have. */
static size_t rows_make(char *text, uint32_t rows, bool rare)
{
    size_t length = (size_t)sprintf(text, "b,größe,c\n");
    for (uint32_t r = 0; r < rows; r++)
        length += (size_t)sprintf(text + length, r % 7 ? "%u,Köln%s,\"ü\"\"\nß%u\"\n" : "%u,,plain %s%u\n", r,
                                  rare && r % 3 ? "😀漢字 ∑" : "é", r * r);
    return length;
}

static size_t convert(const char *encoding, char *from, size_t length, char *to)
{
    const iconv_t conversion = iconv_open(encoding, "UTF-8");
    char *const begin = to;
    size_t room = TEXT_ROOM;
    assert_true(conversion != (iconv_t)-1);
    assert_int_equal(iconv(conversion, &from, &length, &to, &room), 0);
    assert_int_equal(iconv(conversion, NULL, NULL, &to, &room), 0);
    iconv_close(conversion);
    return (size_t)(to - begin);
}

static char *rows_of(const char *bytes, size_t length, const char *encoding, size_t block)
{
    const struct text_options options = {
        .delimiter = ',', .header = TEXT_HEADER_YES, .columns = "b,a,c", .encoding = encoding};
    struct error error = {0};
    const char *const file = file_write("t.csv", bytes, length);
    char *const rows = read_all_sized(&file, 1, &options, block, &error);
    if (!rows || strstr(rows, "ERROR"))
        fail_msg("%s: %s", encoding ? encoding : "no encoding", error.text);
    return rows;
}

static void every_encoding_gives_the_same_rows(void **state)
{
    static const struct {
        const char *name, *iconv;
        bool rare, by_table;
    } encodings[] = {{"latin-1", "LATIN1", false, true},
                     {"windows-1252", "CP1252", false, true},
                     {"ISO_8859-15", "ISO-8859-15", false, true},
                     {"cp1258", "CP1258", false, false}, /* a letter may change by the next byte */
                     {"IBM1047", "IBM1047", false, false},
                     {"utf-16", "UTF-16", true, false},
                     {"utf-16", "UTF-16BE//", true, false},
                     {"UTF16LE", "UTF-16LE", true, false},
                     {"utf-32", "UTF-32", true, false},
                     {"gb18030", "GB18030", true, false},
                     {"utf-7", "UTF-7", true, false},
                     {"iso-2022-jp-3", "ISO-2022-JP-3", false, false}};
    static const uint32_t counts[] = {0, 1, 31, 1023, 1025, 30000};
    char *const text = malloc(TEXT_ROOM), *const other = malloc(TEXT_ROOM);
    (void)state;
    for (size_t e = 0; e < sizeof encodings / sizeof *encodings; e++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct text_encoding found;
            struct error error = {0};
            bool other_than_utf8;
            const bool big_endian = strcmp(encodings[e].iconv, "UTF-16BE//") == 0;
            const size_t length = rows_make(text, counts[c], encodings[e].rare);
            size_t bytes = big_endian ? 2 : 0;
            memcpy(other, "\xfe\xff", 2);
            bytes += convert(encodings[e].iconv, text, length, other + bytes);
            assert_int_equal(text_encoding_find(encodings[e].name, &found, &other_than_utf8, &error),
                             STATUS_OK);
            assert_true(other_than_utf8 && found.by_table == encodings[e].by_table);
            char *const expected = rows_of(text, length, NULL, TEXT_BLOCK_BYTES);
            for (size_t block = counts[c] > 2000 ? 70001 : 64; block <= TEXT_BLOCK_BYTES;
                 block = block * 9 + 5) {
                char *const rows = rows_of(other, bytes, encodings[e].name, block);
                assert_string_equal(rows, expected);
                free(rows);
            }
            free(expected);
        }
    free(text);
    free(other);
}

static void a_byte_order_mark_says_what_a_file_is(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } files[] = {{BYTES("\xff\xfe\xe4\0,\0x\0,\0\n\0")},
                 {BYTES("\xfe\xff\0\xe4\0,\0x\0,\0\n")},
                 {BYTES("\xef\xbb\xbf\xc3\xa4,x,\n")},
                 {BYTES("\xff\xfe\0\0\xe4\0\0\0,\0\0\0x\0\0\0,\0\0\0\n\0\0\0")},
                 {BYTES("\xff\xfe\xe4\0,\0x\0,\0")}}; /* no line end */
    static const char *const given[] = {NULL, "latin1", "utf-16le", "shift-jis", "utf-8"};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (size_t g = 0; g < sizeof given / sizeof *given; g++) {
            const struct text_options options = {
                .delimiter = ',', .header = TEXT_HEADER_NO, .encoding = given[g]};
            struct error error = {0};
            const char *const file = file_write("m.csv", files[f].bytes, files[f].length);
            char *const rows = read_all(&file, 1, &options, &error);
            assert_non_null(rows);
            assert_string_equal(rows, "ä/x/~;");
            free(rows);
        }
}

static void bytes_that_are_no_character_are_told(void **state)
{
    static const struct {
        const char *encoding, *bytes;
        size_t length;
        const char *rows;
    } files[] = {
        {"windows-1252", BYTES("1,\xe4,3\n2,\x81,\x8d\n\x81\x8d,\x81\n\"\n\",x,y\n"),
         "1/ä/3;!has bytes that are no character of windows-1252@2;!has bytes that are no character of "
         "windows-1252@3;\n/x/y;"},
        {"ascii", BYTES("1,2,3\n1,\xe4,3"), "1/2/3;!has bytes that are no character of ascii@2;"},
        {"utf-16le", BYTES("1\0,\0002\0,\0003\0\n\0x\0\0\xd8,\0\n\0a\0,\0b\0,\0c\0\n\0d"),
         "1/2/3;!has bytes that are no character of utf-16le@2;a/b/c;!has bytes that are no character of "
         "utf-16le@4;"},
        {"shift-jis", BYTES("1,\x83\x5c|,3\n1,\x83,3\n1,2,\x83"),
         "1/ソ|/3;!has bytes that are no character of shift-jis@2;!has bytes that are no character of "
         "shift-jis@3;"},
        {"utf-16le", BYTES("1\0,\0002\0,\0\0\0\n\0"), "!has a NUL byte@1;"},
        {NULL, BYTES("1,\xe4,3\n4,5,6\n"), "!is no UTF-8@1;4/5/6;"}};
    (void)state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (size_t block = 8; block < 64; block += 7) {
            const struct text_options options = {
                .delimiter = ',', .header = TEXT_HEADER_NO, .encoding = files[f].encoding};
            struct error error = {0};
            const char *const file = file_write("b.csv", files[f].bytes, files[f].length);
            char *const rows = read_all_sized(&file, 1, &options, block, &error);
            assert_non_null(rows);
            assert_string_equal(rows, files[f].rows);
            free(rows);
        }
}

/* Which bytes they are is said, and a row that is written elsewhere is UTF-8. */
static void marks_become_replacement_characters(void **state)
{
    const struct text_options options = {.delimiter = ',', .header = TEXT_HEADER_NO, .encoding = "cp1252"};
    const char *const file = file_write("r.csv", "1,\x81\x8d,\x90\n", 7);
    struct text_source *source;
    struct text_block block = {0};
    struct error error = {0};
    (void)state;
    assert_int_equal(text_source_open(&file, 1, names, 3, &options, &source, &error), STATUS_OK);
    assert_int_equal(text_source_next(source, &block, &error), STATUS_OK);
    assert_int_equal(block.fault_count, 1);
    assert_true(block.faults[0].no_text);
    assert_string_equal(block.faults[0].complaint, "has bytes that are no character of cp1252: 0x818D");
    assert_memory_equal(block.row_text[0], "1,\xef\xbf\xbd\xef\xbf\xbd,\xef\xbf\xbd\n", 13);
    text_block_free(&block);
    text_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_encoding_gives_the_same_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(a_byte_order_mark_says_what_a_file_is, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_that_are_no_character_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_become_replacement_characters, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
