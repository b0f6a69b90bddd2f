/* test_format.c: the worked example of docs/format.md is what the program writes, byte for byte; its tables of fields and
 * the drawings at the heads of column_file.h, dictionary_blocks.h and index_file.h are the structs that are written, and it lists every key of the catalogue.
 *
 * `test_format DIR [PLACE]` writes that database into DIR, and the one with levels into PLACE, to be looked at with
 * hexdump -C. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/column/column_file_format.h"
#include "storage/column/dictionary/dictionary_blocks.h"
#include "storage/index/index_file.h"
#include "tests/support/database_cases.h"

#include <ctype.h>
#include <jansson.h>

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

/* Table place of five rows, in the order of two levels. */
static void write_place(const char *path)
{
    static const struct column_schema columns[] = {{.name = "p_key", .type = TYPE_INT32, .primary_key = true},
                                                   {.name = "p_land", .type = TYPE_INT32},
                                                   {.name = "p_town", .type = TYPE_INT32}};
    static const int32_t values[3][5] = {{10, 20, 30, 40, 50}, {2, 1, 2, 2, 1}, {7, 5, 9, 7, 6}};
    struct database_writer *writer;
    struct table_writer *table;
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "place", columns, 3, 5, &table, error));
    must(table_writer_levels(table, &(struct levels_wish){.count = 2, .columns = {1, 2}}, error));
    for (uint32_t c = 0; c < 3; c++) {
        must(table_writer_codec(table, c, "nsf", error));
        must(table_writer_segment(table, c, 0, values[c], NULL, error));
    }
    must(table_writer_sort(table, 1, NULL, error));
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
    must(database_index_create(path, "color", "c_name", (struct index_wish){.format = INDEX_WAH64}, 1, NULL,
                               error));
    dump(file, read_text(path, "tables/color/c_name.index.2", file), dumped);
    if (!strstr(page, dumped))
        fail_msg("docs/format.md does not show the index:\n%s", dumped);
    directory_remove(path);
}

static void the_documented_levels_are_the_programs(void **state)
{
    (void)state;
    static char page[TEXT_BYTES], file[TEXT_BYTES], dumped[6 * TEXT_BYTES];
    char path[PATH_BYTES];
    directory_make(path);
    write_place(path);
    read_text(TESSERA_SOURCE, "docs/format.md", page);
    dump(file, read_text(path, "tables/place/p_key.side.1", file), dumped);
    if (!strstr(page, dumped))
        fail_msg("docs/format.md does not show the leaves:\n%s", dumped);
    read_text(path, "catalogue", file);
    assert_non_null(strstr(file, "tessera catalogue 4 "));
    char *out = dumped, *const end = strstr(file, "   \"columns\": [\n    {");
    assert_non_null(end);
    *end = '\0';
    for (const char *line = strstr(file, "   \"levels\""); *line;) {
        const size_t length = strcspn(line, "\n");
        out += sprintf(out, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (!strstr(page, dumped))
        fail_msg("docs/format.md does not show the levels:\n%s", dumped);
    directory_remove(path);
}

/* ---- Fields ---- */

struct field {
    size_t at, bytes;
};
#define FIELD(type, member)                                 \
    {                                                       \
        offsetof(type, member), sizeof(((type *)0)->member) \
    }

static const struct field header_fields[] = {
    FIELD(struct file_header, magic),      FIELD(struct file_header, version),
    FIELD(struct file_header, kind),       FIELD(struct file_header, generation),
    FIELD(struct file_header, codec),      FIELD(struct file_header, value_bytes),
    FIELD(struct file_header, rows),       FIELD(struct file_header, part_count),
    FIELD(struct file_header, reserved),   FIELD(struct file_header, directory_offset),
    FIELD(struct file_header, file_bytes), FIELD(struct file_header, table),
    FIELD(struct file_header, column),     FIELD(struct file_header, zero),
    FIELD(struct file_header, checksum),
};
static const struct field directory_fields[] = {
    FIELD(struct column_part, offset),   FIELD(struct column_part, bytes),
    FIELD(struct column_part, checksum), FIELD(struct column_part, kind),
    FIELD(struct column_part, segment),  FIELD(struct column_part, rows),
    FIELD(struct column_part, reserved),
};
static const struct field trailer_fields[] = {
    FIELD(struct file_trailer, directory_checksum),
    FIELD(struct file_trailer, header_checksum),
    FIELD(struct file_trailer, file_bytes),
    FIELD(struct file_trailer, magic),
};

static const struct field vector_fields[] = {
    FIELD(struct index_vector, first),
    FIELD(struct index_vector, words),
    FIELD(struct index_vector, rows),
    FIELD(struct index_vector, pieces),
};

static const struct field block_fields[] = {
    FIELD(struct dictionary_block, first_byte),
    FIELD(struct dictionary_block, offset),
    FIELD(struct dictionary_block, first_string),
    FIELD(struct dictionary_block, zero),
};

#define COLUMN_FILE "storage/column/column_file.h"
#define INDEX_FILE  "storage/index/index_file.h"
#define BLOCKS_FILE "storage/column/dictionary/dictionary_blocks.h"

static const struct drawing {
    const char *page, *file, *drawn;
    const struct field *fields;
    size_t count;
} drawings[] = {
    {"### Header", COLUMN_FILE, "    header, one page", header_fields,
     sizeof header_fields / sizeof(struct field)},
    {"### Directory", COLUMN_FILE, "    directory, one entry", directory_fields,
     sizeof directory_fields / sizeof(struct field)},
    {"### Trailer", COLUMN_FILE, "    trailer, 32 bytes", trailer_fields,
     sizeof trailer_fields / sizeof(struct field)},
    {"### Blocks of a dictionary", BLOCKS_FILE, "    directory, one entry", block_fields,
     sizeof block_fields / sizeof(struct field)},
    {"### Vectors", INDEX_FILE, "    vectors (part 6)", vector_fields,
     sizeof vector_fields / sizeof(struct field)},
};

/* Behind `heading`, lines of `format`, two numbers, are these fields and no more. */
static void assert_fields(const char *text, const char *heading, const char *format,
                          const struct drawing *drawing)
{
    size_t found = 0, at, bytes;
    const char *line = strstr(text, heading);
    if (!line)
        fail_msg("there is no \"%s\"", heading);
    for (line = strchr(line, '\n'); line && found <= drawing->count; line = strchr(line + 1, '\n')) {
        if (sscanf(line + 1, format, &at, &bytes) != 2) {
            if (found > 0)
                break;
            continue;
        }
        assert_true(found < drawing->count);
        if (at != drawing->fields[found].at || bytes != drawing->fields[found].bytes)
            fail_msg("%s: field %zu is drawn at %zu with %zu bytes", heading, found, at, bytes);
        found++;
    }
    assert_int_equal(found, drawing->count);
}

static void the_fields_are_drawn_where_they_are(void **state)
{
    static char page[TEXT_BYTES], header[TEXT_BYTES];
    (void)state;
    read_text(TESSERA_SOURCE, "docs/format.md", page);
    for (size_t d = 0; d < sizeof drawings / sizeof *drawings; d++) {
        read_text(TESSERA_SOURCE, drawings[d].file, header);
        assert_fields(page, drawings[d].page, "| %zu | %zu |", &drawings[d]);
        assert_fields(header, drawings[d].drawn, " * %zu %zu ", &drawings[d]);
    }
}

/* The table of the catalogue's fields has each as a word in backticks, or in JSON. */
static void assert_listed(const char *page, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    char word[64], quoted[64];
    json_object_foreach((json_t *)value, key, member)
    {
        snprintf(word, sizeof word, "`%s`", key);
        snprintf(quoted, sizeof quoted, "\"%s\"", key);
        if (!strstr(page, word) && !strstr(page, quoted))
            fail_msg("docs/format.md does not list %s", word);
        assert_listed(page, member);
    }
    json_array_foreach(value, i, member) assert_listed(page, member);
}

static void every_key_of_the_catalogue_is_listed(void **state)
{
    static char page[TEXT_BYTES], text[TEXT_BYTES];
    char path[PATH_BYTES];
    (void)state;
    directory_make(path);
    database_make(path, "plain", 10);
    write_place(path);
    must(database_index_create(path, "sale", "s_paid", (struct index_wish){.format = INDEX_WAH64}, 1, NULL,
                               error));
    must(database_index_create(path, "sale", "s_day",
                               (struct index_wish){.format = INDEX_FLAT, .bins = INDEX_WIDTH, .count = 2}, 1,
                               NULL, error));
    read_text(TESSERA_SOURCE, "docs/format.md", page);
    read_text(path, "catalogue", text);
    char *body = strchr(text, '\n');
    assert_non_null(body);
    json_t *root = json_loads(body + 1, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    *strstr(page, "## Column files") = '\0';
    assert_listed(page, root);
    json_decref(root);
    directory_remove(path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_bytes_are_the_programs),
        cmocka_unit_test(the_documented_levels_are_the_programs),
        cmocka_unit_test(the_fields_are_drawn_where_they_are),
        cmocka_unit_test(every_key_of_the_catalogue_is_listed),
    };
    if (argc > 1) {
        write_example(argv[1]);
        if (argc > 2)
            write_place(argv[2]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
