/*
 * test_library_faults.c: the calls of tessera.h, and some 200 statements of all operators (statements.sql), with every
 * call of the C library failing in turn that they make, in this process (tests/support/own_faults.h).
 *
 *     TESSERA_FAULTS=all test_library_faults 'window*'
 *     TESSERA_FAULTS=all TESSERA_FAULTS_KIND=memory test_library_faults
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/faults/library_statements.h"

#include <errno.h>

/* ---- Opening ---- */

static const struct opening {
    const char *name, *path; /* of the database; "NULL": none, by no path; NULL: `path` */
    struct tessera_options options;
} openings[] = {
    {"open", NULL, {.device = "cpu", .threads = 2}},
    {"open_options",
     NULL,
     {.device = "cpu",
      .threads = 1,
      .gpu_memory = "1G",
      .memory = "64M",
      .spill = ".",
      .plan_cache = "0",
      .kernel = "general"}},
    {"open_devices", NULL, {.device = "cpu,cpu", .threads = 2}},
    {"open_none", "NULL", {.device = "cpu", .threads = 1, .memory = "64M", .spill = "."}},
    {"open_files", "", {.device = "cpu", .memory = "64M", .spill = "."}},
    {"open_new", "new.db", {.device = "cpu"}},
    {"open_nowhere", "nowhere/db", {.device = "cpu"}},
    {"open_a_file", "sales.csv", {.device = "cpu"}},
    {"open_memory", NULL, {.device = "cpu", .memory = "much"}},
};

/* Opens, and asks something that needs no table. */
static void open_and_close(const void *argument, struct own_outcome *outcome)
{
    const struct opening *const opening = argument;
    struct tessera_options options = opening->options;
    const char *const at = !opening->path ? path : strcmp(opening->path, "NULL") == 0 ? NULL : opening->path;
    struct tessera_error error;
    struct own_outcome again = {.code = 0};
    options.size = sizeof options;
    for (unsigned turn = 0; turn < 2; turn++) {
        struct own_outcome *const to = turn ? &again : outcome;
        struct tessera_database *database = NULL;
        struct tessera_statement *statement = NULL;
        if (!turn)
            own_arm();
        if (own_ended(to, (int)tessera_open_with(at, &options, &database, &error), error.text) &&
            own_ended(to, (int)tessera_prepare(database, "SELECT 1, 'a'", &statement, &error), error.text))
            (void)run_prepared(statement, to);
        tessera_finalize(statement);
        tessera_close(database);
        own_disarm();
    }
    if (own_failed() && !is_right(&again, false))
        outcome->afterwards = "it cannot be opened afterwards";
}

/* ---- Statements with parameters, and what else is called for an open database ---- */

static struct tessera_database *open_shop(struct own_outcome *outcome)
{
    struct tessera_database *database = NULL;
    struct tessera_error error;
    if (tessera_open(path, "cpu", 2, &database, &error))
        outcome->afterwards = "the database cannot be opened";
    return database;
}

static void use_parameters(struct tessera_database *database, struct own_outcome *outcome)
{
    struct tessera_statement *statement = NULL;
    struct tessera_error error;
    if (own_ended(outcome,
                  (int)tessera_prepare(
                      database,
                      "SELECT id, paid + ?, weight * ?, note || ?, day + ? FROM sales WHERE id < ? AND "
                      "coalesce(?, shop) = shop AND day > ? ORDER BY id",
                      &statement, &error),
                  error.text) &&
        own_ended(outcome, (int)tessera_bind_decimal(statement, 0, 125, 2, &error), error.text) &&
        own_ended(outcome, (int)tessera_bind_double(statement, 1, 0.5, &error), error.text) &&
        own_ended(outcome, (int)tessera_bind_text(statement, 2, "some text", 9, &error), error.text) &&
        own_ended(outcome, (int)tessera_bind_int64(statement, 3, 7, &error), error.text) &&
        own_ended(outcome, (int)tessera_bind_int64(statement, 4, 100, &error), error.text) &&
        own_ended(outcome, (int)tessera_bind_null(statement, 5, &error), error.text) &&
        own_ended(outcome, (int)tessera_bind_text(statement, 6, "2024-02-03", 10, &error), error.text) &&
        run_prepared(statement, outcome) &&
        own_ended(outcome, (int)tessera_bind_text(statement, 2, "another", 7, &error), error.text) &&
        own_ended(outcome, (int)tessera_bind_int64(statement, 5, 4, &error), error.text) &&
        run_prepared(statement, outcome))
        own_note(outcome, "done", 4);
    tessera_finalize(statement);
}

/* The zone of each try is another one, because zones are kept in the process. */
static void use_zone(struct tessera_database *database, struct own_outcome *outcome)
{
    static const char *const zones[] = {
        "Europe/Berlin", "Europe/Paris", "Asia/Tokyo",      "America/New_York",
        "Africa/Cairo",  "Europe/Oslo",  "Asia/Kolkata",    "America/Lima",
        "Europe/Rome",   "Asia/Dubai",   "Australia/Perth", "Pacific/Fiji",
        "Europe/Kiev",   "Asia/Seoul",   "America/Bogota",  "Africa/Lagos"};
    static unsigned next;
    const char *const zone = zones[next++ % (sizeof zones / sizeof *zones)];
    struct tessera_statement *statement = NULL;
    struct tessera_error error;
    if (own_ended(outcome, (int)tessera_use_time_zone(database, zone, &error), error.text) &&
        own_ended(outcome,
                  (int)tessera_prepare(
                      database, "SELECT count(seen::VARCHAR), count(DISTINCT seen::TIMESTAMP) FROM sales",
                      &statement, &error),
                  error.text))
        (void)run_prepared(statement, outcome);
    tessera_finalize(statement);
}

static void use_indexes(struct tessera_database *database, struct own_outcome *outcome)
{
    struct tessera_statement *statement = NULL;
    struct tessera_error error;
    tessera_use_indexes(database, TESSERA_INDEX_ON);
    if (own_ended(outcome,
                  (int)tessera_prepare(
                      database, "SELECT count(*), sum(paid) FROM sales WHERE shop IN (4, 7) AND paid > 10",
                      &statement, &error),
                  error.text))
        (void)run_prepared(statement, outcome);
    tessera_finalize(statement);
}

/* Two statements at once; an answer that outlives its statement; one text that comes again. */
static void use_cache(struct tessera_database *database, struct own_outcome *outcome)
{
    static const char sql[] = "SELECT shop, sum(paid) FROM sales GROUP BY shop ORDER BY shop";
    struct tessera_statement *statements[3] = {NULL};
    struct tessera_result *result = NULL;
    struct tessera_error error;
    if (own_ended(outcome, (int)tessera_prepare(database, sql, &statements[0], &error), error.text) &&
        own_ended(outcome, (int)tessera_prepare(database, sql, &statements[1], &error), error.text) &&
        run_prepared(statements[0], outcome) &&
        own_ended(outcome, (int)tessera_run(statements[1], &result, &error), error.text)) {
        tessera_finalize(statements[1]);
        statements[1] = NULL;
        if (own_ended(outcome, (int)tessera_prepare(database, sql, &statements[2], &error), error.text) &&
            run_prepared(statements[2], outcome))
            note_result(result, outcome);
    }
    tessera_result_free(result);
    for (unsigned s = 0; s < 3; s++)
        tessera_finalize(statements[s]);
}

static void be_interrupted(struct tessera_database *database, struct own_outcome *outcome)
{
    struct tessera_statement *statement = NULL;
    struct tessera_error error = {.text = ""};
    if (own_ended(outcome,
                  (int)tessera_prepare(database, "SELECT count(*) FROM pairs a JOIN pairs b ON a.t = b.t",
                                       &statement, &error),
                  error.text)) {
        struct tessera_result *result = NULL;
        tessera_interrupt();
        const enum tessera_status status = tessera_run(statement, &result, &error);
        tessera_resume();
        tessera_result_free(result);
        if (status == TESSERA_INTERRUPTED)
            own_note(outcome, "interrupted", 11);
        else
            (void)own_ended(outcome, (int)status, error.text);
    }
    tessera_finalize(statement);
}

/* Reads the stream to its end, and releases it. Its errors are those of the machine, or of input. */
static void read_stream(struct ArrowArrayStream *stream, struct own_outcome *outcome)
{
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray batch;
    int code = stream->get_schema(stream, &schema);
    if (own_ended(outcome,
                  code == ENOMEM || code == EIO ? 3
                  : code                        ? 2
                                                : 0,
                  code ? stream->get_last_error(stream) : NULL)) {
        for (int64_t c = 0; c < schema.n_children; c++) {
            own_note(outcome, schema.children[c]->name, strlen(schema.children[c]->name));
            own_note(outcome, schema.children[c]->format, strlen(schema.children[c]->format));
        }
        schema.release(&schema);
    }
    for (;;) {
        code = stream->get_next(stream, &batch);
        if (!own_ended(outcome,
                       code == ENOMEM || code == EIO ? 3
                       : code                        ? 2
                                                     : 0,
                       code ? stream->get_last_error(stream) : NULL) ||
            !batch.release)
            break;
        own_note(outcome, &batch.length, sizeof batch.length);
        for (int64_t c = 0; c < batch.n_children; c++) {
            const struct ArrowArray *const column = batch.children[c];
            own_note(outcome, &column->null_count, sizeof column->null_count);
            own_note(outcome, column->buffers[1], (size_t)column->length / 8);
        }
        batch.release(&batch);
    }
    stream->release(stream);
}

static void export_answer(struct tessera_database *database, struct own_outcome *outcome)
{
    struct tessera_statement *statement = NULL;
    struct tessera_result *result = NULL;
    struct ArrowArrayStream stream;
    struct tessera_error error;
    if (own_ended(outcome,
                  (int)tessera_prepare(database, "SELECT *, note || id, upper(doc), weight * 2 FROM sales",
                                       &statement, &error),
                  error.text) &&
        own_ended(outcome, (int)tessera_run(statement, &result, &error), error.text) &&
        own_ended(outcome, (int)tessera_result_arrow(result, &stream, &error), error.text)) {
        tessera_finalize(statement);
        statement = NULL;
        read_stream(&stream, outcome);
    }
    tessera_finalize(statement);
}

static void export_tables(struct tessera_database *database, struct own_outcome *outcome)
{
    static const char *const tables[] = {"sales", "shops", "pairs"};
    for (unsigned t = 0; t < 3 && !outcome->code; t++) {
        struct ArrowArrayStream stream;
        struct tessera_error error;
        if (own_ended(outcome, (int)tessera_table_arrow(database, tables[t], &stream, &error), error.text))
            read_stream(&stream, outcome);
    }
}

static void export_no_table(struct tessera_database *database, struct own_outcome *outcome)
{
    struct ArrowArrayStream stream;
    struct tessera_error error;
    if (own_ended(outcome, (int)tessera_table_arrow(database, "nowhere", &stream, &error), error.text))
        read_stream(&stream, outcome);
}

static const struct use {
    const char *name;
    void (*calls)(struct tessera_database *, struct own_outcome *);
} uses[] = {
    {"parameters", use_parameters},   {"zone", use_zone},
    {"indexes", use_indexes},         {"cache", use_cache},
    {"interrupted", be_interrupted},  {"export_answer", export_answer},
    {"export_tables", export_tables}, {"export_no_table", export_no_table},
};

static void use(const void *argument, struct own_outcome *outcome)
{
    const struct use *const of = argument;
    struct tessera_database *const database = open_shop(outcome);
    struct own_outcome again = {.code = 0};
    if (!database)
        return;
    own_arm();
    of->calls(database, outcome);
    own_disarm();
    if (own_failed()) {
        of->calls(database, &again);
        if (!is_right(&again, false)) {
            fprintf(stderr, "%s\n", again.text);
            outcome->afterwards =
                "the same calls, made again on the same connection, do not give the right answer";
        }
    }
    tessera_close(database);
}

/* ---- Changes ---- in a copy of the database, which is made for each try */

static uint64_t hash_of_file(const char *name)
{
    static char bytes[1 << 20];
    FILE *const file = fopen(name, "rb");
    if (!file)
        return 0;
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return XXH3_64bits(bytes, length) | 1;
}

/* What the copy holds, and what COPY wrote; a database that is not there is a state, too. */
static uint64_t copy_state(void)
{
    static const char *const asks[] = {
        "SELECT count(*), sum(paid), count(note), sum(weight), max(at), sum(big) FROM sales",
        "SELECT count(*), max(name) FROM shops", "SHOW TABLES", "SHOW VIEWS"};
    struct own_outcome seen = {.code = 0};
    struct tessera_database *database = NULL;
    struct tessera_error error;
    if (own_ended(&seen, (int)tessera_open(COPY_PATH, "cpu", 1, &database, &error), error.text)) {
        for (unsigned a = 0; a < sizeof asks / sizeof *asks; a++) {
            struct tessera_statement *statement = NULL;
            struct own_outcome answer = {.code = 0};
            if (own_ended(&answer, (int)tessera_prepare(database, asks[a], &statement, &error), error.text))
                (void)run_prepared(statement, &answer);
            tessera_finalize(statement);
            own_note(&seen, &answer.code, sizeof answer.code);
            own_note(&seen, &answer.answer, sizeof answer.answer);
        }
        tessera_close(database);
    }
    static const char *const outputs[] = {"out.csv", "out.csv.gz", "out.parquet", "out.arrow", "out.json"};
    for (unsigned o = 0; o < sizeof outputs / sizeof *outputs; o++) {
        const uint64_t hash = hash_of_file(outputs[o]);
        own_note(&seen, &hash, sizeof hash);
    }
    return seen.answer;
}

struct change {
    const char *name, *sql; /* or */
    void (*calls)(struct own_outcome *);
    bool empty; /* there is no copy before */
};

static void run_sql(const char *sql, struct own_outcome *outcome)
{
    struct tessera_database *database = NULL;
    struct tessera_statement *statement = NULL;
    struct tessera_error error;
    const bool armed = own_pause();
    const enum tessera_status opened = tessera_open(COPY_PATH, "cpu", 2, &database, &error);
    own_resume(armed);
    if (own_ended(outcome, (int)opened, error.text) &&
        own_ended(outcome, (int)tessera_prepare(database, sql, &statement, &error), error.text))
        (void)run_prepared(statement, outcome);
    tessera_finalize(statement);
    const bool still = own_pause();
    tessera_close(database);
    own_resume(still);
}

static char *script_text(void)
{
    static char text[4096];
    const bool armed = own_pause();
    FILE *const file = fopen("shop.sql", "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    if (file)
        fclose(file);
    own_resume(armed);
    return text;
}

static void load_files(enum tessera_load_mode mode, const char *schema, const char *sales,
                       struct own_outcome *outcome)
{
    static const char *const tables[] = {"sales", "shops", "visits", "quotes", "pairs"};
    const char *const files[] = {sales, "shops.csv", "visits.csv", "quotes.csv", "pairs.csv"};
    struct tessera_error error;
    uint64_t rows = 0;
    if (own_ended(outcome,
                  (int)tessera_load(COPY_PATH, schema, tables, files, mode == TESSERA_LOAD_APPEND ? 1 : 5,
                                    mode, &rows, &error),
                  error.text))
        own_note(outcome, &rows, sizeof rows);
}

static void load_new(struct own_outcome *outcome)
{
    load_files(TESSERA_LOAD_NEW, script_text(), "sales.csv", outcome);
}

static void load_replace(struct own_outcome *outcome)
{
    load_files(TESSERA_LOAD_REPLACE, script_text(), "more.csv", outcome);
}

static void load_append(struct own_outcome *outcome)
{
    load_files(TESSERA_LOAD_APPEND, NULL, "more.csv", outcome);
}

static void load_existing(struct own_outcome *outcome)
{
    load_files(TESSERA_LOAD_NEW, script_text(), "more.csv", outcome);
}

static void load_wrong(struct own_outcome *outcome)
{
    load_files(TESSERA_LOAD_APPEND, NULL, "visits.csv", outcome);
}

/* The rows of an answer of the first database, as a stream. */
static void load_stream(struct own_outcome *outcome)
{
    struct tessera_database *database = NULL;
    struct tessera_statement *statement = NULL;
    struct tessera_result *result = NULL;
    struct ArrowArrayStream stream = {.release = NULL};
    struct ArrowArrayStream *const streams[] = {&stream};
    static const char *const tables[] = {"sales"};
    struct tessera_error error;
    uint64_t rows = 0;
    const bool armed = own_pause();
    if (tessera_open(path, "cpu", 2, &database, &error) ||
        tessera_prepare(database, "SELECT * FROM sales WHERE id < 900", &statement, &error) ||
        tessera_run(statement, &result, &error) || tessera_result_arrow(result, &stream, &error))
        abort();
    tessera_finalize(statement);
    own_resume(armed);
    if (own_ended(
            outcome,
            (int)tessera_load_arrow(COPY_PATH, NULL, tables, streams, 1, TESSERA_LOAD_APPEND, &rows, &error),
            error.text))
        own_note(outcome, &rows, sizeof rows);
    if (stream.release)
        outcome->afterwards = "the stream is not released";
    const bool still = own_pause();
    tessera_close(database);
    own_resume(still);
}

static void load_values(struct own_outcome *outcome)
{
    static int64_t numbers[300], shops[300];
    static const char *texts[300];
    static uint8_t nulls[300];
    struct tessera_error error;
    for (unsigned r = 0; r < 300; r++) {
        numbers[r] = 100000 + r;
        shops[r] = 1 + 3 * (r % 20);
        texts[r] = r % 5 ? "a note" : NULL;
        nulls[r] = r % 9 == 0;
    }
    const struct tessera_values columns[] = {{.name = "id", .numbers = numbers},
                                             {.name = "shop", .numbers = shops, .nulls = nulls},
                                             {.name = "note", .texts = texts}};
    static const char script[] = "CREATE TABLE few (id BIGINT, shop INTEGER REFERENCES shops (k), note TEXT)";
    (void)own_ended(
        outcome, (int)tessera_load_rows(COPY_PATH, script, "few", columns, 3, 300, TESSERA_LOAD_NEW, &error),
        error.text);
}

static const struct change changes[] = {
    {.name = "insert_select",
     .sql = "INSERT INTO sales (id, shop, paid, note) SELECT id + 100000, shop, paid, upper(note) FROM sales "
            "WHERE paid > 500"},
    {.name = "insert_values",
     .sql =
         "INSERT INTO sales (id, shop, day, note) VALUES (1, 4, '2024-01-31', 'new'), (2, NULL, NULL, 'x')"},
    {.name = "insert_by_name",
     .sql = "INSERT INTO visits BY NAME SELECT 99 AS people, k AS shop FROM shops WHERE k > 30"},
    {.name = "insert_dimension",
     .sql = "INSERT INTO shops (k, name, city, boss) VALUES (500, 'new shop', 'city 9', 4)"},
    {.name = "insert_dangling", .sql = "INSERT INTO visits (shop, people) VALUES (9999, 1)"},
    {.name = "insert_replace",
     .sql = "INSERT INTO sales REPLACE WHERE shop = 22 SELECT * REPLACE (paid + 1 AS paid) FROM sales WHERE "
            "shop = 22"},
    {.name = "insert_file", .sql = "INSERT INTO quotes SELECT v, NULL, n FROM 'items.json'"},
    {.name = "delete", .sql = "DELETE FROM sales WHERE paid > 300 AND day < DATE '2024-05-01'"},
    {.name = "delete_all", .sql = "DELETE FROM visits"},
    {.name = "delete_subquery",
     .sql = "DELETE FROM sales WHERE big IN (SELECT a FROM pairs WHERE b % 2 = 0)"},
    {.name = "delete_referenced", .sql = "DELETE FROM shops WHERE k = 4"},
    {.name = "create_as",
     .sql = "CREATE TABLE cities AS SELECT city, sum(paid) AS paid, max(note) AS note FROM sales JOIN shops "
            "ON shop = k GROUP BY city"},
    {.name = "create_star", .sql = "CREATE OR REPLACE TABLE sales AS SELECT * FROM sales WHERE id % 3 = 0"},
    {.name = "create_columns",
     .sql =
         "CREATE TABLE visitors (id INT PRIMARY KEY, shop INTEGER REFERENCES shops (k), name TEXT NOT NULL)"},
    {.name = "create_database", .sql = "CREATE TABLE trips AS SELECT * FROM 'rows.parquet'", .empty = true},
    {.name = "create_view",
     .sql =
         "CREATE VIEW rich AS SELECT shop, sum(paid) AS s FROM sales GROUP BY shop HAVING sum(paid) > 100"},
    {.name = "drop_view", .sql = "DROP VIEW expensive"},
    {.name = "set_zone", .sql = "SET TimeZone = 'Europe/Vienna'"},
    {.name = "copy_csv",
     .sql =
         "COPY (SELECT id, note, paid, weight, seen FROM sales) TO 'out.csv' (DELIMITER ';', NULL 'none')"},
    {.name = "copy_gzip", .sql = "COPY visits TO 'out.csv.gz'"},
    {.name = "copy_parquet", .sql = "COPY sales TO 'out.parquet'"},
    {.name = "copy_snappy",
     .sql = "COPY (SELECT * FROM sales WHERE online) TO 'out.parquet' (COMPRESSION snappy)"},
    {.name = "copy_arrow", .sql = "COPY sales TO 'out.arrow' (COMPRESSION lz4)"},
    {.name = "copy_json", .sql = "COPY (SELECT * FROM sales WHERE id < 200) TO 'out.json' (ARRAY)"},
    {.name = "load_new", .calls = load_new, .empty = true},
    {.name = "load_append", .calls = load_append},
    {.name = "load_replace", .calls = load_replace},
    {.name = "load_existing", .calls = load_existing},
    {.name = "load_wrong", .calls = load_wrong},
    {.name = "load_stream", .calls = load_stream},
    {.name = "load_values", .calls = load_values},
};

static void do_change(const struct change *change, struct own_outcome *outcome)
{
    if (change->sql)
        run_sql(change->sql, outcome);
    else
        change->calls(outcome);
    /* It was done; only a power cut may undo it. */
    if (outcome->code == TESSERA_NOT_DURABLE) {
        outcome->code = 0;
        outcome->answer = own_shared->right.answer;
    }
}

/* All or nothing: a failure leaves the old state, and the change can be made then. */
static void change_copy(const void *argument, struct own_outcome *outcome)
{
    const struct change *const change = argument;
    struct own_outcome again = {.code = 0};
    copy_forget();
    if (!change->empty)
        copy_make();
    const uint64_t before = copy_state();
    own_arm();
    do_change(change, outcome);
    own_disarm();
    const uint64_t after = copy_state();
    if (own_shared->number == 0) {
        own_shared->kept = after;
        own_shared->kept_files = own_folder_entries(".");
    }
    if (!outcome->code && after != own_shared->kept)
        outcome->afterwards = "the change was not made, or differs";
    else if (outcome->code && after != before)
        outcome->afterwards = "it failed, but the state is not the old one";
    if (outcome->afterwards || !outcome->code || !own_failed())
        return;
    do_change(change, &again);
    if (!is_right(&again, false) || copy_state() != own_shared->kept) {
        fprintf(stderr, "%s\n", again.text);
        outcome->afterwards = "the change, made again, is not made rightly";
    } else if (own_folder_entries(".") != own_shared->kept_files) {
        outcome->afterwards = "the change, made again, leaves other files";
    }
}

/* ---- Reading statements.sql ---- */

#define ASKED_MOST 400

static struct own_operation operations[ASKED_MOST];
static struct asked asked[ASKED_MOST];
static size_t operation_count;

static char *read_statements(void)
{
    FILE *const file = fopen(TESSERA_SOURCE "/tests/faults/statements.sql", "r");
    static char text[1 << 18];
    if (!file)
        exit(1);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* "-- name 512K": the group's name, and its memory or NULL. */
static void read_heading(char *line, const char **group, const char **memory)
{
    char *name = line + strlen("-- ");
    name[strcspn(name, "\n")] = '\0';
    *memory = strchr(name, ' ');
    if (*memory)
        name[(*memory)++ - name] = '\0';
    *group = name;
}

static void make_statements(void)
{
    const char *group = NULL, *memory = NULL;
    unsigned number = 0;
    char *at = strstr(read_statements(), "\n\n") + 2;
    while (*at) {
        char *const end = strstr(at, strncmp(at, "--", 2) == 0 ? "\n" : ";\n");
        if (!end)
            break;
        char *const next = strchr(end, '\n') + 1;
        if (*at == '\n') {
            at++;
            continue;
        }
        if (strncmp(at, "--", 2) == 0) {
            read_heading(at, &group, &memory);
            number = 0;
        } else {
            char *name;
            *end = '\0';
            if (operation_count == ASKED_MOST || asprintf(&name, "%s_%u", group, ++number) < 0)
                exit(1);
            asked[operation_count] = (struct asked){.sql = at, .memory = memory};
            operations[operation_count] = (struct own_operation){
                .name = name, .run = ask, .argument = &asked[operation_count], .answer_may_vary = varies(at)};
            operation_count++;
        }
        at = next;
    }
}

static void add(const char *name, void (*run)(const void *, struct own_outcome *), const void *argument)
{
    if (operation_count == ASKED_MOST)
        exit(1);
    operations[operation_count++] = (struct own_operation){.name = name, .run = run, .argument = argument};
}

static void make_calls(void)
{
    for (size_t o = 0; o < sizeof openings / sizeof *openings; o++)
        add(openings[o].name, open_and_close, &openings[o]);
    for (size_t u = 0; u < sizeof uses / sizeof *uses; u++)
        add(uses[u].name, use, &uses[u]);
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++)
        add(changes[c].name, change_copy, &changes[c]);
}

/* ---- All ---- */

static void runs(void **state)
{
    own_campaigns(*state);
}

int main(int count, char **arguments)
{
    static struct CMUnitTest tests[ASKED_MOST];
    own_begin(arguments, false);
    make_statements();
    make_calls();
    for (size_t o = 0; o < operation_count; o++)
        tests[o] = (struct CMUnitTest){
            .name = operations[o].name, .test_func = runs, .initial_state = &operations[o]};
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return _cmocka_run_group_tests("library faults", tests, operation_count, shop_make, teardown);
}
