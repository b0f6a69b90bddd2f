/* test_format.c: the worked example of docs/format.md is what the program writes, byte for byte.
 *
 * `test_format DIR` writes that database into DIR, to be looked at with hexdump -C. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"

#include <ctype.h>

#define TEXT_BYTES (1 << 17)

/* Table color of three rows: keys 10, 20, 30; names "red", "blue", NULL. */
static void write_example(const char *path)
{
    static const char *const names[] = {"blue", "red"};
    const struct column_schema columns[] = {
        {.name = "c_key", .type = TYPE_INT32, .primary_key = true},
        {.name = "c_name", .type = TYPE_STRING, .nullable = true},
    };
    const int32_t keys[] = {10, 20, 30}, codes[] = {1, 0, 0};
    const uint64_t validity = 3;
    struct database_writer *writer;
    struct table_writer *table;
    uint64_t starts[3];
    char bytes[16];
    struct dictionary dictionary = dictionary_of(names, 2, starts, bytes);
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "color", columns, 2, 3, &table, error));
    must(table_writer_codec(table, 0, "nsf", error));
    must(table_writer_codec(table, 1, "nsf", error));
    must(table_writer_dictionary(table, 1, &dictionary, error));
    must(table_writer_segment(table, 0, 0, keys, NULL, error));
    must(table_writer_segment(table, 1, 0, codes, &validity, error));
    must(database_writer_commit(writer, error));
}

static size_t read_text(const char *directory, const char *name, char *text)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    size_t size = fread(text, 1, TEXT_BYTES - 1, file);
    assert_true(size < TEXT_BYTES - 1);
    text[size] = '\0';
    fclose(file);
    return size;
}

/* What hexdump -C prints, indented by four blanks as the page has it. */
static void dump(const char *bytes, size_t size, char *text)
{
    bool squeezed = false;
    for (size_t line = 0; line < size; line += 16) {
        size_t count = size - line < 16 ? size - line : 16;
        if (line > 0 && count == 16 && memcmp(bytes + line, bytes + line - 16, 16) == 0) {
            text += squeezed ? 0 : sprintf(text, "    *\n");
            squeezed = true;
            continue;
        }
        squeezed = false;
        text += sprintf(text, "    %08zx ", line);
        for (size_t i = 0; i < 16; i++) {
            text += sprintf(text, i == 8 ? "  " : " ");
            text += i < count ? sprintf(text, "%02x", (unsigned char)bytes[line + i]) : sprintf(text, "  ");
        }
        text += sprintf(text, "  |");
        for (size_t i = 0; i < count; i++)
            *text++ = isprint((unsigned char)bytes[line + i]) ? bytes[line + i] : '.';
        text += sprintf(text, "|\n");
    }
    sprintf(text, "    %08zx\n", size);
}

static void the_documented_bytes_are_the_programs(void **state)
{
    (void)state;
    static char page[TEXT_BYTES], file[TEXT_BYTES], dumped[6 * TEXT_BYTES];
    char path[PATH_BYTES];
    directory_make(path);
    write_example(path);
    read_text(TESSERA_SOURCE, "docs/format.md", page);
    const char *const names[] = {"tables/color/c_name.nsf.1", "tables/color/c_name.side.1"};
    for (int n = 0; n < 2; n++) {
        dump(file, read_text(path, names[n], file), dumped);
        if (!strstr(page, dumped))
            fail_msg("docs/format.md does not show %s:\n%s", names[n], dumped);
    }
    read_text(path, "catalogue", file);
    char *out = dumped;
    for (const char *line = file; *line;) {
        size_t length = strcspn(line, "\n");
        out += sprintf(out, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (!strstr(page, dumped))
        fail_msg("docs/format.md does not show the catalogue:\n%s", dumped);
    directory_remove(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_bytes_are_the_programs),
    };
    if (argc > 1) {
        write_example(argv[1]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
