/*
 * test_corpora.c: the target of AFL++ (tests/fuzz/afl.sh), and the inputs that it has found: statements, catalogues, column
 * files, and files of rows. An input is answered, or refused with a sentence, within some seconds and some memory, and never
 * read outside of what it has: build with TESSERA_SANITIZE. What an input says may be any: checksums are made right.
 *
 *     test_corpora                         all inputs below tests/data/fuzz, as `make check` does
 *     test_corpora KIND FILE...            inputs of one kind
 *     test_corpora --seeds KIND FOLDER     writes inputs without damage, of catalogues and column files
 *     test_corpora --words                 the names of functions and aggregates, and the words that no name is
 *     test_corpora KIND                    AFL++ gives the inputs, if afl-clang-fast has compiled it
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/aggregate/names.h"
#include "engine/function/function.h"
#include "engine/library/library.h"
#include "loader/columnar/columnar_bounds.h"
#include "storage/base/words/sql_name.h"
#include "tests/fuzz/fuzz_decode.h"
#include "tests/support/database_files.h"
#include "tests/support/sql/sql_star.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#define INPUT_BYTES    (1u << 20) /* longer ones are cut */
#define STATEMENT_MS   300        /* of a processor: then a statement is stopped, as Ctrl-C would */
#define MEMORY         "64M"      /* of a statement: more is refused */
#define SHOWN_ROWS     1000u
#define CODEC_ROWS     1100u /* two tiles */
#define WORDS          700u  /* of a dictionary that is worth compressing */
#define INPUTS_OF_FORK 500   /* then AFL++ has a new process */

/* The database of the kind, or the folder in which files of rows are. */
static char folder[PATH_BYTES];

static void stop(int signal_number)
{
    (void)signal_number;
    tessera_interrupt();
}

static void stop_after(unsigned milliseconds)
{
    const struct itimerval timer = {.it_value.tv_usec = milliseconds * 1000};
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* A fault that is no signal becomes one, which AFL++ counts. */
static void must_tell(int status, const char *text, bool machine)
{
    if (status == TESSERA_OK || (strlen(text) >= 10 && (machine || status != TESSERA_MACHINE)))
        return;
    fprintf(stderr, "status %d, \"%s\"\n", status, text);
    abort();
}

/* Reads an answer as a program would. */
static uint64_t read_result(struct tessera_result *result)
{
    const uint64_t rows = tessera_rows(result);
    uint64_t bytes = 0;
    for (uint64_t row = 0; row < rows && row < SHOWN_ROWS; row++)
        for (uint32_t c = 0; c < tessera_columns(result); c++) {
            uint32_t length = 0;
            (void)tessera_text(result, c, row, &length);
            bytes += length;
        }
    return bytes;
}

/* Asks a statement; one that would write a file or change tables is parsed alone. */
static void ask(struct tessera_database *database, const char *sql)
{
    struct tessera_statement *statement = NULL;
    struct tessera_result *result = NULL;
    struct tessera_error why = {0};
    stop_after(STATEMENT_MS);
    enum tessera_status status = tessera_prepare(database, sql, &statement, &why);
    must_tell(status, why.text, true);
    if (status == TESSERA_OK && !tessera_changes(statement)) {
        status = tessera_run(statement, &result, &why);
        must_tell(status, why.text, true);
        if (status == TESSERA_OK)
            read_result(result);
        tessera_result_free(result);
    }
    tessera_finalize(statement);
    stop_after(0);
    tessera_resume();
}

static struct tessera_database *open_database(const char *path)
{
    const struct tessera_options options = {
        .size = sizeof options, .device = "cpu", .threads = 1, .memory = MEMORY, .plan_cache = "0"};
    struct tessera_database *database = NULL;
    struct tessera_error why = {0};
    must_tell(tessera_open_with(path, &options, &database, &why), why.text, false);
    return database;
}

/* ---- Statements ---- */

static struct tessera_database *star;

static void sql_begin(void)
{
    void *state;
    star_open(&state);
    engine_close(star_engine);
    database_close(star_database);
    star = open_database(star_path);
    snprintf(folder, sizeof folder, "%s", star_path);
}

static void sql_try(const uint8_t *bytes, size_t size)
{
    char *const sql = strndup((const char *)bytes, size);
    ask(star, sql);
    free(sql);
}

static void sql_end(void)
{
    tessera_close(star);
}

/* ---- Catalogues ---- */

static void catalogue_begin(void)
{
    struct database_writer *writer;
    directory_make(folder);
    must(database_writer_open(folder, &writer, error));
    write_color(writer, "lane-for");
    struct table_writer *const sale = write_sale(writer, "lane-for", CODEC_ROWS);
    must(table_writer_index(sale, SALE_AMOUNT, (struct index_wish){INDEX_WAH64, INDEX_DEPTH, 9}, error));
    must(database_writer_commit(writer, error));
    files_gather(folder);
}

/* Asks of each table that the catalogue has. */
static void ask_tables(struct tessera_database *database)
{
    static const char *const questions[] = {
        "SELECT * FROM %s LIMIT 20",
        "SELECT count(*) FROM %s JOIN color ON s_color = c_key WHERE s_amount > 3", "SUMMARIZE %s"};
    const struct database *const opened = library_database(database);
    for (uint32_t t = 0; t < database_table_count(opened) && t < 3; t++)
        for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
            char *text = NULL, sql[PATH_BYTES];
            size_t length;
            FILE *const name = open_memstream(&text, &length);
            assert_non_null(name);
            sql_name_write(name, database_table_at(opened, t)->name, true);
            fclose(name);
            snprintf(sql, sizeof sql, questions[q], text);
            ask(database, sql);
            free(text);
        }
}

static void check(const char *path)
{
    struct error why = {0};
    const enum status status = database_check(path, 1, NULL, NULL, NULL, &why);
    must_tell((int)status, why.text, false);
}

/* The first line has the version that the input says, and the right checksum. */
static void catalogue_try(const uint8_t *bytes, size_t size)
{
    const uint8_t *const line = memchr(bytes, '\n', size);
    char path[PATH_BYTES + 16], first[64] = "";
    unsigned version = 0;
    if (!line || (size_t)(line - bytes) >= sizeof first)
        return;
    memcpy(first, bytes, (size_t)(line - bytes));
    if (sscanf(first, "tessera catalogue %u", &version) != 1)
        return;
    snprintf(path, sizeof path, "%s/catalogue", folder);
    catalogue_forge(path, version, (const char *)line + 1, size - (size_t)(line + 1 - bytes));
    struct tessera_database *const database = open_database(folder);
    if (!database)
        return;
    ask_tables(database);
    tessera_close(database);
    check(folder);
}

static void catalogue_seeds(const char *into)
{
    char path[2 * PATH_BYTES];
    const struct bytes bytes = bytes_read(folder, "catalogue");
    snprintf(path, sizeof path, "%s/catalogue", into);
    bytes_write(path, bytes.data, bytes.size);
    free(bytes.data);
}

/* ---- Column files: a zero and a number n stand for n + 1 zeros, as most of a small file are zeros ---- */

/* Writes a column of numbers in runs, with outliers. */
static void write_numbers(struct table_writer *table, uint32_t column, const char *codec, bool wide)
{
    int64_t values[CODEC_ROWS];
    int32_t *const narrow = (int32_t *)values;
    for (uint32_t row = 0; row < CODEC_ROWS; row++) {
        const int32_t value = row % 211 == 13 ? 40000 : (int32_t)(row / 19 * 3);
        if (wide)
            values[row] = value;
        else
            narrow[row] = value;
    }
    must(table_writer_codec(table, column, codec, error));
    must(table_writer_segment(table, column, 0, values, NULL, error));
}

/* A database of a table with columns of 4 and 8 bytes in a codec; they are small, as each input opens one. */
static void write_codec(const struct codec *codec)
{
    char path[2 * PATH_BYTES];
    struct column_schema columns[2];
    struct database_writer *writer;
    struct table_writer *table;
    for (uint32_t c = 0; c < 2; c++) {
        columns[c] = (struct column_schema){.type = c ? TYPE_INT64 : TYPE_INT32};
        snprintf(columns[c].name, sizeof columns[c].name, "%s %u", codec->name, 4u << c);
    }
    snprintf(path, sizeof path, "%s/%s", folder, codec->name);
    must(database_writer_open(path, &writer, error));
    must(database_writer_table(writer, "codecs", columns, codec_holds(codec, 8) ? 2 : 1, CODEC_ROWS, &table,
                               error));
    for (uint32_t c = 0; c < 2; c++)
        if (codec_holds(codec, 4u << c))
            write_numbers(table, c, codec->name, c > 0);
    must(database_writer_commit(writer, error));
}

/* A table of strings whose dictionary is compressed. */
static void write_words(struct database_writer *writer)
{
    static char bytes[16 * WORDS];
    static uint64_t starts[WORDS + 1];
    const struct column_schema column = {.name = "words", .type = TYPE_STRING};
    struct table_writer *table;
    int32_t codes[CODEC_ROWS];
    for (uint32_t row = 0; row < CODEC_ROWS; row++)
        codes[row] = (int32_t)(row % WORDS);
    for (uint32_t w = 0; w < WORDS; w++)
        starts[w + 1] = starts[w] + (uint64_t)sprintf(bytes + starts[w], "a word %06u", w);
    const struct dictionary dictionary = {.count = WORDS, .starts = starts, .bytes = bytes};
    must(database_writer_table(writer, "words", &column, 1, CODEC_ROWS, &table, error));
    must(table_writer_codec(table, 0, "lane-for", error));
    must(table_writer_segment(table, 0, 0, codes, NULL, error));
    must(table_writer_dictionary(table, 0, &dictionary, error));
}

static void column_begin(void)
{
    char path[2 * PATH_BYTES];
    struct database_writer *writer;
    directory_make(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/sales", folder);
    must(database_writer_open(path, &writer, error));
    write_color(writer, "lane-for");
    struct table_writer *const sale = write_sale(writer, "rank-rle", CODEC_ROWS);
    must(table_writer_index(sale, SALE_AMOUNT, (struct index_wish){INDEX_WAH64, INDEX_DEPTH, 9}, error));
    must(table_writer_index(sale, SALE_NOTE, (struct index_wish){INDEX_WAH32, INDEX_VALUES, 0}, error));
    must(table_writer_index(sale, SALE_PAID, (struct index_wish){INDEX_FLAT, INDEX_AUTO, 0}, error));
    write_words(writer);
    must(database_writer_commit(writer, error));
    for (uint32_t id = CODEC_PLAIN; id < CODEC_COUNT; id++)
        if (!codec_needs_levels(codec_by_id(id)))
            write_codec(codec_by_id(id));
    files_gather(folder);
}

static size_t squeeze(const uint8_t *from, size_t size, uint8_t *to)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        size_t zeros = 0;
        while (at + zeros < size && zeros < 256 && !from[at + zeros])
            zeros++;
        to[used++] = from[at];
        if (zeros)
            to[used++] = (uint8_t)(zeros - 1);
        at += zeros ? zeros : 1;
    }
    return used;
}

static size_t unsqueeze(const uint8_t *from, size_t size, uint8_t *to, size_t room)
{
    size_t used = 0;
    for (size_t at = 0; at < size && used + 256 <= room; at++)
        if (from[at] || at + 1 == size) {
            to[used++] = from[at];
        } else {
            memset(to + used, 0, from[++at] + 1u);
            used += from[at] + 1u;
        }
    return used;
}

/* Bytes of the header: the kind; table and column. */
#define HEADER_BYTES 4096u
#define HEADER_KIND  12
#define HEADER_NAMES 64
#define MAGIC        "TSRACOLM"

/* The file in whose place the input comes: that of its kind, table and column; NULL: there is none. */
static const struct bytes *file_of(const uint8_t *bytes, size_t size)
{
    for (int f = 0; f < gathered_count && size >= HEADER_BYTES; f++)
        if (gathered[f].size >= HEADER_BYTES && memcmp(gathered[f].data, MAGIC, 8) == 0 &&
            memcmp(bytes + HEADER_KIND, gathered[f].data + HEADER_KIND, 4) == 0 &&
            memcmp(bytes + HEADER_NAMES, gathered[f].data + HEADER_NAMES, 128) == 0)
            return &gathered[f];
    return NULL;
}

static void ask_column(struct tessera_database *database, const char *table_name, const char *name)
{
    char sql[4 * PATH_BYTES];
    const struct table *table;
    must(database_table(library_database(database), table_name, &table, error));
    for (uint32_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].schema.name, name) == 0)
            decode_anything(library_database(database), &table->columns[c]);
    tessera_use_indexes(database, TESSERA_INDEX_ON);
    snprintf(sql, sizeof sql,
             "SELECT \"%s\", count(*) FROM %s WHERE \"%s\" > (SELECT min(\"%s\") FROM %s) GROUP BY 1 ORDER "
             "BY 1 DESC "
             "LIMIT 50",
             name, table_name, name, name, table_name);
    ask(database, sql);
}

static void column_try(const uint8_t *squeezed, size_t size)
{
    static uint8_t bytes[INPUT_BYTES];
    char path[2 * PATH_BYTES];
    size = unsqueeze(squeezed, size, bytes, sizeof bytes);
    const struct bytes *const file = file_of(bytes, size);
    if (!file)
        return;
    reseal(bytes, size);
    bytes_write(file->path, bytes, size);
    snprintf(path, sizeof path, "%.*s", (int)(strstr(file->path, "/tables/") - file->path), file->path);
    struct tessera_database *const database = open_database(path);
    assert_non_null(database);
    const char *const table = (const char *)file->data + HEADER_NAMES;
    ask_column(database, table, table + 64);
    tessera_close(database);
    if (file->data[HEADER_KIND] == 3)
        check(path); /* it opens every index and compares it with its column */
    bytes_write(file->path, file->data, file->size);
}

static void column_seeds(const char *into)
{
    for (int f = 0; f < gathered_count; f++) {
        if (!file_of(gathered[f].data, gathered[f].size))
            continue;
        uint8_t *const squeezed = malloc(2 * gathered[f].size);
        assert_non_null(squeezed);
        char path[2 * PATH_BYTES];
        snprintf(path, sizeof path, "%s/%s", into, strrchr(gathered[f].path, '/') + 1);
        bytes_write(path, squeezed, squeeze(gathered[f].data, gathered[f].size, squeezed));
        free(squeezed);
    }
}

/* ---- Files of rows ---- */

static void rows_begin(void)
{
    directory_make(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
}

/* Writes a file whose name has that ending, and asks for its rows. */
static struct tessera_database *rows_open(const char *ending, const uint8_t *bytes, size_t size,
                                          char path[2 * PATH_BYTES])
{
    char sql[4 * PATH_BYTES];
    snprintf(path, 2 * PATH_BYTES, "%s/rows.%s", folder, ending);
    bytes_write(path, bytes, size);
    struct tessera_database *const database = open_database(NULL);
    snprintf(sql, sizeof sql, "SELECT * FROM '%s'", path);
    ask(database, sql);
    return database;
}

/* Of ORC and Parquet, also what the file says of its parts, by which conditions leave some out. */
static void columnar_try(const char *ending, const uint8_t *bytes, size_t size)
{
    char path[2 * PATH_BYTES], sql[4 * PATH_BYTES];
    struct columnar_parts *parts = NULL;
    struct error why = {0};
    struct tessera_database *const database = rows_open(ending, bytes, size, path);
    const char *const paths[] = {path};
    const enum status status = columnar_parts_open(paths, 1, &parts, &why);
    must_tell((int)status, why.text, true);
    columnar_parts_free(parts);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM '%s' WHERE number > 3 AND word >= 'b'", path);
    ask(database, sql);
    tessera_close(database);
}

static void orc_try(const uint8_t *bytes, size_t size)
{
    columnar_try("orc", bytes, size);
}

static void parquet_try(const uint8_t *bytes, size_t size)
{
    columnar_try("parquet", bytes, size);
}

static void csv_try(const uint8_t *bytes, size_t size)
{
    char path[2 * PATH_BYTES];
    tessera_close(rows_open("csv", bytes, size, path));
}

static void json_try(const uint8_t *bytes, size_t size)
{
    char path[2 * PATH_BYTES];
    tessera_close(rows_open("json", bytes, size, path));
}

/* ---- Kinds ---- */

struct kind {
    const char *name;
    void (*begin)(void); /* makes `folder` */
    void (*try)(const uint8_t *bytes, size_t size);
    void (*end)(void);               /* or NULL */
    void (*seeds)(const char *into); /* or NULL */
};

static const struct kind kinds[] = {
    {"sql", sql_begin, sql_try, sql_end, NULL},
    {"catalogue", catalogue_begin, catalogue_try, NULL, catalogue_seeds},
    {"column", column_begin, column_try, NULL, column_seeds},
    {"orc", rows_begin, orc_try, NULL, NULL},
    {"parquet", rows_begin, parquet_try, NULL, NULL},
    {"csv", rows_begin, csv_try, NULL, NULL},
    {"json", rows_begin, json_try, NULL, NULL},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static const struct kind *kind_of(const char *name)
{
    for (size_t k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    return NULL;
}

static void kind_end(const struct kind *kind)
{
    if (kind->end)
        kind->end();
    files_forget();
    directory_remove(folder);
}

static void try_file(const struct kind *kind, const char *path)
{
    const struct bytes input = bytes_of(path);
    kind->try(input.data, input.size < INPUT_BYTES ? input.size : INPUT_BYTES);
    free(input.data);
}

/* ---- The corpora ---- */

#define CORPORA TESSERA_SOURCE "/tests/data/fuzz/"

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void inputs_are_answered_or_refused(void **state)
{
    const struct kind *const kind = *state;
    char path[2 * PATH_BYTES];
    struct dirent **entries;
    kind->begin();
    snprintf(path, sizeof path, CORPORA "%s", kind->name);
    const int count = scandir(path, &entries, is_input, alphasort);
    assert_true(count > 0);
    for (int e = 0; e < count; e++) {
        snprintf(path, sizeof path, CORPORA "%s/%.300s", kind->name, entries[e]->d_name);
        try_file(kind, path);
        free(entries[e]);
    }
    free(entries);
    kind_end(kind);
    print_message("%d inputs\n", count);
}

static int replay_all(void)
{
    struct CMUnitTest tests[KINDS];
    for (size_t k = 0; k < KINDS; k++)
        tests[k] = (struct CMUnitTest){.name = kinds[k].name,
                                       .test_func = inputs_are_answered_or_refused,
                                       .initial_state = (void *)&kinds[k]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- AFL++ ---- */

#ifdef __AFL_FUZZ_TESTCASE_LEN

__AFL_FUZZ_INIT();

/* The library can do without threads, and an input takes the same path again. */
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict argument)
{
    (void)thread, (void)attributes, (void)run, (void)argument;
    return EAGAIN;
}

/* The kind's database is there before AFL++ forks. */
static void try_inputs_of_afl(const struct kind *kind)
{
    __AFL_INIT();
    const uint8_t *const input = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(INPUTS_OF_FORK)) {
        const size_t size = (size_t)__AFL_FUZZ_TESTCASE_LEN;
        kind->try(input, size < INPUT_BYTES ? size : INPUT_BYTES);
    }
    _exit(0); /* the folder is for the next process, too */
}

#else

static void try_inputs_of_afl(const struct kind *kind)
{
    fprintf(stderr, "name files of kind %s: only what afl-clang-fast has compiled gets inputs of AFL++\n",
            kind->name);
}

#endif

static void print_words(void)
{
    for (size_t i = 0; sql_keyword(i); i++)
        puts(sql_keyword(i));
    for (size_t i = 0; function_name(i); i++)
        puts(function_name(i));
    for (size_t i = 0; aggregate_name(i); i++)
        puts(aggregate_name(i));
}

int main(int argc, char **argv)
{
    signal(SIGPROF, stop);
    if (argc == 1)
        return replay_all();
    if (strcmp(argv[1], "--words") == 0) {
        print_words();
        return 0;
    }
    const bool seeds = strcmp(argv[1], "--seeds") == 0 && argc == 4;
    const struct kind *const kind = kind_of(argv[seeds ? 2 : 1]);
    if (!kind) {
        fprintf(stderr, "there is no such kind of input; the head of test_corpora.c names them\n");
        return 2;
    }
    kind->begin();
    if (seeds && kind->seeds)
        kind->seeds(argv[3]);
    else if (!seeds && argc == 2)
        try_inputs_of_afl(kind);
    for (int a = 2; !seeds && a < argc; a++)
        try_file(kind, argv[a]);
    kind_end(kind);
    return 0;
}
