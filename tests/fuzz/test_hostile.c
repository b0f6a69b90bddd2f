/*
 * test_hostile.c: damaged databases under SQL, broken statements, broken schema scripts and broken files are answered or
 * refused with a sentence, and never read outside of what is theirs: build with TESSERA_SANITIZE, as `make check` does.
 *
 * A database whose bytes were damaged refuses, or answers as SQLite does; one whose damage was given right checksums,
 * as an attacker would, may answer anything. Bitmap indexes are stricter: a database whose index was damaged, with right
 * checksums or without, and that `check` passes answers rightly. A load that fails leaves the database as it was.
 *
 * Without arguments it does the same rounds every time, about 20 s with sanitizers. `test_hostile SECONDS SEED` does more
 * of the same; a SEED of 0 takes it from the clock.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/table_loader.h"
#include "storage/base/clock.h"
#include "tests/support/database_files.h"
#include "tests/fuzz/fuzz_query.h"
#include "tests/support/sql/sql_star.h"

#include <zlib.h>
#include <zstd.h>

/* Rounds of each test in a run that is not told how long. */
#define DATABASE_ROUNDS  6u  /* of 60 damaged databases */
#define INDEX_ROUNDS     6u  /* of 60 damaged indexes */
#define STATEMENT_ROUNDS 25u /* of 300 statements */
#define SCRIPT_ROUNDS    20000u
#define FILE_ROUNDS      500u

#define TESTS 5u

static uint64_t seed = 20261121;
static double seconds; /* shared by the tests; 0: the rounds above */

static struct engine *engine;

/* What a test may take of the time, and has done of its rounds. */
struct share {
    double begin;
    uint64_t done, rounds;
};

static struct share share_begin(uint64_t salt, uint64_t rounds)
{
    random_state = seed * TESTS + salt;
    return (struct share){.begin = clock_seconds(), .rounds = rounds};
}

static bool share_left(struct share *share)
{
    share->done++;
    return seconds > 0 ? clock_seconds() - share->begin < seconds / TESTS : share->done < share->rounds;
}

/* What went wrong is told, and is not the machine's fault. */
static void must_tell(enum status status, const struct error *told, const char *what)
{
    if (status != STATUS_OK && (status == STATUS_MACHINE || strlen(told->text) < 10))
        fail_msg("%s: status %d, \"%s\"", what, (int)status, told->text);
}

/* ---- Databases ---- */

static bool is_catalogue(const char *path)
{
    const char *const name = strrchr(path, '/') + 1;
    return strncmp(name, "catalogue", 9) == 0;
}

/* The damaged bytes with right checksums. */
static void forge(const struct bytes *file, uint8_t *copy, size_t size)
{
    const uint8_t *const line = memchr(copy, '\n', size);
    if (!is_catalogue(file->path)) {
        reseal(copy, size);
        bytes_write(file->path, copy, size);
    } else if (line) {
        catalogue_forge(file->path, 1, (const char *)line + 1, size - (size_t)(line + 1 - copy));
    }
}

static uint64_t databases, opened, queries, answered;

static void ask(const char *path, const char *damaged, sqlite3 *sqlite, bool forged)
{
    static struct query query;
    struct database *database;
    struct error told = {0};
    const enum status status = database_open(path, &database, &told);
    must_tell(status, &told, path);
    databases++;
    opened += status == STATUS_OK;
    for (uint32_t q = 0; status == STATUS_OK && q < 6; q++) {
        make_query(&query);
        /* another codec's files stay, which should not come from forged ones */
        const char *const codec = forged || chance(50) ? NULL : "lane-for";
        const enum verdict verdict = try_query(engine, database, sqlite, &query, codec);
        queries++;
        answered += verdict != REFUSED && !(verdict == DIFFERENT && strstr(difference, "refused"));
        /* SQLite rounds the sums of averages, so groups that are equal here may have another order there. */
        if (verdict == DIFFERENT && !forged && !strstr(difference, "refused") && !strstr(ours, "avg("))
            fail_msg("seed %" PRIu64 ": %s\n%s: %s", seed, damaged, ours, difference);
    }
    if (status == STATUS_OK)
        database_close(database);
}

static void damaged_databases_answer_or_refuse(void **state)
{
    struct share share = share_begin(1, DATABASE_ROUNDS);
    (void)state;
    do {
        char path[PATH_BYTES];
        struct database *database;
        sqlite3 *sqlite = make_star(path, &database);
        make_functions(sqlite);
        fuzz_functions_register(sqlite);
        database_close(database);
        files_gather(path);
        for (uint32_t round = 0; round < 60; round++) {
            const struct bytes *file = &gathered[below((uint32_t)gathered_count)];
            const bool forged = chance(70);
            uint8_t *copy = malloc(file->size);
            assert_non_null(copy);
            memcpy(copy, file->data, file->size);
            const size_t size = mutate(copy, file->size);
            bytes_write(file->path, copy, size);
            if (forged)
                forge(file, copy, size);
            ask(path, file->path, sqlite, forged);
            bytes_write(file->path, file->data, file->size);
            free(copy);
        }
        ask(path, "nothing is damaged", sqlite, false);
        files_forget();
        sqlite3_close(sqlite);
        directory_remove(path);
    } while (share_left(&share));
    print_message("%" PRIu64 " of %" PRIu64 " damaged databases opened, %" PRIu64 " of %" PRIu64
                  " queries answered\n",
                  opened, databases, answered, queries);
    assert_true(opened < databases && answered < queries);
}

/* ---- Indexes ---- */

/* An index on about half of the columns, of any format and number of bins; at least one, on a fact table's first. Columns
 * that cannot have it, or have one, stay as they are. */
static void make_indexes(const char *path)
{
    static const enum index_format formats[] = {INDEX_WAH64, INDEX_WAH32, INDEX_FLAT};
    for (uint32_t t = 0; t < fuzz_table_count; t++)
        for (uint32_t c = 0; c < fuzz_tables[t].column_count; c++) {
            const struct index_wish wish = {.format = formats[below(3)],
                                            .bins = chance(50) ? INDEX_AUTO : INDEX_DEPTH,
                                            .count = 1 + below(300)};
            if (chance(50) || (t == fuzz_dimension_count && c == 0))
                (void)!database_index_create(path, fuzz_tables[t].name, fuzz_tables[t].columns[c].name, wish,
                                             2, NULL, NULL);
        }
}

static const struct bytes *any_index(void)
{
    const struct bytes *file;
    do
        file = &gathered[below((uint32_t)gathered_count)];
    while (!strstr(strrchr(file->path, '/'), ".index."));
    return file;
}

static uint64_t indexes, sound, vectors_named;

/* The check passes, or tells which file is damaged. */
static bool is_sound(const char *path, const struct bytes *file, bool forged)
{
    struct error told = {0};
    const enum status status = database_check(path, 1, NULL, NULL, NULL, &told);
    must_tell(status, &told, file->path);
    if (status == STATUS_OK && !forged)
        fail_msg("seed %" PRIu64 ": the check passes %s, which is damaged", seed, file->path);
    if (status != STATUS_OK && !strstr(told.text, file->path))
        fail_msg("seed %" PRIu64 ": %s is damaged, and the check says %s", seed, file->path, told.text);
    indexes++;
    sound += status == STATUS_OK;
    vectors_named += status != STATUS_OK && strstr(told.text, "segment 0, vector ");
    return status == STATUS_OK;
}

static void damaged_indexes_are_found(void **state)
{
    struct share share = share_begin(5, INDEX_ROUNDS);
    (void)state;
    do {
        char path[PATH_BYTES];
        struct database *database;
        sqlite3 *sqlite = make_star(path, &database);
        make_functions(sqlite);
        fuzz_functions_register(sqlite);
        database_close(database);
        make_indexes(path);
        files_gather(path);
        for (uint32_t round = 0; round < 60; round++) {
            const struct bytes *const file = any_index();
            const bool forged = chance(70);
            uint8_t *const copy = malloc(file->size);
            assert_non_null(copy);
            memcpy(copy, file->data, file->size);
            const size_t size = mutate(copy, file->size);
            bytes_write(file->path, copy, size);
            if (forged)
                forge(file, copy, size);
            if (size != file->size || memcmp(copy, file->data, size) != 0)
                ask(path, file->path, sqlite, !is_sound(path, file, forged) && forged);
            bytes_write(file->path, file->data, file->size);
            free(copy);
        }
        must(database_check(path, 1, NULL, NULL, NULL, error));
        files_forget();
        sqlite3_close(sqlite);
        directory_remove(path);
    } while (share_left(&share));
    print_message("%" PRIu64 " of %" PRIu64 " damaged indexes passed as sound, of %" PRIu64
                  " a vector was named\n",
                  sound, indexes, vectors_named);
    assert_true(sound < indexes && vectors_named > 0);
}

/* ---- Statements and scripts ---- */

#define STATEMENT_BYTES 60000u

/* Tokens are taken out, doubled, exchanged for others, torn; brackets without end; bytes that are none. */
static void break_text(const char *text, const char *const *others, uint32_t other_count, char *out)
{
    const char *starts[4000];
    uint32_t count = 0;
    size_t used = 0;
    for (const char *c = text; *c && count < 3999; c += strcspn(c + 1, " ,().'=") + 1)
        starts[count++] = c;
    starts[count] = text + strlen(text);
    const uint32_t rate = 1 + below(12);
    for (uint32_t token = 0; token < count; token++) {
        const size_t length = (size_t)(starts[token + 1] - starts[token]);
        const uint32_t kind = chance(rate) ? below(8) : 8;
        const uint32_t repeats = kind == 0                ? 0
                                 : kind == 1              ? 2
                                 : kind == 2 && chance(3) ? 9000 / ((uint32_t)length + 1)
                                                          : 1;
        const char *const other = others[below(other_count)];
        for (uint32_t r = 0; r < repeats && used + length + 64 < STATEMENT_BYTES; r++) {
            const size_t part = kind == 3 ? below((uint32_t)length + 1) : length;
            memcpy(out + used, starts[token], part);
            used += part;
        }
        if (used + strlen(other) + 64 < STATEMENT_BYTES) {
            if (kind == 4)
                used += (size_t)sprintf(out + used, " %s ", other);
            if (kind == 5)
                out[used++] = (char)(1 + below(255));
            if (kind == 6)
                used += (size_t)sprintf(out + used, "%u%08u", below(1000000), below(100000000));
        }
        if (kind == 7 && chance(20))
            break;
    }
    out[used] = '\0';
}

static void broken_statements_are_answered_or_refused(void **state)
{
    static const char *const others[] = {"select",
                                         "distinct",
                                         "from",
                                         "where",
                                         "group by",
                                         "order by",
                                         "having",
                                         "limit",
                                         "offset",
                                         "join",
                                         "left join",
                                         "on",
                                         "and",
                                         "or",
                                         "not",
                                         "in",
                                         "like",
                                         "is null",
                                         "between",
                                         "case",
                                         "when",
                                         "then",
                                         "else",
                                         "end",
                                         "cast(",
                                         ")",
                                         "(",
                                         "*",
                                         "?",
                                         "--",
                                         "/*",
                                         "*/",
                                         "'",
                                         "\"",
                                         "sum(",
                                         "count(",
                                         "extract(year from",
                                         "interval '1' month",
                                         "explain",
                                         "explain analyze",
                                         "nulls last",
                                         "1e400",
                                         ";",
                                         "0x1",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         ".5",
                                         "union select",
                                         "over ()",
                                         "a.b.c"};
    static char statement[STATEMENT_BYTES];
    static struct query query;
    struct share share = share_begin(2, STATEMENT_ROUNDS);
    uint64_t taken = 0, refused_count = 0;
    (void)state;
    do {
        char path[PATH_BYTES];
        struct database *database;
        sqlite3_close(make_star(path, &database));
        for (uint32_t round = 0; round < 300; round++) {
            struct sql_statement *prepared = NULL;
            struct rowset rows = {0};
            struct error told = {0};
            size_t used = 0;
            make_query(&query);
            struct sql_parameter values[CONSTANTS_MAX];
            uint32_t count;
            break_text(place_constants(write_query(&query, true), query.parameters, values, &count), others,
                       sizeof others / sizeof *others, statement);
            enum status status =
                sql_prepare(engine, database, statement, strlen(statement), NULL, &prepared, &used, &told);
            if (status == STATUS_OK && prepared)
                status = sql_run(prepared, &rows, NULL, &told);
            must_tell(status, &told, statement);
            assert_true(used <= strlen(statement));
            taken += status == STATUS_OK;
            refused_count += status != STATUS_OK;
            rowset_free(&rows);
            sql_statement_free(prepared);
        }
        database_close(database);
        directory_remove(path);
    } while (share_left(&share));
    print_message("%" PRIu64 " broken statements answered, %" PRIu64 " refused\n", taken, refused_count);
    assert_true(taken > refused_count / 50 && refused_count > taken / 50);
}

static void broken_scripts_are_read_or_refused(void **state)
{
    static const char *const others[] = {"create table",
                                         "(",
                                         ")",
                                         ",",
                                         ";",
                                         "int",
                                         "primary key",
                                         "references",
                                         "not",
                                         "null",
                                         "unique",
                                         "check (",
                                         "default",
                                         "decimal(38,19)",
                                         "varchar(",
                                         "--",
                                         "/*",
                                         "\"",
                                         "'",
                                         "[",
                                         "constraint",
                                         "foreign key",
                                         "on delete cascade",
                                         "temp",
                                         "if not exists",
                                         "char(0)",
                                         "decimal(0,5)"};
    static char script[STATEMENT_BYTES];
    struct share share = share_begin(3, SCRIPT_ROUNDS);
    uint64_t taken = 0, refused_count = 0;
    (void)state;
    do {
        struct schema_script schema;
        struct error told = {0};
        break_text(star_script, others, sizeof others / sizeof *others, script);
        const enum status status = schema_script_parse("star.sql", script, strlen(script), &schema, &told);
        must_tell(status, &told, script);
        if (status == STATUS_OK)
            schema_script_free(&schema);
        else if (!strstr(told.text, "star.sql:"))
            fail_msg("%s\n%s", script, told.text);
        taken += status == STATUS_OK;
        refused_count += status != STATUS_OK;
    } while (share_left(&share));
    print_message("%" PRIu64 " broken scripts read, %" PRIu64 " refused\n", taken, refused_count);
    assert_true(taken > 0 && refused_count > 0);
}

/* ---- Files ---- */

static size_t pack(uint32_t kind, const uint8_t *text, size_t bytes, uint8_t *packed, size_t room)
{
    if (kind == 1)
        return ZSTD_compress(packed, room, text, bytes, 3);
    memcpy(packed, text, bytes);
    if (kind == 0)
        return bytes;
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (uint8_t *)text;
    stream.avail_in = (unsigned)bytes;
    stream.next_out = packed;
    stream.avail_out = (unsigned)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    bytes = stream.total_out;
    deflateEnd(&stream);
    return bytes;
}

static void broken_files_load_or_leave_the_database_as_it_was(void **state)
{
    static const char *const names[] = {"rows.csv", "rows.csv.zst", "rows.csv.gz"};
    static uint8_t text[20000], packed[40000];
    const char *const where = strrchr(star_path, '/');
    struct share share = share_begin(4, FILE_ROUNDS);
    uint64_t loaded = 0, refused_count = 0;
    char file[PATH_BYTES + 64], reject[PATH_BYTES + 64];
    struct schema_script schema;
    (void)state;
    must(schema_script_parse("star.sql", star_script, strlen(star_script), &schema, error));
    snprintf(reject, sizeof reject, "%.*s/rejected", (int)(where - star_path), star_path);
    do {
        const uint32_t kind = below(3), t = below(STAR_TABLES);
        size_t bytes = 0;
        for (uint32_t copies = 1 + below(40); copies > 0 && bytes < sizeof text / 2; copies--)
            bytes += (size_t)sprintf((char *)text + bytes, "%s", star_tables[t].rows);
        if (chance(60))
            bytes = mutate(text, bytes);
        size_t size = pack(kind, text, bytes, packed, sizeof packed);
        if (chance(kind ? 60 : 20) && size)
            size = mutate(packed, size);
        snprintf(file, sizeof file, "%.*s/%s", (int)(where - star_path), star_path, names[kind]);
        bytes_write(file, packed, size);
        const char *const path = file;
        const struct load_input input = {.table = star_tables[t].table, .paths = &path, .path_count = 1};
        struct load_options options = {.directory = star_path,
                                       .inputs = &input,
                                       .input_count = 1,
                                       .append = true,
                                       .threads = 1 + below(2),
                                       .dangling_null = chance(30),
                                       .max_errors = chance(50) ? below(50) : 0,
                                       .reject = chance(20) ? reject : NULL};
        options.text.header = (enum text_header)below(3);
        options.text.delimiter = chance(80) ? '\0' : "|;\t"[below(3)];
        struct load_report report;
        struct error told = {0};
        const enum status status = tables_load(&schema, &options, &report, NULL, &told);
        must_tell(status, &told, file);
        struct database *database;
        const struct table *table;
        must(database_open(star_path, &database, error));
        must(database_table(database, "sales", &table, error));
        database_close(database);
        loaded += status == STATUS_OK;
        refused_count += status != STATUS_OK;
    } while (share_left(&share));
    schema_script_free(&schema);
    must(database_check(star_path, 1, NULL, NULL, NULL, error));
    print_message("%" PRIu64 " broken files loaded, %" PRIu64 " refused\n", loaded, refused_count);
    assert_true(loaded > 0 && refused_count > 0);
}

static int begin_all(void **state)
{
    return star_open(state) ||
           engine_open(&(struct engine_options){.device = "cpu", .threads = 2}, &engine, NULL) != STATUS_OK;
}

static int end_all(void **state)
{
    engine_close(engine);
    return star_close(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_databases_answer_or_refuse),
        cmocka_unit_test(damaged_indexes_are_found),
        cmocka_unit_test(broken_statements_are_answered_or_refused),
        cmocka_unit_test(broken_scripts_are_read_or_refused),
        cmocka_unit_test(broken_files_load_or_leave_the_database_as_it_was),
    };
    _Static_assert(sizeof tests / sizeof *tests == TESTS, "each test has its share of the time");
    seconds = argc > 1 ? atof(argv[1]) : 0;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    seed = seed ? seed : (uint64_t)clock_ns();
    fuzz_device = "cpu";
    print_message("seed %" PRIu64 "\n", seed);
    fuzz_hierarchies = 60;
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
