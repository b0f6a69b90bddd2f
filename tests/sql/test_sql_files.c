/*
 * test_sql_files.c: runs the files of statements and answers tests/sql/NAME.test through the calls of tessera.h alone, so that they
 * outlive whatever answers them. With arguments it runs these files only: test_sql_files tests/sql/joins.test
 *
 * A file is a list of blocks, separated by blank lines; a line that begins with # is a comment. Its tables come first:
 *
 *     schema                       the CREATE TABLE script of all tables, up to the blank line
 *     CREATE TABLE a (k INTEGER, v INTEGER);
 *
 *     table a                      the rows of one table, as CSV; tables that have no such block are empty
 *     1,1
 *
 *     query [sorted]               a statement of one or more lines, and its rows after ----
 *     SELECT k, v FROM a           With `sorted`, the lines of both are sorted first (no ORDER BY).
 *     ----
 *     1,1
 *
 *     error                        a statement that is bad input, and a part of the sentence that says so
 *     SELECT nothing FROM a
 *     ----
 *     no column nothing
 *
 *     needs FILE                   the file is left out where the system has no such file
 *
 *     zone Europe/Berlin           the time zone of the statements after it, from the system's database
 *
 *     refused                      a statement that should be answered and is not yet: a part of today's sentence, then the right rows
 *     SELECT ...
 *     ----
 *     is not supported
 *     ----
 *     1,1
 *
 * On the CPU all is asked once more in LITTLE memory, in which most operators work part by part: then a statement may fail for want
 * of memory. TESSERA_TEST_MEMORY says how much there is instead, in all.
 *
 * Rows are CSV as `tessera sql --format csv` prints it, without names: NULL is an empty field, an empty string "". A refused statement
 * that is answered fails the test, rightly answered or not, so that its mark is taken off.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "tests/support/database_cases.h"
#include "tests/support/not_run.h"

#include <dirent.h>
#include <unistd.h>

#define TABLES_MAX 64
#define FILES_MAX  256

struct sql_file {
    const char *name;   /* of the file, for messages */
    char *text;         /* all of it; blocks are cut out in place */
    char *rest;         /* after the block that was read last */
    unsigned long line; /* of `rest`, from 1 */
    char path[PATH_BYTES];
    char *schema;
    char *tables[TABLES_MAX], *rows[TABLES_MAX];
    uint32_t table_count;
    struct tessera_database *database; /* NULL until the first statement */
    unsigned statements, failures, refusals;
};

/* A block: its first line, its body, and the parts of the body between lines of ----. */
struct block {
    unsigned long line;
    char *head, *parts[3];
    unsigned part_count;
};

#define LITTLE "16K"

/* So many statements of all files may fail for want of it: today 8. */
#define IN_WANT_MOST 16u

/* A file, and the memory that it has: LITTLE, or NULL. */
struct asked_file {
    char path[PATH_BYTES], name[64];
    const char *memory;
};

static unsigned refused_total, too_large_total, in_want_total;
static const char *memory;

static char *file_read(const char *path)
{
    FILE *const file = fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0;
    if (!file)
        fail_msg("%s cannot be opened", path);
    if (getdelim(&text, &capacity, '\0', file) < 0)
        fail_msg("%s is empty", path);
    fclose(file);
    return text;
}

/* Takes the next line off the file, without its end; NULL at the end. */
static char *line_next(struct sql_file *file)
{
    if (!*file->rest)
        return NULL;
    char *const line = file->rest;
    char *const end = strchrnul(line, '\n');
    file->rest = *end ? end + 1 : end;
    *end = '\0';
    file->line++;
    return line;
}

/* Reads the next block; false at the end. A body's lines are put together again with their ends. */
static bool block_next(struct sql_file *file, struct block *block)
{
    char *line = line_next(file);
    while (line && (!*line || *line == '#'))
        line = line_next(file);
    if (!line)
        return false;
    *block = (struct block){.line = file->line, .head = line, .part_count = 1};
    char *out = block->parts[0] = line + strlen(line) + 1;
    while ((line = line_next(file)) && *line) {
        const size_t length = strlen(line);
        if (*line == '#')
            continue;
        if (strcmp(line, "----") == 0 && block->part_count < 3) {
            *out++ = '\0';
            block->parts[block->part_count++] = out;
            continue;
        }
        memmove(out, line, length);
        out += length;
        *out++ = '\n';
    }
    *out = '\0';
    return true;
}

static void table_files_write(struct sql_file *file, char names[TABLES_MAX][PATH_BYTES + 64],
                              const char *paths[TABLES_MAX])
{
    for (uint32_t t = 0; t < file->table_count; t++) {
        snprintf(names[t], sizeof names[t], "%.*s/%s.csv", (int)(strlen(file->path) - 3), file->path,
                 file->tables[t]);
        FILE *const out = fopen(names[t], "wb");
        assert_non_null(out);
        fputs(file->rows[t], out);
        fclose(out);
        paths[t] = names[t];
    }
}

static void tables_make(struct sql_file *file)
{
    static char names[TABLES_MAX][PATH_BYTES + 64];
    const char *paths[TABLES_MAX];
    struct tessera_error error;
    uint64_t rows;
    if (!file->schema)
        fail_msg("%s: a schema must come before the first statement", file->name);
    directory_make(file->path);
    table_files_write(file, names, paths);
    if (tessera_load(file->path, file->schema, (const char *const *)file->tables, paths, file->table_count,
                     TESSERA_LOAD_NEW, &rows, &error) ||
        tessera_open_with(file->path,
                          &(struct tessera_options){.size = sizeof(struct tessera_options),
                                                    .device = test_device(),
                                                    .threads = 2,
                                                    .memory = memory,
                                                    .kernel = getenv("TESSERA_TEST_KERNEL")},
                          &file->database, &error))
        fail_msg("%s: %s", file->name, error.text);
}

static void cell_print(struct tessera_result *result, uint32_t column, uint64_t row, FILE *out)
{
    uint32_t length;
    if (tessera_is_null(result, column, row))
        return;
    const char *const text = tessera_text(result, column, row, &length);
    const bool quoted = tessera_column_type(result, column) == TESSERA_STRING &&
                        (length == 0 || memchr(text, ',', length) || memchr(text, '"', length) ||
                         memchr(text, '\n', length) || memchr(text, '\r', length));
    if (quoted)
        fputc('"', out);
    for (uint32_t i = 0; i < length; i++) {
        if (quoted && text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    if (quoted)
        fputc('"', out);
}

/* The rows as text, which the caller frees. */
static char *result_text(struct tessera_result *result)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    assert_non_null(out);
    for (uint64_t row = 0; row < tessera_rows(result); row++) {
        for (uint32_t c = 0; c < tessera_columns(result); c++) {
            if (c)
                fputc(',', out);
            cell_print(result, c, row, out);
        }
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The text's lines in sorted order, as a text that the caller frees. */
static char *lines_sorted(const char *text)
{
    size_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at == '\n';
    char *const copy = strdup(text), *const sorted = malloc(strlen(text) + 1);
    char **const lines = malloc((count + 1) * sizeof *lines);
    assert_true(copy && sorted && lines);
    size_t used = 0;
    for (char *line = copy; used < count; line += strlen(line) + 1) {
        *strchr(line, '\n') = '\0';
        lines[used++] = line;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    char *out = sorted;
    for (size_t i = 0; i < count; i++)
        out += sprintf(out, "%s\n", lines[i]);
    *out = '\0';
    free(lines);
    free(copy);
    return sorted;
}

static bool rows_equal(const char *rows, const char *expected, bool sorted)
{
    if (!sorted)
        return strcmp(rows, expected) == 0;
    char *const a = lines_sorted(rows), *const b = lines_sorted(expected);
    const bool equal = strcmp(a, b) == 0;
    free(a);
    free(b);
    return equal;
}

/* Runs the statement. Returns its status; *rows is its answer, which the caller frees, or NULL. */
static enum tessera_status statement_run(struct sql_file *file, const char *sql, char **rows,
                                         struct tessera_error *error)
{
    struct tessera_statement *statement = NULL;
    struct tessera_result *result = NULL;
    *rows = NULL;
    enum tessera_status status = tessera_prepare(file->database, sql, &statement, error);
    if (!status)
        status = tessera_run(statement, &result, error);
    if (!status)
        *rows = result_text(result);
    tessera_result_free(result);
    tessera_finalize(statement);
    return status;
}

/* What is wrong with the statement of a block, or NULL. The text is static. */
static const char *block_fault(struct sql_file *file, const struct block *block, bool sorted)
{
    static char fault[8192];
    struct tessera_error error = {0};
    char *rows;
    const bool answers = strncmp(block->head, "query", 5) == 0, refused = strcmp(block->head, "refused") == 0;
    const enum tessera_status status = statement_run(file, block->parts[0], &rows, &error);
    fault[0] = '\0';
    if (answers && status == TESSERA_BAD_INPUT && strstr(error.text, "give --device cpu"))
        too_large_total++; /* of a GPU alone: the CPU does not say so */
    else if (memory && status == TESSERA_MACHINE && strstr(error.text, "; allow more (--memory)"))
        in_want_total++;
    else if (answers && status)
        snprintf(fault, sizeof fault, "fails: %s", error.text);
    else if (answers && !rows_equal(rows, block->parts[1], sorted))
        snprintf(fault, sizeof fault, "answers\n%.3000sand not\n%.3000s", rows, block->parts[1]);
    else if (!answers && !status)
        snprintf(fault, sizeof fault, "is answered:\n%.3000s%s", rows,
                 !refused                                  ? "and is an error"
                 : rows_equal(rows, block->parts[2], true) ? "which is right: make `refused` a `query`"
                                                           : "which is wrong");
    else if (!answers) {
        char *const sentence = block->parts[1];
        sentence[strcspn(sentence, "\n")] = '\0';
        if (status != TESSERA_BAD_INPUT || !strstr(error.text, sentence))
            snprintf(fault, sizeof fault, "status %d, \"%s\", which does not say \"%s\"", (int)status,
                     error.text, sentence);
        file->refusals += refused;
    }
    free(rows);
    return fault[0] ? fault : NULL;
}

static void statement_block(struct sql_file *file, const struct block *block)
{
    const bool sorted = strcmp(block->head, "query sorted") == 0;
    const unsigned parts = strcmp(block->head, "refused") == 0 ? 3 : 2;
    if (!sorted && strcmp(block->head, "query") != 0 && strcmp(block->head, "error") != 0 && parts == 2)
        fail_msg("%s:%lu: there is no block `%s`", file->name, block->line, block->head);
    if (block->part_count != parts)
        fail_msg("%s:%lu: `%s` has %u parts, and this has %u", file->name, block->line, block->head, parts,
                 block->part_count);
    if (!file->database)
        tables_make(file);
    const char *const fault = block_fault(file, block, sorted);
    file->statements++;
    if (fault) {
        file->failures++;
        print_error("%s:%lu: %s%s\n", file->name, block->line, block->parts[0], fault);
    }
}

static void zone_block(struct sql_file *file, const struct block *block)
{
    struct tessera_error error;
    if (!file->database)
        tables_make(file);
    if (tessera_use_time_zone(file->database, block->head + 5, &error))
        fail_msg("%s:%lu: %s", file->name, block->line, error.text);
}

static void block_do(struct sql_file *file, const struct block *block)
{
    if (strcmp(block->head, "schema") == 0 && !file->schema && !file->database)
        file->schema = block->parts[0];
    else if (strncmp(block->head, "table ", 6) == 0 && !file->database && file->table_count < TABLES_MAX) {
        file->tables[file->table_count] = block->head + 6;
        file->rows[file->table_count++] = block->parts[0];
    } else if (strncmp(block->head, "zone ", 5) == 0)
        zone_block(file, block);
    else
        statement_block(file, block);
}

static void file_is_answered(void **state)
{
    const struct asked_file *const asked = *state;
    const char *const path = asked->path;
    struct sql_file file = {.name = path, .text = file_read(path)};
    struct block block;
    file.rest = file.text;
    memory = asked->memory ? asked->memory : getenv("TESSERA_TEST_MEMORY");
    while (block_next(&file, &block)) {
        if (strncmp(block.head, "needs ", 6) == 0 && access(block.head + 6, R_OK) != 0) {
            free(file.text);
            not_run("%s: a file that it needs is not there", path);
        }
        if (strncmp(block.head, "needs ", 6) != 0)
            block_do(&file, &block);
    }
    tessera_close(file.database);
    if (file.database)
        directory_remove(file.path);
    free(file.text);
    refused_total += file.refusals;
    if (file.failures || !file.statements)
        fail_msg("%s: %u of %u statements failed", path, file.failures, file.statements);
}

static int is_test(const struct dirent *entry)
{
    const char *const end = strrchr(entry->d_name, '.');
    return end && strcmp(end, ".test") == 0;
}

/* The test of a file whose path is set. */
static struct CMUnitTest test_of(struct asked_file *file)
{
    const char *const slash = strrchr(file->path, '/');
    snprintf(file->name, sizeof file->name, "%.48s%s", slash ? slash + 1 : file->path,
             file->memory ? " in " LITTLE : "");
    return (struct CMUnitTest){.name = file->name, .test_func = file_is_answered, .initial_state = file};
}

int main(int count, char **arguments)
{
    static struct asked_file files[2 * FILES_MAX];
    static struct CMUnitTest tests[2 * FILES_MAX];
    struct dirent **entries;
    const int found =
        count > 1 ? count - 1 : scandir(TESSERA_SOURCE "/tests/sql", &entries, is_test, alphasort);
    const bool twice = strcmp(test_device(), "cpu") == 0 && !getenv("TESSERA_TEST_MEMORY");
    if (found <= 0 || found > FILES_MAX)
        return 1;
    for (int f = 0; f < found; f++) {
        if (count > 1) {
            snprintf(files[f].path, PATH_BYTES, "%s", arguments[f + 1]);
        } else {
            snprintf(files[f].path, PATH_BYTES, TESSERA_SOURCE "/tests/sql/%s", entries[f]->d_name);
            free(entries[f]);
        }
        files[found + f] = files[f];
        files[found + f].memory = LITTLE;
        tests[f] = test_of(&files[f]);
        tests[found + f] = test_of(&files[found + f]);
    }
    if (count == 1)
        free(entries);
    const int failures = _cmocka_run_group_tests("statements and answers", tests,
                                                 (size_t)(twice ? 2 * found : found), NULL, NULL);
    print_message("%u statements are refused that should be answered\n", refused_total);
    if (too_large_total)
        print_message("%u statements are too large for a GPU\n", too_large_total);
    if (in_want_total)
        print_message("%u statements need more memory\n", in_want_total);
    if (twice && in_want_total > IN_WANT_MOST) {
        print_error("that is more than %u\n", IN_WANT_MOST);
        return 1;
    }
    return failures;
}
