/* test_database_damage.c: a database that was damaged, by accident or on purpose, gives a sentence that names
 * the file or the right data; a crash or a full disk leaves the old state. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_files.h"
#include "tests/support/run_program.h"

#include <inttypes.h>
#include <sys/wait.h>

/* ---- Places that are none ---- */

static void a_place_that_is_no_database_is_refused(void **state)
{
    (void)state;
    char path[PATH_BYTES], file[2 * PATH_BYTES];
    struct database *database;
    directory_make(path);
    must_refuse(STATUS_BAD_INPUT, path, "No such file", "tessera ssb load",
                database_open(path, &database, error));
    must_refuse(STATUS_BAD_INPUT, path, "No such file", "", database_check(path, 1, NULL, NULL, NULL, error));
    assert_int_equal(mkdir(path, 0777), 0);
    must_refuse(STATUS_BAD_INPUT, path, "no file \"catalogue\"", "tessera ssb load",
                database_open(path, &database, error));
    snprintf(file, sizeof file, "%s/catalogue", path);
    const char *const garbage[] = {"", "\n", "tessera catalogu",
                                   "PK\3\4 something else altogether, and long enough\n"};
    for (int g = 0; g < 4; g++) {
        bytes_write(file, garbage[g], strlen(garbage[g]));
        must_refuse(STATUS_BAD_INPUT, file, "no catalogue", "tessera ssb load",
                    database_open(path, &database, error));
    }
    must_refuse(STATUS_BAD_INPUT, file, "not a directory", "", database_open(file, &database, error));
    unlink(file);
    assert_int_equal(mkdir(file, 0777), 0);
    must_refuse(STATUS_BAD_INPUT, file, "it is a directory", "", database_open(path, &database, error));
    directory_remove(path);
}

/* ---- The catalogue ---- */

static void every_flipped_byte_of_the_catalogue_is_seen(void **state)
{
    const char *path = *state;
    struct bytes bytes = bytes_read(path, "catalogue");
    for (size_t b = 0; b < bytes.size; b++) {
        struct error error = {0};
        byte_write(bytes.path, b, bytes.data[b] ^ 0x10);
        enum status status = read_all(path, "lane-for", &error);
        if (status == STATUS_OK || !strstr(error.text, bytes.path))
            fail_msg("byte %zu: status %d, \"%s\"", b, (int)status, error.text);
        /* Behind the first line only the checksum can tell. */
        assert_true(b < 37 || status == STATUS_CHECK_FAILED);
        byte_write(bytes.path, b, bytes.data[b]);
    }
    for (size_t size = 0; size < bytes.size; size += 7) {
        struct error error = {0};
        bytes_write(bytes.path, bytes.data, size);
        assert_int_not_equal(read_all(path, "lane-for", &error), STATUS_OK);
        assert_non_null(strstr(error.text, bytes.path));
    }
    bytes_write(bytes.path, bytes.data, bytes.size);
    must(read_all(path, "lane-for", error));
    free(bytes.data);
}

static void a_newer_catalogue_asks_for_a_newer_program(void **state)
{
    const char *path = *state;
    struct bytes bytes = bytes_read(path, "catalogue");
    struct database *database;
    struct database_writer *writer;
    catalogue_forge(bytes.path, 12, "{}", 2);
    must_refuse(STATUS_BAD_INPUT, bytes.path, "version 12 is newer", "use a newer Tessera",
                database_open(path, &database, error));
    uint64_t files = directory_files(path);
    must_refuse(STATUS_BAD_INPUT, bytes.path, "version 12 is newer", "",
                database_writer_open(path, &writer, error));
    assert_int_equal(directory_files(path), files); /* what it cannot read it does not clean */
    free(bytes.data);
}

/* The body with the first `from` replaced. */
static void forge_replaced(const struct bytes *bytes, const char *from, const char *to)
{
    const char *body = memchr(bytes->data, '\n', bytes->size);
    assert_non_null(body);
    body++;
    size_t size = bytes->size - (size_t)(body - (char *)bytes->data), before;
    char *text = malloc(size + 4096);
    const char *found = memmem(body, size, from, strlen(from));
    assert_non_null(text);
    if (!found)
        fail_msg("the catalogue has no %s", from);
    before = (size_t)(found - body);
    memcpy(text, body, before);
    memcpy(text + before, to, strlen(to));
    memcpy(text + before + strlen(to), found + strlen(from), size - before - strlen(from));
    catalogue_forge(bytes->path, 1, text, size - strlen(from) + strlen(to));
    free(text);
}

#define PART_TEXT(number, of, first, rows, origin)                                         \
    "\"rows\": 3000, \"part\": {\"number\": " number ", \"of\": " of ", \"first\": " first \
    ", \"rows\": " rows ", \"origin\": " origin "}"

static void a_part_says_what_it_is(void **state)
{
    const char *path = *state;
    struct bytes bytes = bytes_read(path, "catalogue");
    struct database *database;
    struct database_writer *writer;
    struct table_writer *appended;
    const struct table *table;
    forge_replaced(&bytes, "\"rows\": 3000", PART_TEXT("3", "4", "6000", "9000", "\"00000000000000aa\""));
    must(database_open(path, &database, error));
    table = database_part(database);
    assert_non_null(table);
    assert_string_equal(table->name, "sale");
    assert_int_equal(table->part.number, 3);
    assert_int_equal(table->part.of, 4);
    assert_int_equal(table->part.first, 6000);
    assert_int_equal(table->part.origin, 0xaa);
    assert_int_equal(table_whole_rows(table), 9000);
    database_close(database);
    must(database_writer_open(path, &writer, error));
    must_refuse(STATUS_BAD_INPUT, "part 3 of 4", "load all parts again", "",
                database_writer_append(writer, "sale", 1, &appended, error));
    database_writer_abort(writer);
    bytes_write(bytes.path, bytes.data, bytes.size);
    must(database_open(path, &database, error));
    assert_null(database_part(database));
    database_close(database);
    free(bytes.data);
}

static void a_hostile_catalogue_is_refused(void **state)
{
    const char *path = *state;
    static const struct {
        const char *from, *to, *word;
    } cases[] = {
        {"\"name\": \"color\"", "\"name\": \"../../etc\"", "\"references\""},
        {"\"name\": \"color\"", "\"name\": \"co/lor\"", "\"references\""},
        {"\"name\": \"color\"", "\"name\": \"sale\"", "\"name\""},
        {"\"name\": \"color\"", "\"nome\": \"color\"", "\"name\""},
        {"\"name\": \"c_key\"", "\"name\": \"\"", "\"name\""},
        {"\"name\": \"c_key\"", "\"name\": \"c_name\"", "\"name\""},
        {"\"name\": \"c_key\"", "\"name\": 7", "\"name\""},
        {"\"name\": \"c_key\"",
         "\"references\": {\"table\": \"color\", \"column\": \"c_key\"}, \"name\": \"c_key\"",
         "\"references\""},
        {"\"rows\": 3000", "\"rows\": -1", "\"rows\""},
        {"\"rows\": 3000", PART_TEXT("0", "4", "0", "9000", "\"00000000000000aa\""), "\"part\""},
        {"\"rows\": 3000", PART_TEXT("5", "4", "0", "9000", "\"00000000000000aa\""), "\"number\""},
        {"\"rows\": 3000", PART_TEXT("1", "4", "0", "2999", "\"00000000000000aa\""), "\"part\""},
        {"\"rows\": 3000", PART_TEXT("4", "4", "6001", "9000", "\"00000000000000aa\""), "\"part\""},
        {"\"rows\": 3000", PART_TEXT("1", "4", "-1", "9000", "\"00000000000000aa\""), "\"first\""},
        {"\"rows\": 3000", PART_TEXT("1", "1048577", "0", "9000", "\"00000000000000aa\""), "\"of\""},
        {"\"rows\": 3000", PART_TEXT("1", "4", "0", "9000", "7"), "\"origin\""},
        {"\"rows\": 3000", PART_TEXT("1", "4", "0", "9000", "\"aa\""), "\"origin\""},
        {"\"rows\": 3000", "\"key\": [99], \"rows\": 3000", "\"key\""},
        {"\"rows\": 3000", "\"key\": [0, 0], \"rows\": 3000", "\"key\""},
        {"\"rows\": 3000", "\"key\": [], \"rows\": 3000", "\"key\""},
        {"\"rows\": 3000", "\"key\": [-1], \"rows\": 3000", "\"key\""},
        {"\"nullable\": true", "\"nullable\": true, \"of\": [0], \"key\": [0]", "\"of\""},
        {"\"references\": {", "\"of\": [0], \"references\": {", "\"of\""},
        {"\"references\": {", "\"of\": [0], \"key\": [1], \"references\": {", "\"of\""},
        {"\"rows\": 3000", "\"rows\": 9223372036854775807", "\"rows\""},
        {"\"rows\": 3000", "\"rows\": 9223372036854775808", "line"},
        {"\"rows\": 3000", "\"rows\": 3e3", "\"rows\""},
        {"\"type\": \"int32\"", "\"type\": \"complex\"", "\"type\""},
        {"\"precision\": 12", "\"precision\": 99", "\"precision\""},
        {"\"scale\": 2", "\"scale\": 13", "\"scale\""},
        {"\"nullable\": true", "\"nullable\": 1", "\"nullable\""},
        {"\"table\": \"color\"", "\"table\": \"colour\"", "\"references\""},
        {"\"column\": \"c_key\"", "\"column\": \"c_kay\"", "\"references\""},
        {"\"own\": \"lane-for\"", "\"own\": \"plain\"", "\"own\""},
        {"\"own\": \"lane-for\"", "\"own\": \"zip-9\"", "newer Tessera"},
        {"\"codec\": \"lane-for\"", "\"codec\": \"../plain\"", "newer Tessera"},
        {"\"chosen_by\": \"lane-for\"", "\"chosen_by\": \"\"", "\"chosen_by\""},
        {"\"encodings\": [", "\"encodings\": [[],", "\"codec\""},
        {"\"tables\": [", "\"tables\": [[],", "\"name\""},
        {"\"tables\": [", "\"views\": [], \"tables\": [", "\"views\""},
        {"\"tables\": [", "\"views\": 7, \"tables\": [", "\"views\""},
        {"\"tables\": [", "\"views\": [{\"query\": \"x\"}], \"tables\": [", "\"name\""},
        {"\"tables\": [", "\"views\": [{\"name\": \"\", \"query\": \"x\"}], \"tables\": [", "\"name\""},
        {"\"tables\": [", "\"views\": [{\"name\": \"v\"}], \"tables\": [", "\"views\""},
        {"\"tables\": [", "\"views\": [{\"name\": \"v\", \"query\": 7}], \"tables\": [", "\"views\""},
        {"\"tables\": [", "\"views\": [{\"name\": \"SALE\", \"query\": \"x\"}], \"tables\": [", "\"views\""},
        {"\"tables\": [",
         "\"views\": [{\"name\": \"v\", \"query\": \"x\"}, {\"name\": \"V\", \"query\": \"x\"}], "
         "\"tables\": [",
         "\"views\""},
        {"\"columns\": [", "\"columns\": [], \"other\": [", "\"columns\""},
        {"\"generation\": 1", "\"generation\": 1, \"generation\": 1", "line"},
        {"{", "[{", "line"},
        {"{", "{\"a\": {", "line"},
    };
    struct bytes bytes = bytes_read(path, "catalogue");
    struct database *database;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        forge_replaced(&bytes, cases[c].from, cases[c].to);
        must_refuse(STATUS_BAD_INPUT, bytes.path, cases[c].word, "", database_open(path, &database, error));
    }
    char deep[20000];
    memset(deep, '[', sizeof deep);
    catalogue_forge(bytes.path, 1, deep, sizeof deep);
    must_refuse(STATUS_BAD_INPUT, bytes.path, "line", "", database_open(path, &database, error));
    free(bytes.data);
}

/* ---- Column files ---- */

#define DAY_FILE   "tables/sale/s_day.lane-for.1"
#define COLOR_FILE "tables/sale/s_color.lane-for.1"
#define NOTE_SIDE  "tables/sale/s_note.side.1"

static void every_flipped_byte_of_a_column_file_is_seen(void **state)
{
    const char *path = *state;
    const char *const names[] = {DAY_FILE, NOTE_SIDE};
    for (int n = 0; n < 2; n++) {
        struct bytes bytes = bytes_read(path, names[n]);
        for (size_t b = 0; b < bytes.size; b += b < 256 || b + 256 > bytes.size ? 1 : 5) {
            struct error error = {0};
            byte_write(bytes.path, b, bytes.data[b] ^ 0x01);
            enum status status = read_all(path, "lane-for", &error);
            if (status == STATUS_OK || !strstr(error.text, bytes.path))
                fail_msg("%s, byte %zu: status %d, \"%s\"", names[n], b, (int)status, error.text);
            /* Only what must be understood before the checksum may be called anything else. */
            assert_true(b < 16 || status == STATUS_CHECK_FAILED);
            byte_write(bytes.path, b, bytes.data[b]);
        }
        must(read_all(path, "lane-for", error));
        free(bytes.data);
    }
}

static void the_damaged_part_is_named(void **state)
{
    const char *path = *state;
    struct bytes day = bytes_read(path, DAY_FILE), note = bytes_read(path, NOTE_SIDE);
    byte_write(day.path, 4096, day.data[4096] ^ 1);
    must_refuse(STATUS_CHECK_FAILED, day.path, "segment 0: the chunk is damaged", "load the table again",
                read_all(path, "lane-for", error));
    byte_write(day.path, 4096, day.data[4096]);
    byte_write(day.path, 40, day.data[40] ^ 1);
    must_refuse(STATUS_CHECK_FAILED, day.path, "the header is damaged", "",
                read_all(path, "lane-for", error));
    byte_write(day.path, 40, day.data[40]);
    byte_write(day.path, day.size - 1, 0);
    must_refuse(STATUS_CHECK_FAILED, day.path, "the trailer is damaged", "",
                read_all(path, "lane-for", error));
    byte_write(day.path, day.size - 1, day.data[day.size - 1]);
    byte_write(day.path, day.size - 40, day.data[day.size - 40] ^ 1);
    must_refuse(STATUS_CHECK_FAILED, day.path, "the directory", "", read_all(path, "lane-for", error));
    byte_write(day.path, day.size - 40, day.data[day.size - 40]);
    byte_write(day.path, 8, 2);
    must_refuse(STATUS_BAD_INPUT, day.path, "version 2 is newer", "use a newer Tessera",
                read_all(path, "lane-for", error));
    byte_write(day.path, 8, 1);
    byte_write(day.path, 0, 'X');
    must_refuse(STATUS_BAD_INPUT, day.path, "no column file", "", read_all(path, "lane-for", error));
    byte_write(day.path, 0, 'T');
    must(read_all(path, "lane-for", error));
    free(day.data);
    free(note.data);
}

static void truncated_and_missing_files_are_named(void **state)
{
    const char *path = *state;
    struct bytes day = bytes_read(path, DAY_FILE);
    for (size_t size = 0; size < day.size; size += size < 4000 ? 1000 : 61) {
        bytes_write(day.path, day.data, size);
        must_refuse(STATUS_BAD_INPUT, day.path, "truncated", "load the table again",
                    read_all(path, "lane-for", error));
    }
    uint8_t *longer = calloc(1, day.size + 128);
    assert_non_null(longer);
    memcpy(longer, day.data, day.size);
    bytes_write(day.path, longer, day.size + 128);
    must_refuse(STATUS_BAD_INPUT, day.path, "sizes do not match", "", read_all(path, "lane-for", error));
    free(longer);
    unlink(day.path);
    must_refuse(STATUS_BAD_INPUT, day.path, "is missing", "load the table again",
                read_all(path, "lane-for", error));
    assert_int_equal(mkdir(day.path, 0777), 0);
    must_refuse(STATUS_BAD_INPUT, day.path, "it is a directory", "", read_all(path, "lane-for", error));
    free(day.data);
}

static void another_columns_file_is_refused(void **state)
{
    const char *path = *state;
    char other_path[PATH_BYTES];
    struct bytes day = bytes_read(path, DAY_FILE), color = bytes_read(path, COLOR_FILE);
    bytes_write(day.path, color.data, color.size);
    must_refuse(STATUS_BAD_INPUT, day.path, "belongs to column sale.s_color, not to sale.s_day", "",
                read_all(path, "lane-for", error));
    directory_make(other_path);
    database_make(other_path, "plain", ROWS);
    struct bytes plain = bytes_read(other_path, "tables/sale/s_day.plain.1");
    bytes_write(day.path, plain.data, plain.size);
    must_refuse(STATUS_BAD_INPUT, day.path, "another codec", "", read_all(path, "lane-for", error));
    directory_remove(other_path);
    directory_make(other_path);
    database_make(other_path, "lane-for", ROWS - 1);
    struct bytes shorter = bytes_read(other_path, DAY_FILE);
    bytes_write(day.path, shorter.data, shorter.size);
    must_refuse(STATUS_BAD_INPUT, day.path, "rows or value size", "", read_all(path, "lane-for", error));
    directory_remove(other_path);
    database_make(path, "lane-for", ROWS); /* generation 2 beside what an old copy brings back */
    bytes_write(day.path, day.data, day.size);
    must(read_all(path, "lane-for", error));
    struct bytes second = bytes_read(path, "tables/sale/s_day.lane-for.2");
    bytes_write(second.path, day.data, day.size);
    must_refuse(STATUS_BAD_INPUT, second.path, "another generation", "", read_all(path, "lane-for", error));
    free(day.data), free(color.data), free(plain.data), free(shorter.data), free(second.data);
}

/* ---- Check ---- */

struct report {
    unsigned faults, notes;
    char text[8192];
};

static void collect(void *context, const char *line, bool fault)
{
    struct report *report = context;
    report->faults += fault;
    report->notes += !fault;
    assert_true(strlen(report->text) + strlen(line) + 2 < sizeof report->text);
    strcat(strcat(report->text, line), "\n");
}

static void check_lists_every_fault(void **state)
{
    const char *path = *state;
    struct report report = {0};
    char file[2 * PATH_BYTES];
    must(database_check(path, 2, collect, &report, NULL, error));
    assert_int_equal(report.faults + report.notes, 0);
    struct bytes day = bytes_read(path, DAY_FILE), note = bytes_read(path, NOTE_SIDE),
                 color = bytes_read(path, COLOR_FILE);
    byte_write(day.path, 4200, day.data[4200] ^ 4);
    byte_write(note.path, 4100, note.data[4100] ^ 4);
    unlink(color.path);
    for (int generation = 9; generation < 12; generation++) {
        snprintf(file, sizeof file, "%s/tables/sale/s_day.plain.%d", path, generation);
        bytes_write(file, "1234", 4);
    }
    snprintf(file, sizeof file, "%s/tables/sale/letter.txt", path);
    bytes_write(file, "", 0);
    must_refuse(STATUS_CHECK_FAILED, path, "", "", database_check(path, 2, collect, &report, NULL, error));
    assert_int_equal(report.faults, 3);
    assert_int_equal(report.notes, 2);
    const char *const words[] = {
        DAY_FILE ": segment 0: the chunk is damaged", NOTE_SIDE, COLOR_FILE ": the file is missing",
        ": 3 files with 12 bytes are not in the catalogue", "letter.txt: not a file of this database"};
    for (int w = 0; w < 5; w++)
        assert_non_null(strstr(report.text, words[w]));
    database_make(path, "lane-for",
                  ROWS); /* the next writer removes what looks like ours, and nothing else */
    memset(&report, 0, sizeof report);
    must(database_check(path, 2, collect, &report, NULL, error));
    assert_int_equal(report.notes, 1);
    free(day.data), free(note.data), free(color.data);
}

/* Right checksums over wrong values: the catalogue's, a chunk's, and those of NULL rows. */
static void check_compares_values_with_statistics(void **state)
{
    const char *path = *state;
    database_make(path, "plain", ROWS);
    struct bytes catalogue = bytes_read(path, "catalogue");
    forge_replaced(&catalogue, "\"max\": 30", "\"max\": 31"); /* c_key's */
    must_refuse(STATUS_CHECK_FAILED, "color.c_key", "not those in the catalogue", "",
                database_check(path, 1, NULL, NULL, NULL, error));
    bytes_write(catalogue.path, catalogue.data, catalogue.size);
    free(catalogue.data);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    static const struct {
        const char *name, *column;
        size_t row;
    } cases[] = {{"tables/sale/s_day.plain.2", "sale.s_day", 1500},
                 {"tables/sale/s_note.plain.2", "sale.s_note", 1000}};
    assert_true(sale_null(SALE_NOTE, cases[1].row));
    for (int c = 0; c < 2; c++) {
        struct bytes file = bytes_read(path, cases[c].name);
        uint8_t *copy = malloc(file.size);
        assert_non_null(copy);
        memcpy(copy, file.data, file.size);
        copy[4096 + 128 + 4 * cases[c].row + 1] ^= 0x40;
        reseal(copy, file.size);
        bytes_write(file.path, copy, file.size);
        must_refuse(STATUS_CHECK_FAILED, cases[c].column, "not within its statistics", "",
                    database_check(path, 1, NULL, NULL, NULL, error));
        bytes_write(file.path, file.data, file.size);
        free(copy), free(file.data);
    }
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

static int run_program(const char *arguments, const char *path)
{
    static struct program_run run;
    char shell[PATH_BYTES + 128];
    snprintf(shell, sizeof shell, "\"$T\" %s %s", arguments, path);
    run_shell(shell, &run);
    return run.exit_code;
}

static void the_program_says_it_with_its_exit_code(void **state)
{
    const char *path = *state;
    assert_int_equal(run_program("check --db", path), 0);
    assert_int_equal(run_program("inspect --db", path), 0);
    assert_int_equal(run_program("inspect --format json sale.s_day --db", path), 0);
    assert_int_equal(run_program("inspect sale.s_dy --db", path), 2);
    assert_int_equal(run_program("inspect --format yaml --db", path), 2);
    assert_int_equal(run_program("check", ""), 2);
    assert_int_equal(run_program("check --db", "/nowhere/at/all"), 2);
    struct bytes day = bytes_read(path, DAY_FILE);
    byte_write(day.path, 4200, day.data[4200] ^ 4);
    assert_int_equal(run_program("check --db", path), 1);
    assert_int_equal(run_program("inspect --db", path), 0); /* it reads no chunks */
    free(day.data);
    struct bytes catalogue = bytes_read(path, "catalogue");
    byte_write(catalogue.path, 100, catalogue.data[100] ^ 4);
    assert_int_equal(run_program("check --db", path), 1);
    assert_int_equal(run_program("inspect --db", path), 1);
    free(catalogue.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_that_is_no_database_is_refused),
        in_a_database(every_flipped_byte_of_the_catalogue_is_seen),
        in_a_database(a_newer_catalogue_asks_for_a_newer_program),
        in_a_database(a_part_says_what_it_is),
        in_a_database(a_hostile_catalogue_is_refused),
        in_a_database(every_flipped_byte_of_a_column_file_is_seen),
        in_a_database(the_damaged_part_is_named),
        in_a_database(truncated_and_missing_files_are_named),
        in_a_database(another_columns_file_is_refused),
        in_a_database(check_lists_every_fault),
        in_a_database(check_compares_values_with_statistics),
        in_a_database(the_program_says_it_with_its_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
