/*
 * test_every_byte.c: each byte of each file of a small database is changed in turn, and each file is cut at each length:
 * `tessera check` must find it, and statements, which read most of the files, must give an error or the right answer. Two
 * databases have every kind of file that one can have. The star: dictionaries, compressed or not, levels, NULLs, an
 * encoding beside the own one, two loads, clustered rows, deleted rows, indexes of two files, a view. The other one:
 * columns of all types in many codecs, keys of two columns and to their own table, indexes of each format, of bins, too.
 *
 * Beside them lie files that are no part of the state: those of a compaction that was killed, locks with its name, and the
 * state that a reader has open. `check` need not see their damage, but answers must be right, and those
 * of that reader right or an error. Last come the tables of costs, which decide plans.
 *
 * In `make check` some hundred places are tried, others for each length of the files. All of them, or each N-th, or each
 * N-th from the I-th one on, so that N runs with I = 0 to N - 1 are all of them, side by side:
 *
 *     TESSERA_EVERY_BYTE=1 build/sanitize/test_every_byte          hours; 101 takes minutes
 *     TESSERA_EVERY_BYTE=16:5 build/sanitize/test_every_byte       N:I
 *
 * but each SPARSE-th of what has one checksum and one way to be read: the zeros that fill headers of columns' files, and
 * files beside the state. On the device that TESSERA_TEST_DEVICE names.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/statement.h"
#include "storage/codec/codec_costs.h"
#include "tests/support/database_files.h"
#include "tests/support/faults.h"
#include "tests/support/sql/sql_answer.h"

#define PLACES 1000u /* in make check, if none were sparse */
#define SPARSE 16u

static uint64_t step_of(uint64_t bytes, uint64_t *first)
{
    const char *const every = getenv("TESSERA_EVERY_BYTE"), *const from = every ? strchr(every, ':') : NULL;
    *first = from ? strtoull(from + 1, NULL, 10) : 0;
    return every && atoi(every) > 0 ? strtoull(every, NULL, 10) : bytes / PLACES | 1;
}

/* ---- The rows, beside $D ---- */

static void write_schemas(void)
{
    FILE *const file = file_beside("star.sql"), *const other = file_beside("kinds.sql");
    fputs("CREATE TABLE shops (k INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, region VARCHAR);\n"
          "CREATE TABLE sales (id INTEGER NOT NULL, shop INTEGER REFERENCES shops (k), paid DECIMAL(9,2), "
          "day DATE, note VARCHAR, part DOUBLE);\n",
          file);
    fputs("CREATE TABLE kinds (id INTEGER, at TIMESTAMP WITH TIME ZONE, day DATE, big BIGINT, part DOUBLE, "
          "good BOOLEAN);\n"
          "CREATE TABLE rates (shop INTEGER, month INTEGER, rate INTEGER UNIQUE, boss INTEGER REFERENCES "
          "rates (rate), what VARCHAR, PRIMARY KEY (shop, month));\n"
          "CREATE TABLE uses (shop INTEGER, month INTEGER, n INTEGER, FOREIGN KEY (shop, month) REFERENCES "
          "rates (shop, month));\n",
          other);
    fclose(file);
    fclose(other);
}

static void write_star(void)
{
    FILE *const shops = file_beside("shops.csv"), *const sales = file_beside("sales.csv"),
                *const more = file_beside("more.csv");
    for (unsigned r = 1; r <= 40; r++) {
        fprintf(shops, "%u,shop %u,city %u,", 3 * r, r, r % 10);
        fprintf(shops, r % 7 ? "region %u\n" : "\n", r % 2);
    }
    for (unsigned r = 1; r <= 3300; r++) {
        FILE *const file = r <= 3000 ? sales : more;
        fprintf(file, "%u,", r);
        fprintf(file, r % 11 ? "%u" : "", r * 7 % 40 * 3 + 3);
        fprintf(file, ",%u.%u,2024-0%u-1%u,", r * 37 % 1000, 10 + r % 90, 1 + r % 9, r % 10);
        fprintf(file, r % 5 ? "note %u" : "", r <= 3000 ? r % 50 : 50 + r % 2);
        fprintf(file, ",%u.%u\n", r / 8, r % 8 * 125);
    }
    fclose(shops);
    fclose(sales);
    fclose(more);
}

/* What rates are is long enough to be compressed. */
static void write_kinds(void)
{
    FILE *const kinds = file_beside("kinds.csv"), *const rates = file_beside("rates.csv"),
                *const uses = file_beside("uses.csv");
    for (unsigned r = 1; r <= 1300; r++) {
        fprintf(kinds, "%u,2024-01-01 0%u:00:00+02,2024-01-1%u,%u000000000,", r, r % 10, r % 10, 3 * r);
        fprintf(kinds, r % 5 ? "%u.%u" : "", r / 8, r % 8 * 125);
        fprintf(kinds, r % 3 ? ",true\n" : ",false\n");
    }
    for (unsigned r = 1; r <= 60; r++) {
        fprintf(rates, "%u,%u,%u,", r % 20, r % 3, r);
        fprintf(rates, r > 4 ? "%u," : ",", r - r % 4);
        fprintf(rates, "all that one can say in words that are not few of the rate of number %u\n", r);
    }
    for (unsigned r = 1; r <= 200; r++)
        fprintf(uses, "%u,%u,%u\n", r % 20, r % 3, r);
    fclose(kinds);
    fclose(rates);
    fclose(uses);
}

static int files_make(void **state)
{
    setup(state);
    write_schemas();
    write_star();
    write_kinds();
    return 0;
}

/* ---- The databases ---- */

#define LOAD_STAR  "$T load --db $D --schema star.sql "
#define LOAD_KINDS "$T load --db $D --schema kinds.sql "
#define INDEX      "$T index create --db $D "
#define SQL        "$T sql --device cpu --threads 1 --db $D "
#define THEN       " && "

static const char making_star[] =
    /* clustered, with indexes of two files later */
    LOAD_STAR "--cluster-by note:3 shops=shops.csv sales=sales.csv" THEN INDEX "sales.shop" THEN INDEX
              "--format wah32 sales.note" THEN
                  /* an encoding beside the own one, another file of each column, deleted rows, a view */
                  SQL "--codec lane-for 'SELECT sum(paid), max(shop) FROM sales'" THEN LOAD_STAR
              "--append sales=more.csv" THEN "$T delete --db $D --device cpu sales 'id % 9 = 4'" THEN SQL
              "'CREATE VIEW cheap AS SELECT * FROM sales WHERE paid < 10'";

/* Encodings that columns have beside their own, and what reads them. */
#define ENCODINGS "id=deflate,part=planner,at=orc-rle2,big=pfor,good=rle,day=orc-rle1"
#define ALL                                                              \
    "SELECT count(*), sum(id), sum(part), max(at), sum(big), min(day), " \
    "sum(CASE WHEN good THEN id ELSE 1 END) FROM kinds"

static const char making_kinds[] = LOAD_KINDS
    "kinds=kinds.csv rates=rates.csv uses=uses.csv" THEN INDEX "--format flat kinds.good" THEN INDEX
    "--bins 8 kinds.id" THEN INDEX "--bins 8:width kinds.big" THEN SQL "--codec " ENCODINGS " '" ALL "'";

/* What is killed before its commit, which it makes with both locks. */
static const struct fault_operation compacting = {.run = "$T compact --db $D"};

/* Changes that a reader does not see. */
static const char changing_star[] = "$T delete --db $D --device cpu sales 'id % 9 = 5'",
                  changing_kinds[] = LOAD_KINDS "--append uses=uses.csv";

#define STATEMENTS 5

struct asked {
    const char *sql, *codec;
};

static const struct made {
    const char *making, *changing;
    struct asked statements[STATEMENTS];
    unsigned parts; /* kinds of parts that its files must have, a bit each (column_file.h) */
} star = {making_star,
          changing_star,
          {{"SELECT count(*), sum(id), sum(paid), count(note), max(part), min(day) FROM sales", NULL},
           {"SELECT city, region, count(*), sum(paid), max(name) FROM sales JOIN shops ON shop = k GROUP BY "
            "1, 2 ORDER BY 1, 2",
            "lane-for"},
           {"SELECT note, day, count(*), sum(part) FROM sales GROUP BY 1, 2 ORDER BY 1, 2", NULL},
           {"SELECT id, shop, note FROM sales WHERE note = 'note 7' OR shop = 6 ORDER BY id", NULL},
           {"SELECT count(*), max(id) FROM cheap WHERE shop IS NULL OR note LIKE '%9'", NULL}},
          0x3fe},
  kinds = {
      making_kinds,
      changing_kinds,
      {{ALL, NULL},
       {ALL, ENCODINGS},
       {"SELECT id, at FROM kinds WHERE good AND part < 60 AND big > 90000000000 ORDER BY id", NULL},
       {"SELECT r.what, b.rate, sum(n) FROM uses u JOIN rates r ON u.shop = r.shop AND u.month = r.month "
        "LEFT JOIN rates b ON r.boss = b.rate GROUP BY 1, 2 ORDER BY 1, 2",
        NULL},
       {"SELECT day, count(*), max(what) FROM kinds JOIN rates ON id = rate GROUP BY 1 ORDER BY 1", NULL}},
      0xc02};

static const struct made *made;

static struct engine *engine;
static struct database *opened; /* by a reader of the state before `changing` */
static struct database *none;   /* has no tables */
static char *right[STATEMENTS], *right_before[STATEMENTS];
static uint64_t tried, refused, unseen, apart;

/* The answer, or NULL and why not. */
static char *answer_of(struct database *database, const struct asked *asked, enum status *status,
                       struct error *why)
{
    struct sql_statement *statement = NULL;
    struct rowset rows = {0};
    size_t used;
    char *text = NULL;
    *status =
        sql_prepare(engine, database, asked->sql, strlen(asked->sql), asked->codec, &statement, &used, why);
    if (*status == STATUS_OK) {
        sql_statement_set(statement, (struct sql_settings){.index = PLAN_INDEX_ON});
        *status = sql_run(statement, &rows, NULL, why);
    }
    if (*status == STATUS_OK)
        text = rowset_csv(&rows);
    rowset_free(&rows);
    sql_statement_free(statement);
    return text;
}

/* Closes a database that was asked: a GPU keeps nothing of it. */
static void close_asked(struct database *database)
{
    if (database)
        engine_follow(engine, database, none);
    database_close(database);
}

static void answer_all(char *answers[STATEMENTS])
{
    struct database *database;
    enum status status;
    struct error why = {0};
    must(database_open(path, &database, error));
    for (size_t s = 0; s < STATEMENTS; s++)
        if (!(answers[s] = answer_of(database, &made->statements[s], &status, &why)))
            fail_msg("%s: %s", made->statements[s].sql, why.text);
    close_asked(database);
}

static bool is_refusal(enum status status)
{
    return status == STATUS_CHECK_FAILED || status == STATUS_BAD_INPUT;
}

/* The reader of the old state answers rightly, or refuses. It has read nothing yet, and a child reads for it: on the CPU
 * where the device is a GPU, which a child cannot use. */
static void look_before(const struct bytes *file, const char *what, size_t place)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (strcmp(test_device(), "cpu") != 0 &&
            engine_open(&(struct engine_options){.device = "cpu", .threads = 1}, &engine, NULL) != STATUS_OK)
            _exit(2);
        for (size_t s = 0; s < STATEMENTS; s++) {
            enum status status;
            struct error why = {0};
            char *const text = answer_of(opened, &made->statements[s], &status, &why);
            if (text ? strcmp(text, right_before[s]) != 0 : !is_refusal(status))
                _exit(1);
            free(text);
        }
        _exit(0);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
        fail_msg("%s, %s %zu of %zu: a reader of an older state is wrong", file->path, what, place,
                 file->size);
}

/* What must hold of the damaged file; `what` was done to it at a place. `part` of the state: check must see it. */
static void look(const struct bytes *file, bool part, const char *what, size_t place)
{
    struct error why = {0};
    const enum status checked = database_check(path, 1, NULL, NULL, NULL, &why);
    tried++;
    apart += !part;
    if (!is_refusal(checked) && (part || checked != STATUS_OK)) {
        unseen++;
        print_error("%s, %s %zu of %zu: check gives %d: %s\n", file->path, what, place, file->size,
                    (int)checked, why.text);
    }
    struct database *database = NULL;
    const enum status open = database_open(path, &database, &why);
    for (size_t s = 0; s < STATEMENTS; s++) {
        enum status status = open;
        char *const text = database ? answer_of(database, &made->statements[s], &status, &why) : NULL;
        if (text ? strcmp(text, right[s]) != 0 : !part || !is_refusal(status))
            fail_msg("%s, %s %zu of %zu: %s: status %d: %s", file->path, what, place, file->size,
                     made->statements[s].sql, (int)status, text ? text : why.text);
        refused += !text;
        free(text);
    }
    close_asked(database);
    if (!part)
        look_before(file, what, place);
}

/* ---- Changing all ---- */

static void shell(const char *command)
{
    faults_shell(command, &faults_seen);
    if (faults_seen.exit_code != 0)
        fail_msg("%s: %s", command, faults_seen.errors);
}

/* Kills the operation before its link or rename `number`, with which a commit begins. */
static void leave_killed(const struct fault_operation *operation, uint64_t number)
{
    static const struct fault before_commit = {.kinds = "rename", .error = "kill"};
    struct faults faults = {.operation = operation, .fault = &before_commit};
    faults_allow_sanitizer();
    faults_map_state(&faults);
    faults_try(&faults, number);
    munmap(faults.state, sizeof *faults.state);
    assert_int_equal(faults_end_wrong(&faults), NULL);
    unlink(faults.state_path);
}

static void make(void)
{
    shell(made->making);
    must(engine_open(
        &(struct engine_options){.device = test_device(),
                                 .threads = 1,
                                 .kernel = getenv("TESSERA_TEST_KERNEL") ? KERNEL_GENERAL : KERNEL_AUTO},
        &engine, error));
    must(database_open_none("", &none, error));
    answer_all(right_before);
    must(database_open(path, &opened, error));
    shell(made->changing);
    answer_all(right);            /* which encodes what is new, as a writer does */
    leave_killed(&compacting, 3); /* two take a generation */
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

/* Whether the file is a part of the state: the next writer of a copy, which nobody reads, keeps it. */
static bool is_part(const char *file)
{
    char copy[3 * PATH_BYTES];
    struct stat facts;
    snprintf(copy, sizeof copy, "%s.copy%s", path, file + strlen(path));
    return stat(copy, &facts) == 0 && facts.st_size > 0 && !strstr(file, ".lock") &&
           !strstr(file, ".compact");
}

/* The kinds of the parts of a file of a column, a bit each (storage/column/column_file.h). */
static unsigned parts_of(const struct bytes *file)
{
    uint32_t parts, kind;
    uint64_t directory;
    unsigned kinds_seen = 0;
    if (!strstr(file->path, "/tables/"))
        return 0;
    memcpy(&parts, file->data + 40, sizeof parts);
    memcpy(&directory, file->data + 48, sizeof directory);
    for (uint32_t p = 0; p < parts; p++) {
        memcpy(&kind, file->data + directory + 40 * p + 24, sizeof kind);
        kinds_seen |= 1u << kind;
    }
    return kinds_seen;
}

/* Whether a place is among those of which each SPARSE-th is enough. */
static bool is_sparse(const struct bytes *file, bool part, uint64_t at)
{
    const bool of_column = strstr(file->path, "/tables/"), filling = at >= 192 && at < 4080;
    return of_column && (filling || !part);
}

static void change_all(uint64_t bytes)
{
    uint64_t at; /* the places of files whose length is a multiple of a page are different ones */
    const uint64_t step = step_of(bytes, &at);
    for (int f = 0; f < gathered_count; f++) {
        const struct bytes *const file = &gathered[f];
        const bool part = is_part(file->path);
        for (; at < file->size; at += step) {
            if (is_sparse(file, part, at) && at / step % SPARSE != 0)
                continue;
            byte_write(file->path, at, file->data[at] ^ (uint8_t)(1u << at % 8));
            look(file, part, "byte", at);
            byte_write(file->path, at, file->data[at]);
            if (getenv("TESSERA_EVERY_BYTE") || at % 4 == 0) {
                assert_int_equal(truncate(file->path, (off_t)at), 0);
                look(file, part, "cut at", at);
                bytes_write(file->path, file->data, file->size);
            }
        }
        at -= file->size;
    }
}

static void every_change_is_an_error_or_changes_nothing(void **state)
{
    static const char *const beside[] = {"tessera.lock", "tessera.compact", "catalogue.new"};
    char *after[STATEMENTS];
    unsigned parts = 0;
    uint64_t bytes = 0;
    made = *state;
    tried = unseen = apart = refused = 0;
    make();
    shell(
        "cp -a $D $D.copy && $T sql --db $D.copy --device cpu 'CREATE VIEW next_writer AS SELECT 1 AS one'");
    files_gather(path);
    for (int f = 0; f < gathered_count; f++) {
        bytes += gathered[f].size;
        parts |= is_part(gathered[f].path) ? parts_of(&gathered[f]) : 0;
    }
    assert_int_equal(parts & made->parts, made->parts);
    for (size_t n = 0; n < sizeof beside / sizeof *beside; n++)
        free(bytes_read(path, beside[n]).data); /* it is there */
    change_all(bytes);
    database_close(opened);
    answer_all(after);
    for (size_t s = 0; s < STATEMENTS; s++) {
        assert_string_equal(after[s], right[s]);
        free(after[s]);
        free(right[s]);
        free(right_before[s]);
    }
    print_message("%d files, %llu bytes; %llu changes, of which %llu were not seen by check; %llu beside the "
                  "state; %llu of %llu answers refused\n",
                  gathered_count, (unsigned long long)bytes, (unsigned long long)tried,
                  (unsigned long long)unseen, (unsigned long long)apart, (unsigned long long)refused,
                  (unsigned long long)(tried * STATEMENTS));
    engine_close(engine);
    database_close(none);
    files_forget();
    assert_int_equal(unseen, 0);
    assert_true(apart > 0);
}

/* ---- Costs ---- */

/* A table of costs has no checksum, for people write them, too: what is read of a damaged one gives other plans. */
static void damaged_costs_are_refused_or_change_no_answer(void **state)
{
    char costs[2 * PATH_BYTES];
    struct codec_costs read;
    struct bytes file;
    /* A load chooses codecs by their costs. */
    static const char asking[] =
        "rm -rf $D && " LOAD_STAR "shops=shops.csv sales=sales.csv && " SQL "--format csv 'SELECT count(*), "
        "sum(paid), max(city) FROM sales JOIN shops ON shop = k WHERE note <> city'";
    uint64_t asked = 0, tables = 0, at;
    (void)state;
    shell(asking);
    char *const text = strdup(faults_seen.output);
    snprintf(costs, sizeof costs, "%s.costs", path);
    FILE *const out = fopen(costs, "w");
    assert_non_null(out);
    must(codec_costs_load("h200", &read, error));
    codec_costs_write(&read, out);
    fclose(out);
    file = bytes_of(costs);
    for (const uint64_t step = step_of(file.size * PLACES / 20, &at); at < file.size; at += step) {
        file.data[at] ^= (uint8_t)(1u << at % 8);
        bytes_write(costs, file.data, file.size);
        file.data[at] ^= (uint8_t)(1u << at % 8);
        struct error why = {0};
        const enum status status = codec_costs_load(costs, &read, &why);
        if (status != STATUS_OK && status != STATUS_BAD_INPUT)
            fail_msg("byte %llu: status %d: %s", (unsigned long long)at, (int)status, why.text);
        setenv("TESSERA_COSTS", costs, 1);
        faults_shell(asking, &faults_seen);
        unsetenv("TESSERA_COSTS");
        tables++;
        asked += faults_seen.exit_code == 0;
        if (faults_seen.exit_code == 0 ? strcmp(faults_seen.output, text) != 0
                                       : status != STATUS_BAD_INPUT || faults_seen.exit_code != 2)
            fail_msg("byte %llu: exit code %d: %s%s", (unsigned long long)at, faults_seen.exit_code,
                     faults_seen.output, faults_seen.errors);
    }
    free(file.data);
    free(text);
    assert_true(asked < tables);
    print_message("%llu changes of a table of costs, %llu answers\n", (unsigned long long)tables,
                  (unsigned long long)asked);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        {"star", every_change_is_an_error_or_changes_nothing, files_make, teardown, (void *)&star},
        {"kinds", every_change_is_an_error_or_changes_nothing, files_make, teardown, (void *)&kinds},
        cmocka_unit_test_setup_teardown(damaged_costs_are_refused_or_change_no_answer, files_make, teardown)};
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
