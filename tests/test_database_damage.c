/* test_database_damage.c: a database that was damaged, by accident or on purpose, gives a sentence that names
 * the file or the right data; a crash or a full disk leaves the old state. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/database_cases.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <xxhash.h>

#define ROWS  3000 /* three tiles, the last one partly filled */
#define SEED  20260117u
#define FILES 32

/* ---- Files as bytes ---- */

struct bytes {
    char path[2 * PATH_BYTES];
    uint8_t *data;
    size_t size;
};

static struct bytes bytes_of(const char *path)
{
    struct bytes bytes;
    struct stat stat_of;
    snprintf(bytes.path, sizeof bytes.path, "%s", path);
    FILE *file = fopen(bytes.path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &stat_of), 0);
    bytes.size = (size_t)stat_of.st_size;
    bytes.data = malloc(bytes.size + 1);
    assert_non_null(bytes.data);
    assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
    return bytes;
}

static struct bytes bytes_read(const char *directory, const char *name)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return bytes_of(path);
}

static void bytes_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static void byte_write(const char *path, size_t offset, uint8_t byte)
{
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, &byte, 1, (off_t)offset), 1);
    close(file);
}

/* Opens everything and reads every value: the first failure's status, or OK; wrong data fail the test. */
static enum status read_all(const char *path, const char *codec, struct error *error)
{
    struct database *database;
    const struct table *table;
    enum status status = database_open(path, &database, error);
    if (status != STATUS_OK)
        return status;
    status = database_table(database, "sale", &table, error);
    for (int c = 0; c < SALE_COLUMNS && status == STATUS_OK; c++) {
        struct column_data *data;
        status = column_data_open(database, &table->columns[c], codec_by_name(codec)->id, 1, &data, error);
        if (status != STATUS_OK)
            break;
        assert_int_equal(table->rows, ROWS);
        assert_int_equal(sale_difference(data, c), -1);
        column_data_close(data);
    }
    database_close(database);
    return status;
}

static int database_begin(void **state)
{
    static char path[PATH_BYTES];
    directory_make(path);
    database_make(path, "lane-for", ROWS);
    *state = path;
    return 0;
}

static int database_end(void **state)
{
    directory_remove(*state);
    return 0;
}

/* ---- Places that are none ---- */

static void a_place_that_is_no_database_is_refused(void **state)
{
    (void)state;
    char path[PATH_BYTES], file[2 * PATH_BYTES];
    struct database *database;
    directory_make(path);
    must_refuse(STATUS_BAD_INPUT, path, "No such file", "tessera load",
                database_open(path, &database, error));
    must_refuse(STATUS_BAD_INPUT, path, "No such file", "", database_check(path, 1, NULL, NULL, NULL, error));
    assert_int_equal(mkdir(path, 0777), 0);
    must_refuse(STATUS_BAD_INPUT, path, "no file \"catalogue\"", "tessera load",
                database_open(path, &database, error));
    snprintf(file, sizeof file, "%s/catalogue", path);
    const char *const garbage[] = {"", "\n", "tessera catalogu",
                                   "PK\3\4 something else altogether, and long enough\n"};
    for (int g = 0; g < 4; g++) {
        bytes_write(file, garbage[g], strlen(garbage[g]));
        must_refuse(STATUS_BAD_INPUT, file, "no catalogue", "tessera load",
                    database_open(path, &database, error));
    }
    must_refuse(STATUS_BAD_INPUT, file, "not a directory", "", database_open(file, &database, error));
    unlink(file);
    assert_int_equal(mkdir(file, 0777), 0);
    must_refuse(STATUS_BAD_INPUT, file, "no catalogue", "", database_open(path, &database, error));
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

/* Writes a catalogue of that body with a right checksum. */
static void catalogue_forge(const char *path, unsigned version, const char *body, size_t size)
{
    char *text = malloc(size + 64);
    assert_non_null(text);
    int line =
        sprintf(text, "tessera catalogue %u %016" PRIx64 "\n", version, (uint64_t)XXH3_64bits(body, size));
    memcpy(text + line, body, size);
    bytes_write(path, text, (size_t)line + size);
    free(text);
}

static void a_newer_catalogue_asks_for_a_newer_program(void **state)
{
    const char *path = *state;
    struct bytes bytes = bytes_read(path, "catalogue");
    struct database *database;
    struct database_writer *writer;
    catalogue_forge(bytes.path, 2, "{}", 2);
    must_refuse(STATUS_BAD_INPUT, bytes.path, "version 2 is newer", "use a newer Tessera",
                database_open(path, &database, error));
    uint64_t files = directory_files(path);
    must_refuse(STATUS_BAD_INPUT, bytes.path, "version 2 is newer", "",
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

static void a_hostile_catalogue_is_refused(void **state)
{
    const char *path = *state;
    static const struct {
        const char *from, *to, *word;
    } cases[] = {
        {"\"name\": \"color\"", "\"name\": \"../../etc\"", "\"name\""},
        {"\"name\": \"color\"", "\"name\": \"co/lor\"", "\"name\""},
        {"\"name\": \"color\"", "\"name\": \"sale\"", "\"name\""},
        {"\"name\": \"color\"", "\"nome\": \"color\"", "\"name\""},
        {"\"name\": \"c_key\"", "\"name\": \"..\"", "\"name\""},
        {"\"name\": \"c_key\"", "\"name\": \"c_name\"", "\"name\""},
        {"\"name\": \"c_key\"", "\"name\": 7", "\"name\""},
        {"\"rows\": 3000", "\"rows\": -1", "\"rows\""},
        {"\"rows\": 3000", "\"rows\": 9223372036854775807", "\"rows\""},
        {"\"rows\": 3000", "\"rows\": 9223372036854775808", "line"},
        {"\"rows\": 3000", "\"rows\": 3e3", "\"rows\""},
        {"\"type\": \"int32\"", "\"type\": \"float\"", "\"type\""},
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
    must_refuse(STATUS_BAD_INPUT, day.path, "not a file", "", read_all(path, "lane-for", error));
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
    snprintf(file, sizeof file, "%s/tables/sale/s_day.plain.9", path);
    bytes_write(file, "", 0);
    snprintf(file, sizeof file, "%s/tables/sale/letter.txt", path);
    bytes_write(file, "", 0);
    must_refuse(STATUS_CHECK_FAILED, path, "", "", database_check(path, 2, collect, &report, NULL, error));
    assert_int_equal(report.faults, 3);
    assert_int_equal(report.notes, 2);
    const char *const words[] = {DAY_FILE ": segment 0: the chunk is damaged", NOTE_SIDE,
                                 COLOR_FILE ": the file is missing", "s_day.plain.9: not in the catalogue",
                                 "letter.txt: not a file of this database"};
    for (int w = 0; w < 5; w++)
        assert_non_null(strstr(report.text, words[w]));
    database_make(path, "lane-for",
                  ROWS); /* the next writer removes what looks like ours, and nothing else */
    memset(&report, 0, sizeof report);
    must(database_check(path, 2, collect, &report, NULL, error));
    assert_int_equal(report.notes, 1);
    free(day.data), free(note.data), free(color.data);
}

/* A file of the right checksums whose values are others than its statistics. */
static void check_compares_values_with_statistics(void **state)
{
    const char *path = *state;
    struct bytes catalogue = bytes_read(path, "catalogue");
    forge_replaced(&catalogue, "\"max\": 30", "\"max\": 31"); /* c_key's */
    must_refuse(STATUS_CHECK_FAILED, "color.c_key", "not those in the catalogue", "",
                database_check(path, 1, NULL, NULL, NULL, error));
    bytes_write(catalogue.path, catalogue.data, catalogue.size);
    must(database_check(path, 1, NULL, NULL, NULL, error));
    free(catalogue.data);
}

static int run_program(const char *arguments, const char *path)
{
    char command[3 * PATH_BYTES];
    snprintf(command, sizeof command, "%s %s %s >/dev/null 2>&1", TESSERA_PROGRAM, arguments, path);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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

/* ---- Crashes and full disks ---- */

static void a_killed_writer_changes_nothing(void **state)
{
    const char *path = *state;
    uint64_t files = directory_files(path);
    for (int where = 0; where < 3; where++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct database_writer *writer;
            struct table_writer *table;
            if (database_writer_open(path, &writer, NULL) != STATUS_OK)
                _exit(1);
            write_color(writer, "plain");
            if (where == 1)
                write_sale(writer, "plain", ROWS - 1);
            if (where == 2 &&
                database_writer_table(writer, "other", color_columns, 2, 3, &table, NULL) != STATUS_OK)
                _exit(1);
            _exit(0); /* no abort, no commit: as if killed */
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_true(directory_files(path) > files);
        must(read_all(path, "lane-for", error));
        must(database_check(path, 1, NULL, NULL, NULL, error));
        struct database_writer *writer;
        must(database_writer_open(path, &writer, error)); /* the lock died with the writer */
        assert_int_equal(directory_files(path), files);
        database_writer_abort(writer);
    }
    must(read_all(path, "lane-for", error));
}

static void a_first_writer_that_was_killed_can_be_repeated(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct database *database;
    directory_make(path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct database_writer *writer;
        if (database_writer_open(path, &writer, NULL) == STATUS_OK)
            write_color(writer, "plain");
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    must_refuse(STATUS_BAD_INPUT, path, "first load did not finish", "",
                database_open(path, &database, error));
    database_make(path, "lane-for", ROWS);
    must(read_all(path, "lane-for", error));
    directory_remove(path);
}

/* While no file may become larger than `limit`. */
static void limit_files(rlim_t limit, struct rlimit *before)
{
    assert_int_equal(getrlimit(RLIMIT_FSIZE, before), 0);
    struct rlimit small = {.rlim_cur = limit, .rlim_max = before->rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static void unlimit_files(const struct rlimit *before)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, before), 0);
    signal(SIGXFSZ, SIG_DFL);
}

#define KEYS 12

/* A table of one plain column of `rows` keys, or of KEYS columns without rows. */
static enum status load_keys(const char *path, rlim_t limit, uint64_t rows, struct error *reason)
{
    struct rlimit before;
    struct database_writer *writer;
    struct table_writer *table;
    struct column_schema schemas[KEYS] = {{.name = "k0", .type = TYPE_INT64}};
    int64_t *values = calloc(ROWS, sizeof *values);
    assert_non_null(values);
    for (int k = 1; k < KEYS; k++) {
        schemas[k].type = TYPE_INT64;
        snprintf(schemas[k].name, NAME_BYTES, "k%d", k);
    }
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "keys", schemas, rows ? 1 : KEYS, rows, &table, error));
    must(table_writer_codec(table, 0, "plain", error));
    limit_files(limit, &before);
    enum status status = rows ? table_writer_segment(table, 0, 0, values, NULL, reason) : STATUS_OK;
    if (status == STATUS_OK)
        status = database_writer_commit(writer, reason);
    else
        database_writer_abort(writer);
    unlimit_files(&before);
    free(values);
    return status;
}

static enum status encode_keys(const char *path, rlim_t limit, struct error *reason)
{
    struct rlimit before;
    struct database *database;
    const struct table *table;
    struct codec_choice plain;
    enum codec_id codec;
    must(codec_choice_parse("plain", &plain, error));
    must(database_open(path, &database, error));
    must(database_table(database, "sale", &table, error));
    limit_files(limit, &before);
    enum status status = database_encode(database, &table->columns[SALE_KEY], &plain, 1, &codec, reason);
    unlimit_files(&before);
    assert_int_equal(table->columns[SALE_KEY].encoding_count, status == STATUS_OK ? 2 : 1);
    database_close(database);
    return status;
}

static void a_full_disk_leaves_nothing_half_written(void **state)
{
    const char *path = *state;
    char other[PATH_BYTES];
    directory_make(other);
    database_make(other, "plain", ROWS);
    struct bytes plain = bytes_read(other, "tables/sale/s_key.plain.1");
    directory_remove(other);
    uint64_t files = directory_files(path);
    /* In the first chunk, behind it, in the directory, in the trailer, in the header. */
    const rlim_t limits[] = {0, 4000, 4096, 8192, plain.size - 73, plain.size - 50, plain.size - 1};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        must_refuse(STATUS_MACHINE, path, "File too large", "make room", encode_keys(path, limits[l], error));
        assert_int_equal(directory_files(path), files);
        must_refuse(STATUS_MACHINE, path, "File too large", "make room",
                    load_keys(path, limits[l], ROWS, error));
        assert_int_equal(directory_files(path), files);
        must(read_all(path, "lane-for", error));
    }
    /* Files of no rows fit, the catalogue of 21 columns does not. */
    must_refuse(STATUS_MACHINE, "catalogue.new", "File too large", "make room",
                load_keys(path, 4096 + 32, 0, error));
    assert_int_equal(directory_files(path), files);
    must(read_all(path, "lane-for", error));
    must(encode_keys(path, RLIM_INFINITY, error));
    must(load_keys(path, RLIM_INFINITY, ROWS, error));
    must(database_check(path, 1, NULL, NULL, NULL, error));
    free(plain.data);
}

/* ---- Fuzzing ---- */

static struct bytes fuzzed[FILES];
static int fuzzed_count;

static int gather(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)walk;
    if (type == FTW_F && stat->st_size > 0) {
        assert_true(fuzzed_count < FILES);
        fuzzed[fuzzed_count++] = bytes_of(path);
    }
    return 0;
}

static uint64_t random_state = SEED;

static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16) % bound;
}

/* Flips, overwrites, clears or cuts; returns the new size. */
static size_t mutate(uint8_t *data, size_t size)
{
    uint32_t kind = random_below(8), count = 1 + random_below(8);
    if (kind == 0)
        return random_below((uint32_t)size);
    /* Most of a small column file is the header's empty page: half of the hits go where something is. */
    for (uint32_t i = 0; i < count; i++) {
        size_t place = size > 4096 && random_below(4)  ? 4096 + random_below((uint32_t)(size - 4096))
                       : size > 256 && random_below(2) ? random_below(256)
                                                       : random_below((uint32_t)size);
        if (kind < 4)
            data[place] ^= (uint8_t)(1u << random_below(8));
        else if (kind < 7)
            data[place] = (uint8_t)(random_below(2) ? 0xff : random_below(256));
        else
            memset(data + place, 0, size - place < 64 ? size - place : 64);
    }
    return size;
}

static void put64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Makes all checksums of a column file right again, as an attacker would: then only the checks of fields
 * stand between its bytes and the decoders. */
static void reseal(uint8_t *data, size_t size)
{
    uint64_t directory, parts = 0;
    if (size < 4096 + 32)
        return;
    memcpy(&parts, data + 40, 4);
    memcpy(&directory, data + 48, 8);
    if (directory > size - 32 || (size - 32 - directory) / 40 < parts)
        return;
    for (uint64_t p = 0; p < parts; p++) {
        uint8_t *entry = data + directory + 40 * p;
        uint64_t offset, bytes;
        memcpy(&offset, entry, 8);
        memcpy(&bytes, entry + 8, 8);
        uint64_t padded = (bytes + 127) / 128 * 128;
        if (offset <= size && padded >= bytes && padded <= size - offset)
            put64(entry + 16, XXH3_64bits(data + offset, padded));
    }
    put64(data + 4088, XXH3_64bits(data, 4088));
    memcpy(data + size - 24, data + 4088, 8);
    put64(data + size - 32, XXH3_64bits(data + directory, 40 * parts));
}

/* Whatever a file says that is sealed rightly, reading it stays inside of it; its values may be any. */
static void decode_anything(const char *path)
{
    struct database *database;
    static int64_t sink[TILE_ROWS];
    if (database_open(path, &database, NULL) != STATUS_OK)
        return;
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *table = database_table_at(database, t);
        for (uint32_t c = 0; c < table->column_count; c++) {
            struct column_data *data;
            const struct column *column = &table->columns[c];
            for (uint32_t code = 0; column->dictionary && code < column->dictionary->count; code++) {
                uint32_t length;
                const char *string = dictionary_string(column->dictionary, code, &length);
                (void)dictionary_find(column->dictionary, string, length);
            }
            if (column_data_open(database, column, column->own, 1, &data, NULL) != STATUS_OK)
                continue;
            for (uint32_t s = 0; s < data->segment_count; s++) {
                const struct chunk_view *chunk = &data->segments[s].chunk;
                for (uint32_t tile = 0; tile < chunk->tiles; tile++)
                    chunk->codec->decode_tile(chunk, tile, sink);
                sink[0] += chunk->codec->value(chunk, chunk->rows - 1);
            }
            column_data_close(data);
        }
    }
    database_close(database);
    enum status status = database_check(path, 1, NULL, NULL, NULL, NULL);
    assert_true(status == STATUS_OK || status == STATUS_CHECK_FAILED || status == STATUS_BAD_INPUT);
}

static void fuzz(const char *codec, int rounds)
{
    char path[PATH_BYTES];
    directory_make(path);
    database_make(path, codec, ROWS);
    fuzzed_count = 0;
    nftw(path, gather, 16, FTW_PHYS);
    assert_true(fuzzed_count > SALE_COLUMNS);
    for (int round = 0; round < rounds; round++) {
        const struct bytes *file = &fuzzed[random_below((uint32_t)fuzzed_count)];
        uint8_t *copy = malloc(file->size);
        assert_non_null(copy);
        memcpy(copy, file->data, file->size);
        size_t size = mutate(copy, file->size);
        bytes_write(file->path, copy, size);
        assert_int_not_equal(read_all(path, codec, NULL), STATUS_MACHINE); /* wrong data fail in there */
        reseal(copy, size);
        bytes_write(file->path, copy, size);
        decode_anything(path);
        bytes_write(file->path, file->data, file->size);
        free(copy);
    }
    must(read_all(path, codec, error));
    for (int f = 0; f < fuzzed_count; f++)
        free(fuzzed[f].data);
    directory_remove(path);
}

static void random_damage_gives_an_error_or_the_right_data(void **state)
{
    (void)state;
    print_message("seed %u\n", SEED);
    const char *const codecs[] = {"plain",    "nsf",      "lane-for",   "gpu-for",
                                  "gpu-dfor", "gpu-rfor", "lane-delta", "rank-rle"};
    for (int c = 0; c < 8; c++)
        fuzz(codecs[c], 250);
}

#define in_a_database(test) cmocka_unit_test_setup_teardown(test, database_begin, database_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_that_is_no_database_is_refused),
        in_a_database(every_flipped_byte_of_the_catalogue_is_seen),
        in_a_database(a_newer_catalogue_asks_for_a_newer_program),
        in_a_database(a_hostile_catalogue_is_refused),
        in_a_database(every_flipped_byte_of_a_column_file_is_seen),
        in_a_database(the_damaged_part_is_named),
        in_a_database(truncated_and_missing_files_are_named),
        in_a_database(another_columns_file_is_refused),
        in_a_database(check_lists_every_fault),
        in_a_database(check_compares_values_with_statistics),
        in_a_database(the_program_says_it_with_its_exit_code),
        in_a_database(a_killed_writer_changes_nothing),
        cmocka_unit_test(a_first_writer_that_was_killed_can_be_repeated),
        in_a_database(a_full_disk_leaves_nothing_half_written),
        cmocka_unit_test(random_damage_gives_an_error_or_the_right_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
