/*
 * test_text_source.c: rows and fields of delimited text come out as they went in, whatever the quotes, line ends,
 * files and block boundaries; what is no row is told by its line. test_packed_text.c reads compressed files.
 *
 * `test_text_source ROUNDS SEED` does more of the random ones.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/text/text_source_internal.h"
#include "storage/base/clock.h"
#include "storage/base/isa.h"
#include "tests/support/one_directory.h"
#include "tests/support/text_rows.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

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
    gives("t.csv", "1;a;3\n", plain, "1/a/3;"); /* as spreadsheets write where a comma is before decimals */
    gives("t.csv", "1,a;b;c,3\n", plain, "1/a;b;c/3;");
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
    } bad[] = {{"a,b,x\n", "lacks the column 'c'"}, {"a,b,b\n", "twice"}, {"a,b\n", "lacks the column 'c'"}};
    for (size_t i = 0; i < 3; i++) {
        const char *file = file_write("bad.csv", bad[i].text, strlen(bad[i].text));
        assert_null(read_all(&file, 1, &yes, &error));
        assert_non_null(strstr(error.text, bad[i].reason));
        assert_non_null(strstr(error.text, "bad.csv:1"));
    }
}

/* Fields that the table does not have are skipped, wherever they are. */
static void fields_that_are_no_columns_are_skipped(void **state)
{
    const struct text_options automatic = {.header = TEXT_HEADER_AUTO};
    struct text_options listed = {.header = TEXT_HEADER_AUTO, .columns = "-,c,a,x y,b"};
    struct error error = {0};
    (void)state;
    gives("h.csv", "x,c,\"\",A,b,x\n7,3,\"q\"\"r\",1,2,8\n,,,,,\n", automatic, "1/2/3;~/~/~;");
    gives("h.csv", "c,b,extra,a,\n3,2,9,1,\n", automatic, "1/2/3;"); /* a delimiter at the end */
    gives("n.csv", "0,3,1,9,2\n", listed, "1/2/3;");
    gives("n.txt", "0;3;1;9;2\n", listed, "1/2/3;");
    gives("n.tbl", "0|3|1|9|2|\n", listed, "1/2/3;");
    gives("h.csv", "0,c,a,y,b\n0,3,1,9,2\n", listed, "1/2/3;"); /* a header in that order */
    listed.header = TEXT_HEADER_YES;
    gives("h.csv", "some,other,names,are,here\n0,3,1,9,2\n", listed, "1/2/3;");
    static const struct {
        const char *list, *reason;
    } bad[] = {{"a,b", "lacks the table's column 'c'"},
               {"a,b,c,B", "names 'b' twice"},
               {"", "lacks the table's column 'a'"}};
    const char *file = file_write("bad.csv", "1,2,3\n", 6);
    for (size_t i = 0; i < 3; i++) {
        listed.columns = bad[i].list;
        assert_null(read_all(&file, 1, &listed, &error));
        assert_non_null(strstr(error.text, bad[i].reason));
    }
    gives("h.csv", "a,x,b,c\n1,2\n1,2,3,4,5\n1,x,2,3\n", automatic,
          "!has 2 fields instead of 4@2;!has 5 fields instead of 4@3;1/2/3;");
}

static void what_is_no_row_is_told_by_its_line(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    struct error error = {0};
    (void)state;
    gives("f.csv", "1,2\n\"a\nb\",2,3\n1,2,3,4\n", plain,
          "!has 2 fields instead of 3@1;a\nb/2/3;!has 4 fields instead of 3@4;");
    gives("f.csv", "1,\"2\"x,3\n4,\xff,6\n7,8,9\n", plain,
          "!has text behind a closing quote@1;!is no UTF-8@2;7/8/9;");
    const char *file = file_write("open.csv", "1,2,3\n4,\"5,6\n", 13);
    char *rows = read_all(&file, 1, &plain, &error);
    free(rows);
    assert_non_null(strstr(error.text, "open.csv:2"));
    file = "/nowhere/there.csv";
    assert_null(read_all(&file, 1, &plain, &error));
    assert_non_null(strstr(error.text, "there.csv"));
}

static void what_a_source_refuses(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO}, quote = {.delimiter = '"'};
    struct error error = {0};
    (void)state;
    gives("n.tbl", "1|NA|3|\n2||4|\n", (struct text_options){.header = TEXT_HEADER_NO, .null_text = "NA"},
          "1/~/3;2//4;");
    gives("n.tbl", "1|a|3|\n2|b|\n2|b|4\n2|b|4|5|\n", plain,
          "1/a/3;!has 2 fields instead of 3@2;!lacks the delimiter that ends the first row@3;"
          "!has 4 fields instead of 3@4;");
    const char zero[] = "1,2,3\n4,\0,6\n";
    const char *file = file_write("zero.csv", zero, sizeof zero - 1);
    char *rows = read_all(&file, 1, &plain, &error);
    assert_string_equal(rows, "1/2/3;!has a NUL byte@2;");
    free(rows);
    assert_null(read_all(&file, 1, &quote, &error));
    assert_non_null(strstr(error.text, "delimiter"));
    const char *const two[] = {file, "-"};
    assert_null(read_all(two, 2, &plain, &error));
    assert_non_null(strstr(error.text, "standard input"));
}

/* Names in quotes, empty lines before them, and the delimiter told by the row that has the right number of fields. */
static void headers_and_delimiters_are_read_as_rows_are(void **state)
{
    const struct text_options automatic = {.header = TEXT_HEADER_AUTO};
    (void)state;
    gives("q.csv", "\n\r\n\"b\",\"C\",a\n1,2,3\n", automatic, "3/1/2;");
    gives("q.tbl", "c|b|a|\n1|2|3|\n", automatic, "3/2/1;");
    gives("q.txt", "\"x|y\",\"p|q\",3\n", automatic, "x|y/p|q/3;");
    gives("q.txt", "1\t\"a,b\"\t3\n", automatic, "1/a,b/3;");
}

/* A pipe is opened once: no byte of it is lost. */
static void pipes_are_files(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO, .delimiter = ','};
    struct error error = {0};
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1,2,3\n4,5,6\n", 12), 12);
    close(ends[1]);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    const char *file = name;
    char *rows = read_all(&file, 1, &plain, &error);
    close(ends[0]);
    if (!rows)
        fail_msg("%s", error.text);
    assert_string_equal(rows, "1/2/3;4/5/6;");
    free(rows);
}

/* As dbgen writes: what is between two delimiters is the field, whatever it is. */
static void verbatim_text_has_no_quotes_and_no_nulls(void **state)
{
    const struct text_options verbatim = {
        .delimiter = '|', .header = TEXT_HEADER_NO, .verbatim = true, .null_text = "N"};
    (void)state;
    gives("v.tbl", "7| a b |-3\n8||4\n", verbatim, "7/ a b /-3;8//4;");
    gives("v.tbl", "7|\"a|-3|\n8|b\"\"|4|\n\"8|N|\"|\n", verbatim, "7/\"a/-3;8/b\"\"/4;\"8/N/\";");
    gives("v.tbl", "7|a b|-3\r\n8||4\r\n", verbatim, "7/a b/-3;8//4;");
    gives("v.tbl", "7|a b|-3|\n8||4|", verbatim, "7/a b/-3;8//4;");
    gives("v.tbl", "1|x|2\n\n3|y|4\n", verbatim, "1/x/2;!is empty@2;3/y/4;");
    gives("v.tbl", "1|x|2|\n\n", verbatim, "1/x/2;!is empty@2;");
}

/* The complaint about row number 1 (from 0) of a file. */
static void complains(const char *text, size_t length, struct text_options options, const char *expected)
{
    const char *const file = file_write("shape.tbl", text, length);
    struct text_source *source;
    struct text_block block = {0};
    must(text_source_open(&file, 1, names, 3, &options, &source, error));
    must(text_source_next(source, &block, error));
    assert_int_equal(block.rows, 2);
    assert_int_equal(block.fault_count, 1);
    assert_int_equal(block.faults[0].row, 1);
    assert_int_equal(block.row_line[1], 2);
    assert_string_equal(block.faults[0].complaint, expected);
    text_block_free(&block);
    text_source_close(source);
}
#define COMPLAINS(text, options, expected) complains(text, sizeof(text) - 1, options, expected)

/* By their last field, or what goes on behind it, and the column that is missing, by the names of a header, too. */
static void rows_of_the_wrong_shape_are_told_by_what_they_hold(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO},
                              verbatim = {.header = TEXT_HEADER_NO, .verbatim = true};
    (void)state;
    static const char missing[] = "has 2 fields instead of 3: it ends with 'y', and column c is missing";
    COMPLAINS("1|x|2\n3|y\n", verbatim, missing);
    COMPLAINS("1|x|2|\n3|y|\r\n", verbatim, missing);
    COMPLAINS("1|x|2|\n3|y|\n", plain, missing);
    COMPLAINS("1|x|2\n3\n", plain, "has 1 field instead of 3: it ends with '3', and column b is missing");
    COMPLAINS(
        "1|x|2|\n3|y|4\n", verbatim,
        "lacks the delimiter that ends the first row: it ends with '4' in column c; is the file cut short?");
    COMPLAINS("1|x|2|\n3|y|4|5|\n", verbatim,
              "has 4 fields instead of 3: it goes on with '5|' behind column c");
    COMPLAINS("1|x|2\n3|y|4|5\r\n", verbatim,
              "has 4 fields instead of 3: it goes on with '5' behind column c");
    COMPLAINS("1|x|2\n3|y|4|\n", verbatim, "has 4 fields instead of 3: it goes on with '' behind column c");
    COMPLAINS("1|x|2\n\n", verbatim, "is empty: it must have 3 fields");
    COMPLAINS("1|x|2\n3|\0|4\n", plain, "has a NUL byte: it is byte 3 of it; is this a text file?");
    COMPLAINS("1|x|2\n3|\ty\n", plain,
              "has 2 fields instead of 3: it ends with '\\ty', and column c is missing");
    const char *const file = file_write("head.csv", "c,a,b\n1,2\n", 10);
    struct text_source *source;
    struct text_block block = {0};
    must(text_source_open(&file, 1, names, 3, &(struct text_options){.header = TEXT_HEADER_YES}, &source,
                          error));
    must(text_source_next(source, &block, error));
    assert_string_equal(block.faults[0].complaint,
                        "has 2 fields instead of 3: it ends with '2', and column b is missing");
    text_block_free(&block);
    text_source_close(source);
}

/* A newline as the last byte of a block, as the first one of the next, and between. */
static void rows_that_end_with_a_block_are_found(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    (void)state;
    for (size_t first = TEXT_BLOCK_BYTES - 2; first <= TEXT_BLOCK_BYTES + 2; first++) {
        char *const text = malloc(first + 14);
        assert_non_null(text);
        memset(text, 'x', first);
        memcpy(text, "1|", 2);
        memcpy(text + first - 4, "|2|\n", 4);
        memcpy(text + first, "3|y|4|\n5|z|6|\n", 14);
        const char *const file = file_write("edge.tbl", text, first + 14);
        char *const rows = read_all(&file, 1, &plain, NULL);
        assert_non_null(rows);
        assert_string_equal(rows + first - 1, "3/y/4;5/z/6;");
        free(rows);
        free(text);
    }
}

static void a_row_that_never_ends_is_refused(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    struct error error = {0};
    const size_t size = TEXT_ROW_BYTES + 100;
    char *const text = malloc(size);
    (void)state;
    assert_non_null(text);
    memset(text, '1', size);
    memcpy(text, "1|x|2\n", 6);
    const char *const file = file_write("long.tbl", text, size);
    free(read_all(&file, 1, &plain, &error));
    assert_non_null(strstr(error.text,
                           "long.tbl:2: the row is longer than 16 MiB; is a quote missing, or is this no "
                           "text?"));
    free(text);
}

static void what_is_no_file_is_named(void **state)
{
    const struct text_options plain = {.header = TEXT_HEADER_NO};
    struct error error = {0};
    const char *file = "/tmp";
    (void)state;
    assert_null(read_all(&file, 1, &plain, &error));
    assert_non_null(strstr(error.text, "/tmp: is a folder; name its files"));
    file = "/tmp/tessera-no-such-file";
    assert_null(read_all(&file, 1, &plain, &error));
    assert_non_null(strstr(error.text, "/tmp/tessera-no-such-file: cannot be opened"));
}

/* ---- Against a reading of one character at a time ---- */

static uint64_t seed = 20261121, random_state;
static unsigned long rounds = 6000;

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((random_state >> 32) * bound >> 32);
}

struct reference_row {
    uint32_t fields;
    uint64_t lines;
    size_t bytes; /* with its line end */
    bool last_empty, open, behind;
    char text[4096]; /* the fields, each with its '/' or ';' */
};

static void reference_row_read(const char *at, size_t length, const struct text_options *options,
                               struct reference_row *row)
{
    size_t i = 0, used = 0;
    *row = (struct reference_row){.lines = 1};
    for (;;) {
        char field[1024];
        size_t bytes = 0;
        const bool quoted = i < length && at[i] == '"';
        if (quoted) {
            for (i++; i < length && (at[i] != '"' || (i + 1 < length && at[i + 1] == '"')); i++) {
                row->lines += at[i] == '\n';
                field[bytes++] = at[i];
                i += at[i] == '"';
            }
            row->open |= i == length;
            i++;
        }
        const size_t rest = i;
        while (i < length && at[i] != options->delimiter && at[i] != '\n') {
            if (!quoted)
                field[bytes++] = at[i];
            i++;
        }
        const bool last = i >= length || at[i] == '\n';
        const bool returns = last && i > rest && i <= length && at[i - 1] == '\r';
        row->behind |= quoted && i - returns > rest;
        if (returns && !quoted)
            bytes--;
        row->last_empty = !quoted && bytes == 0;
        const char *null = options->null_text ? options->null_text : "";
        if (!quoted && bytes == strlen(null) && memcmp(field, null, bytes) == 0) {
            field[0] = '~';
            bytes = 1;
        }
        memcpy(row->text + used, field, bytes);
        used += bytes;
        row->text[used++] = '/';
        row->fields++;
        row->bytes = i < length ? i + 1 : length;
        if (last)
            break;
        i++;
    }
    row->text[used] = 0;
}

/* By decoding and encoding again. */
static bool reference_utf8(const unsigned char *at, size_t length)
{
    for (size_t i = 0; i < length;) {
        const unsigned more = at[i] < 0x80   ? 0
                              : at[i] < 0xc0 ? 9
                              : at[i] < 0xe0 ? 1
                              : at[i] < 0xf0 ? 2
                              : at[i] < 0xf8 ? 3
                                             : 9;
        uint32_t code = more ? at[i] & (0x3fu >> more) : at[i];
        static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        if (more == 9 || i + more >= length + (more == 0))
            return false;
        for (unsigned k = 1; k <= more; k++) {
            if (at[i + k] >> 6 != 2)
                return false;
            code = code << 6 | (at[i + k] & 0x3f);
        }
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
        i += more + 1;
    }
    return true;
}

/* As block_print with lines; *open_line: of the row whose quote is open, or 0. */
static char *reference_read(const char *text, size_t length, uint32_t columns,
                            const struct text_options *options, uint64_t *open_line)
{
    static struct reference_row row;
    char *printed = NULL;
    size_t bytes;
    FILE *out = open_memstream(&printed, &bytes);
    bool known = false, trailing = false;
    uint64_t line = 1;
    *open_line = 0;
    for (size_t at = 0; at < length; at += row.bytes, line += row.lines) {
        reference_row_read(text + at, length - at, options, &row);
        if (row.open) {
            *open_line = line;
            break;
        }
        if (columns > 1 && row.fields == 1 && row.last_empty)
            continue;
        if (!known) {
            known = true;
            trailing = row.fields == columns + 1 && row.last_empty;
        }
        const bool trails = trailing && row.fields > 1 && row.last_empty;
        const uint32_t fields = row.fields - trails;
        if (memchr(text + at, 0, row.bytes))
            fprintf(out, "!has a NUL byte@");
        else if (!reference_utf8((const unsigned char *)text + at, row.bytes))
            fprintf(out, "!is no UTF-8@");
        else if (row.behind)
            fprintf(out, "!has text behind a closing quote@");
        else if (trailing && row.fields == 1 && row.last_empty)
            fprintf(out, "!is empty@");
        else if (trailing && !trails && fields == columns)
            fprintf(out, "!lacks the delimiter that ends the first row@");
        else if (fields != columns)
            fprintf(out, "!has %u field%s instead of %u@", fields, fields == 1 ? "" : "s", columns);
        else {
            size_t shown = strlen(row.text) - 1;
            if (trails) /* "~/", or "/" where the empty text is no NULL */
                shown -= row.text[shown - 1] == '~' && !options->null_text ? 2 : 1;
            fprintf(out, "%.*s;@%llu", (int)shown, row.text, (unsigned long long)line);
            continue;
        }
        fprintf(out, "%llu;", (unsigned long long)line);
    }
    fclose(out);
    return printed;
}

/* In most rounds rows that are nearly right, so that more is seen than complaints. */
static size_t random_text(char *text, uint32_t columns, char delimiter)
{
    static const char *const pieces[] = {
        "a",    "N", "\"", "\"\"", "\n",       "\r\n", "\r",    "\xc3\xa4",   "\xe2\x82\xac",
        "\xff", ",", "|",  "word", "12345678", "",     "\"q\"", "\"x\"\"y\"", "\"1,2\n\""};
    const uint32_t wild = random_below(4), piece_count = sizeof pieces / sizeof pieces[0];
    const uint32_t rows = random_below(12);
    size_t length = 0;
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t fields = random_below(8) ? columns : random_below(6);
        for (uint32_t f = 0; f < fields; f++) {
            const char *piece =
                pieces[wild == 0 || random_below(16) == 0 ? random_below(piece_count) : 12 + random_below(6)];
            if (f)
                text[length++] = delimiter;
            length += (size_t)sprintf(text + length, "%s", piece);
            if (random_below(600) == 0)
                text[length++] = 0;
        }
        if (wild == 3 && random_below(16))
            text[length++] = delimiter;
        length += (size_t)sprintf(text + length, random_below(5) ? "\n" : random_below(2) ? "\r\n" : "\n\n");
    }
    return length && random_below(3) == 0 ? length - 1 : length;
}

static void any_text_in_blocks_of_any_size_reads_like_one_character_at_a_time(void **state)
{
    static const char delimiters[] = {',', '|', '\t', ' '};
    static const char *const columns_names[] = {"a1", "b1", "c1", "d1", "e1"};
    char name[32];
    const char *const file = name;
    const int memory = memfd_create("fuzz", MFD_CLOEXEC);
    uint64_t rows = 0, faults = 0, opens = 0;
    (void)state;
    assert_true(memory >= 0);
    snprintf(name, sizeof name, "/dev/fd/%d", memory);
    print_message("seed %llu, %lu rounds\n", (unsigned long long)seed, rounds);
    random_state = seed;
    for (unsigned long round = 0; round < rounds; round++) {
        char text[4096];
        const uint32_t columns = 1 + random_below(5);
        const struct text_options options = {.delimiter = delimiters[random_below(4)],
                                             .header = TEXT_HEADER_NO,
                                             .null_text = random_below(4) ? NULL : "N"};
        const size_t length = random_text(text, columns, options.delimiter);
        const size_t block_bytes = 1 + random_below(random_below(2) ? 20 : 300);
        uint64_t open_line;
        char *expected = reference_read(text, length, columns, &options, &open_line), *printed = NULL;
        size_t bytes;
        assert_int_equal(ftruncate(memory, 0), 0);
        assert_int_equal(pwrite(memory, text, length, 0), length);
        FILE *out = open_memstream(&printed, &bytes);
        struct error error = {0};
        struct text_source *source;
        struct text_block block = {0};
        uint64_t number = 0;
        assert_int_equal(
            text_source_open_sized(&file, 1, columns_names, columns, &options, block_bytes, &source, &error),
            STATUS_OK);
        enum status status;
        while ((status = text_source_next(source, &block, &error)) == STATUS_OK && block.rows) {
            assert_true(block.number >= number);
            number = block.number + 1;
            block_print(&block, columns, true, out);
            rows += block.rows;
            faults += block.fault_count;
        }
        fclose(out);
        char where[64];
        snprintf(where, sizeof where, ":%llu:", (unsigned long long)open_line);
        const bool right = open_line ? status == STATUS_BAD_INPUT && strstr(error.text, where) &&
                                           strncmp(printed, expected, strlen(printed)) == 0
                                     : status == STATUS_OK && strcmp(printed, expected) == 0;
        if (!right)
            fail_msg("round %lu, blocks of %zu, %u columns, delimiter '%c': '%.*s'\nexpected %s (open quote "
                     "in line "
                     "%llu)\n     got %s %s",
                     round, block_bytes, columns, options.delimiter, (int)length, text, expected,
                     (unsigned long long)open_line, printed, error.text);
        opens += open_line != 0;
        text_block_free(&block);
        text_source_close(source);
        free(expected);
        free(printed);
    }
    print_message("%llu rows, %llu faults, %llu open quotes\n", (unsigned long long)rows,
                  (unsigned long long)faults, (unsigned long long)opens);
    close(memory);
    assert_true(rows > faults && faults > rounds && opens > rounds / 100);
}

/* What each instruction set finds is the same. */
static void instruction_sets_agree(void **state)
{
#if defined(__x86_64__)
    static text_scan_index *const indexes[] = {text_scan_index_baseline, text_scan_index_avx2,
                                               text_scan_index_avx512};
    static text_scan_whole *const wholes[] = {text_scan_whole_baseline, text_scan_whole_avx2,
                                              text_scan_whole_avx512};
    random_state = 7;
    for (int round = 0; round < 3000; round++) {
        char text[4096];
        const size_t length = random_text(text, 3, ',');
        struct text_index found[ISA_LEVELS] = {0};
        struct text_whole whole[ISA_LEVELS];
        for (enum isa_level level = 0; level <= isa_level(); level++) {
            found[level].ends = malloc((length + TEXT_INDEX_PADDING) * sizeof(uint32_t));
            found[level].rows = malloc((length + TEXT_INDEX_PADDING) * sizeof(uint32_t));
            indexes[level](text, length, ',', round % 4 != 0, &found[level]);
            whole[level] = wholes[level](text, length, ',', round % 4 != 0);
            assert_int_equal(found[level].end_count, found[0].end_count);
            assert_int_equal(found[level].row_count, found[0].row_count);
            assert_memory_equal(found[level].ends, found[0].ends, found[0].end_count * sizeof(uint32_t));
            assert_memory_equal(found[level].rows, found[0].rows, found[0].row_count * sizeof(uint32_t));
            assert_int_equal(found[level].quotes, found[0].quotes);
            assert_int_equal(found[level].zero_bytes, found[0].zero_bytes);
            assert_int_equal(found[level].high_bytes, found[0].high_bytes);
            assert_int_equal(whole[level].bytes, whole[0].bytes);
            assert_int_equal(whole[level].lines, whole[0].lines);
            assert_int_equal(whole[level].all, whole[0].all);
            assert_int_equal(whole[level].open_quote, whole[0].open_quote);
        }
        for (enum isa_level level = 0; level <= isa_level(); level++)
            text_index_free(&found[level]);
    }
#endif
    (void)state;
}

/* One byte after the other, as JSON says it. */
static uint32_t brackets_one_by_one(const char *text, size_t length, struct text_brackets *state,
                                    uint32_t *ends)
{
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++) {
        if (state->inside) {
            const bool literal = state->escaped;
            state->escaped = !literal && text[i] == '\\';
            state->inside = literal || text[i] != '"';
        } else if (text[i] == '"') {
            state->inside = true;
        } else if (strchr("{[", text[i]) && text[i]) {
            state->depth++;
        } else if (strchr("}]", text[i]) && text[i] && state->depth && --state->depth == 0) {
            ends[count++] = (uint32_t)i + 1;
        }
    }
    return count;
}

/* Each instruction set finds what is so found, also in text that is no JSON, and in two pieces. */
static void brackets_outside_strings_are_found(void **state)
{
    static text_scan_brackets *const scans[] = {
        text_scan_brackets_baseline,
#if defined(__x86_64__)
        text_scan_brackets_avx2,
        text_scan_brackets_avx512,
#endif
    };
    (void)state;
    random_state = 9;
    for (int round = 0; round < 3000; round++) {
        const char *const letters = round % 3 ? "{}[]\",: ab{}" : "{}[]\"\\\\\"ab";
        char text[600];
        uint32_t ends[ISA_LEVELS + 1][600 + TEXT_INDEX_PADDING];
        struct text_brackets expected = {.depth = 0};
        const size_t length = random_below(sizeof text), cut = length ? random_below((uint32_t)length) : 0;
        for (size_t i = 0; i < length; i++)
            text[i] = letters[random_below((uint32_t)strlen(letters))];
        const uint32_t count = brackets_one_by_one(text, length, &expected, ends[ISA_LEVELS]);
        for (size_t level = 0; level < sizeof scans / sizeof *scans && level <= (size_t)isa_level();
             level++) {
            struct text_brackets found = {.depth = 0};
            size_t last, later;
            uint32_t some = scans[level](text, cut, &found, ends[level], &last);
            const uint32_t more = scans[level](text + cut, length - cut, &found, ends[level] + some, &later);
            assert_int_equal(some + more, count);
            for (uint32_t e = some; e < count; e++)
                ends[level][e] += (uint32_t)cut;
            assert_memory_equal(ends[level], ends[ISA_LEVELS], count * sizeof **ends);
            assert_int_equal(more ? cut + later : last, count ? ends[ISA_LEVELS][count - 1] : 0);
            assert_int_equal(found.depth, expected.depth);
            assert_int_equal(found.inside, expected.inside);
            assert_int_equal(found.escaped, expected.escaped);
        }
    }
}

int main(int count, char **arguments)
{
    if (count > 1)
        rounds = strtoul(arguments[1], NULL, 10);
    if (count > 2)
        seed = strtoull(arguments[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_line_ends_and_delimiters),
        cmocka_unit_test(headers_order_columns),
        cmocka_unit_test(fields_that_are_no_columns_are_skipped),
        cmocka_unit_test(what_is_no_row_is_told_by_its_line),
        cmocka_unit_test(what_a_source_refuses),
        cmocka_unit_test(headers_and_delimiters_are_read_as_rows_are),
        cmocka_unit_test(pipes_are_files),
        cmocka_unit_test(verbatim_text_has_no_quotes_and_no_nulls),
        cmocka_unit_test(rows_of_the_wrong_shape_are_told_by_what_they_hold),
        cmocka_unit_test(rows_that_end_with_a_block_are_found),
        cmocka_unit_test(a_row_that_never_ends_is_refused),
        cmocka_unit_test(what_is_no_file_is_named),
        cmocka_unit_test(any_text_in_blocks_of_any_size_reads_like_one_character_at_a_time),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(brackets_outside_strings_are_found),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
