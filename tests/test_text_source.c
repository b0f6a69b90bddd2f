/*
 * test_text_source.c: rows and fields of delimited text come out as they went in, whatever the quotes, line ends,
 * files, compression and block boundaries; what is no row is told by its line.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/text_source.h"
#include "tests/database_cases.h"

#include <zlib.h>
#include <zstd.h>

static const char *const names[] = {"a", "b", "c"};
static char path[PATH_BYTES];

static const char *file_write(const char *name, const char *bytes, size_t size)
{
    static char full[4][PATH_BYTES + 64];
    static int turn;
    char *to = full[turn++ % 4];
    snprintf(to, PATH_BYTES + 64, "%.*s/%s", (int)(strlen(path) - 3), path, name);
    FILE *file = fopen(to, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return to;
}

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

/* All rows as "a/b/c;" with ~ for NULL, and a fault as "!complaint@line;". */
static char *read_all(const char *const *paths, uint32_t count, const struct text_options *options,
                      struct error *error)
{
    struct text_source *source;
    struct text_block block = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (text_source_open(paths, count, names, 3, options, &source, error) != STATUS_OK) {
        fclose(out);
        free(text);
        return NULL;
    }
    for (;;) {
        if (text_source_next(source, &block, error) != STATUS_OK) {
            fprintf(out, "ERROR");
            break;
        }
        if (block.rows == 0)
            break;
        for (uint32_t row = 0, fault = 0; row < block.rows; row++) {
            if (fault < block.fault_count && block.faults[fault].row == row) {
                fprintf(out, "!%s@%llu;", block.faults[fault++].complaint,
                        (unsigned long long)block.row_line[row]);
                continue;
            }
            for (uint32_t c = 0; c < 3; c++) {
                const struct text_field *field = &block.fields[row * 3 + c];
                fprintf(out, "%.*s%s", field->length == TEXT_NULL ? 1 : (int)field->length,
                        field->length == TEXT_NULL ? "~" : field->text, c == 2 ? ";" : "/");
            }
        }
    }
    text_block_free(&block);
    text_source_close(source);
    fclose(out);
    return text;
}

static void gives(const char *name, const char *text, struct text_options options, const char *expected)
{
    struct error error = {0};
    const char *file = file_write(name, text, strlen(text));
    char *rows = read_all(&file, 1, &options, &error);
    if (!rows)
        fail_msg("%s", error.text);
    assert_string_equal(rows, expected);
    free(rows);
}

static void quotes_line_ends_and_delimiters(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    (void)state;
    gives("t.csv", "1,x,\n2,\"y\"\"z\",\"\"\n", plain, "1/x/~;2/y\"z/;");
    gives("t.csv", "1,\"line\nend, and , more\",3\r\n4,5,6", plain, "1/line\nend, and , more/3;4/5/6;");
    gives("t.csv",
          "\xef\xbb\xbf"
          "1,2,3\n\n\n",
          plain, "1/2/3;");
    gives("t.tsv", "1\ta b\t3\n", plain, "1/a b/3;");
    gives("t.tbl", "1|a|3|\n2||4|\n", plain, "1/a/3;2/~/4;");
    gives("t.tbl", "1|a|\n2|b|3\n", plain, "1/a/~;2/b/3;");
    gives("t.txt", "1;a;3\n", plain, "1/a/3;");
    gives("t.csv", "1,5\" pipe,3\n2,a\"b\",c\n", plain, "1/5\" pipe/3;2/a\"b\"/c;");
    gives("t.csv", "NA,\"NA\",\n", (struct text_options){.header = TEXT_HEADER_NO, .null_text = "NA"},
          "~/NA/;");
    gives("t.csv", "", plain, "");
}

static void headers_order_columns(void **state)
{
    const struct text_options automatic = {.header = TEXT_HEADER_AUTO}, yes = {.header = TEXT_HEADER_YES};
    struct error error = {0};
    (void)state;
    gives("h.csv", "c,A,b\n3,1,2\n", automatic, "1/2/3;");
    gives("h.csv", "c,x,b\n", automatic, "c/x/b;");
    static const struct {
        const char *text, *reason;
    } bad[] = {{"a,b,x\n", "'x'"}, {"a,b,b\n", "twice"}, {"a,b\n", "lacks the column 'c'"}};
    for (size_t i = 0; i < 3; i++) {
        const char *file = file_write("bad.csv", bad[i].text, strlen(bad[i].text));
        assert_null(read_all(&file, 1, &yes, &error));
        assert_non_null(strstr(error.text, bad[i].reason));
        assert_non_null(strstr(error.text, "bad.csv:1"));
    }
}

static void what_is_no_row_is_told_by_its_line(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    struct error error = {0};
    (void)state;
    gives("f.csv", "1,2\n\"a\nb\",2,3\n1,2,3,4\n", plain,
          "!has 2 fields instead of 3@1;a\nb/2/3;!has 4 fields instead of 3@4;");
    gives("f.csv", "1,\"2\"x,3\n4,\xff,6\n7,8,9\n", plain,
          "!has text behind a closing quote@1;!is no UTF-8, or has a zero byte@2;7/8/9;");
    const char *file = file_write("open.csv", "1,2,3\n4,\"5,6\n", 13);
    char *rows = read_all(&file, 1, &plain, &error);
    free(rows);
    assert_non_null(strstr(error.text, "open.csv:2"));
    file = "/nowhere/there.csv";
    assert_null(read_all(&file, 1, &plain, &error));
    assert_non_null(strstr(error.text, "there.csv"));
}

/* The same rows from one file, two files, gzip and zstd, across many block boundaries. */
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

/* Random bytes of the characters that matter never crash and give the rows of a plain reading. */
static void random_text_never_leaves_its_block(void **state)
{
    static const char alphabet[] = "ab,\"\n\r\xc3\xa4";
    const struct text_options plain = {.header = TEXT_HEADER_NO, .delimiter = ','};
    uint64_t random = 20260601;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        char text[64];
        struct error error = {0};
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const size_t length = (size_t)(random >> 58);
        for (size_t i = 0; i < length; i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            text[i] = alphabet[(random >> 33) % (sizeof alphabet - 1)];
        }
        const char *file = file_write("r.csv", text, length);
        free(read_all(&file, 1, &plain, &error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_line_ends_and_delimiters),
        cmocka_unit_test(headers_order_columns),
        cmocka_unit_test(what_is_no_row_is_told_by_its_line),
        cmocka_unit_test(long_files_compressed_files_and_several),
        cmocka_unit_test(random_text_never_leaves_its_block),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
