/* table_loader.c: see table_loader.h. */
#include "loader/table/cluster_options.h"
#include "loader/table/columns_write.h"
#include "loader/table/workload.h"
#include "loader/table/level_options.h"
#include "loader/table/reading_check.h"
#include "loader/table/table_replace.h"
#include "loader/table/table_tuples.h"

#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"
#include "storage/codec/codec_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct load {
    struct memory_account memory;
    const struct schema_script *schema;
    const struct load_options *options;
    struct database *existing; /* the state that is changed; NULL: there is none */
    struct database_writer *writer;
    struct table_keys keys[SCHEMA_TABLES_MAX]; /* of the referenced tables */
    bool keyed[SCHEMA_TABLES_MAX];
    struct load_tuples *tuples;
    struct workload workload; /* if options->workload */
    struct rejects rejects;
    uint64_t appended; /* rows of the table of options->replacement */
    struct load_report *report;
    struct progress *progress;
    struct error *error;
};

static const struct load_input *input_of(const struct load *load, const char *table)
{
    for (uint32_t i = 0; i < load->options->input_count; i++)
        if (word_compare(load->options->inputs[i].table, table) == 0)
            return &load->options->inputs[i];
    return NULL;
}

/* ---- Keys ---- */

static void place_of(const void *context, uint64_t row, char text[KEY_PLACE_BYTES])
{
    const struct columns_write *all = context;
    const uint64_t old_rows = all->old ? all->old->rows : 0;
    if (row < old_rows)
        snprintf(text, KEY_PLACE_BYTES, "row %llu of the table as it was", (unsigned long long)row + 1);
    else
        parsed_row_place(all->parsed, row - old_rows, text);
}

/* Gathers the whole key column for table_keys_make. A duplicate key ends the load. */
static enum status take_keys(struct load *load, const struct columns_write *all, uint32_t number)
{
    const struct schema_table *table = all->parsed->table;
    uint32_t c = 0;
    while (!table->columns[c].primary_key)
        c++;
    const bool strings = all->parsed->words[c] != NULL;
    int64_t *values;
    uint64_t row = 0;
    RETURN_IF_ERROR(memory_take(&values, (all->parsed->rows + 1) * sizeof *values, "keys", load->error));
    enum status status = column_gather(all->parsed, c, strings ? &all->words[c] : NULL, values, NULL, &row,
                                       load->error); /* a key is never NULL */
    const struct key_owner owner = {.table = table->name,
                                    .column = table->columns[c].name,
                                    .positions = table->columns[c].references_table[0] != '\0',
                                    .place = place_of,
                                    .context = all};
    status = AND_THEN(status,
                      table_keys_make(table, values, row, strings ? &all->words[c].dictionary : NULL, &owner,
                                      all->old ? load->existing : NULL, &load->keys[number], load->error));
    if (status == STATUS_OK && table_writer_positions(all->writer))
        status = table_keys_place(&load->keys[number], table_writer_positions(all->writer), load->error);
    load->keyed[number] = true;
    free(values);
    return status;
}

/* Makes the table's keys of several columns from its old and new rows. */
static enum status make_tuples(struct load *load, struct columns_write *all, uint32_t number)
{
    if (!load->tuples)
        RETURN_IF_ERROR(load_tuples_create(load->schema, load->keys, &load->tuples, load->error));
    const struct key_owner owner = {.table = all->parsed->table->name, .place = place_of, .context = all};
    return load_tuples_make(load->tuples, number, all->parsed, &owner, all->old ? load->existing : NULL,
                            load->options->threads, load->error);
}

static enum status find_references(struct load *load, struct parsed_table *parsed)
{
    const struct tuple_search search = {.existing = load->existing,
                                        .threads = load->options->threads,
                                        .dangling_null = load->options->dangling_null};
    return load_tuples_find(load->tuples, parsed, &search, load->error);
}

/* ---- Tables ---- */

static enum status choose_codecs(const struct load *load, const struct schema_table *table,
                                 struct table_writer *writer)
{
    for (uint32_t c = 0; load->options->codecs && c < table->column_count; c++) {
        struct codec_choice choice;
        enum codec_spec_part said;
        RETURN_IF_ERROR(
            codec_spec_find(load->options->codecs, table->columns[c].name, &choice, &said, load->error));
        if (said != CODEC_SPEC_NOTHING)
            RETURN_IF_ERROR(table_writer_codec(writer, c, choice.name, load->error));
    }
    return STATUS_OK;
}

/* Whether the column is in the list "a,b" of --index. */
static bool is_listed(const char *list, const char *column)
{
    for (size_t length; list && *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        if (length == strlen(column) && word_compare_bytes(list, column, length) == 0)
            return true;
    }
    return false;
}

static enum status choose_indexes(const struct load *load, const struct schema_table *table,
                                  struct table_writer *writer)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (is_listed(load->options->indexes, table->columns[c].name))
            RETURN_IF_ERROR(table_writer_index(
                writer, c, (struct index_wish){.format = INDEX_WAH64, .bins = INDEX_AUTO}, load->error));
    return STATUS_OK;
}

/* Refuses a name in --index that is no column of a table that is loaded. */
static enum status check_indexes(const struct load *load)
{
    const char *list = load->options->indexes;
    for (size_t length; list && *list; list += length + (list[length] == ',')) {
        char name[NAME_BYTES] = "";
        bool found = false;
        length = strcspn(list, ",");
        memcpy(name, list, length < sizeof name ? length : sizeof name - 1);
        for (uint32_t i = 0; i < load->options->input_count; i++) {
            const struct schema_table *table = schema_table(load->schema, load->options->inputs[i].table);
            for (uint32_t c = 0; table && c < table->column_count; c++)
                found |= length < sizeof name && word_compare(table->columns[c].name, name) == 0;
        }
        if (!found)
            return error_set(load->error, STATUS_BAD_INPUT,
                             "--index %s: no table that is loaded has that column", name);
    }
    return STATUS_OK;
}

static enum status find_sort_column(const struct load *load, const struct schema_table *table,
                                    uint32_t *column)
{
    *column = UINT32_MAX;
    for (uint32_t c = 0; load->options->sort_by && c < table->column_count; c++)
        if (word_compare(table->columns[c].name, load->options->sort_by) == 0)
            *column = c;
    return *column != UINT32_MAX && schema_references(load->schema, table)
               ? error_set(
                     load->error, STATUS_BAD_INPUT,
                     "--sort-by %s: table %s is referenced, and positions of its rows are what is stored; "
                     "sort a table that is not referenced",
                     load->options->sort_by, table->name)
               : STATUS_OK;
}

/* The buffers that a thread needs to write a column: a segment's values, the values with old rows or without
 * NULLs, and two encoded segments while a chooser tries its candidates. */
#define WRITE_BUFFERS 5u

/* `terms`: the columns by which the table is clustered. Then each thread has a segment in the order of its cells, too; and once
 * there are the values of these columns, and the places of a segment's rows. */
static uint64_t write_bytes(const struct schema_table *table, uint64_t rows, uint32_t terms, uint64_t *once)
{
    const uint64_t most = rows < SEGMENT_ROWS ? rows : SEGMENT_ROWS;
    uint64_t widest = 4;
    for (uint32_t c = 0; c < table->column_count; c++)
        widest = column_schema_value_bytes(&table->columns[c]) > widest
                     ? column_schema_value_bytes(&table->columns[c])
                     : widest;
    *once = terms ? (terms * widest + sizeof(uint32_t)) * most : 0;
    return (WRITE_BUFFERS + (terms > 0)) * widest * most;
}

/* Begins the progress of a table's columns. Sorting a dictionary counts as much as its column's rows. */
static void begin_progress(const struct load *load, struct columns_write *all)
{
    const struct schema_table *const table = all->parsed->table;
    uint64_t dictionaries = 0;
    for (uint32_t c = 0; c < table->column_count; c++)
        dictionaries += all->parsed->words[c] != NULL;
    all->progress.progress = load->progress;
    all->progress.rows = all->old_rows + all->parsed->rows;
    all->progress.values = schema_columns(table) * all->progress.rows + dictionaries * all->parsed->rows;
    column_progress_begin(&all->progress, "encoding", table->name);
}

/* Chooses as many threads as the budget has memory for, in addition to the rows in memory. If it has none for
 * one thread, the rows move to the spool. */
static enum status choose_threads(struct load *load, struct columns_write *all, struct parsed_table *parsed,
                                  unsigned *threads)
{
    uint64_t once;
    const uint64_t budget = load->memory.limit,
                   each = write_bytes(parsed->table, all->old_rows + parsed->rows,
                                      table_writer_clustering(all->writer)->count, &once) +
                          parsed_read_bytes(parsed);
    if (parsed->held.bytes + once + each > budget)
        RETURN_IF_ERROR(parsed_table_spill(parsed, load->error));
    if (once + each > budget) {
        const bool of_file = load->options->transient; /* FROM 'file': the user knows no table */
        return error_set(
            load->error, STATUS_MACHINE,
            "writing a column of %s%s takes %llu MB of memory and --memory allows %llu; give more",
            of_file ? "" : "table ", of_file ? load->options->inputs[0].paths[0] : parsed->table->name,
            (unsigned long long)((once + each) >> 20) + 1, (unsigned long long)(budget >> 20));
    }
    const uint64_t most = each ? (budget - parsed->held.bytes - once) / each : load->options->threads;
    *threads = most < load->options->threads ? (unsigned)most : load->options->threads;
    return STATUS_OK;
}

/* Finds the column that is stored as INT because all of its values fit. */
static enum status find_narrow(const struct load *load, const struct parsed_table *parsed, uint32_t *narrow)
{
    const struct schema_table *const table = parsed->table;
    *narrow = UINT32_MAX;
    for (uint32_t c = 0; load->options->narrow && c < table->column_count; c++) {
        bool fits = false;
        if (word_compare(table->columns[c].name, load->options->narrow) == 0)
            RETURN_IF_ERROR(column_narrow(parsed, c, &fits, load->error));
        *narrow = fits ? c : *narrow;
    }
    return STATUS_OK;
}

/* Begins a new table of `rows` rows. */
static enum status begin_table(const struct load *load, const struct schema_table *table, uint64_t rows,
                               uint32_t narrow, struct table_writer **writer)
{
    struct column_schema *columns;
    const uint32_t count = schema_columns(table);
    RETURN_IF_ERROR(memory_zeros(&columns, count * sizeof *columns, "a schema", load->error));
    memcpy(columns, table->columns, count * sizeof *columns);
    if (narrow != UINT32_MAX)
        columns[narrow].type = TYPE_INT32;
    const enum status status =
        database_writer_table(load->writer, table->name, columns, count, rows, writer, load->error);
    for (uint32_t i = 0; status == STATUS_OK && i < table->tuple_count; i++)
        if (table->tuples[i].primary)
            table_writer_key(*writer, &table->tuples[i].key);
    free(columns);
    return status;
}

/* An appended table is clustered as it was, if nobody says otherwise. Rows whose positions others store stay where they
 * came. */
static enum status cluster_table(const struct load *load, const struct schema_table *table,
                                 struct table_writer *writer, bool dimension)
{
    struct clustering wish;
    bool none;
    if (dimension || schema_references(load->schema, table))
        return table_writer_cluster(writer, NULL, load->error);
    if (!cluster_options_find(load->options, table, &wish, &none))
        return STATUS_OK;
    if (load->options->workload) /* auto */
        return table_writer_cluster_for(writer, &load->workload.conditions, load->error);
    return table_writer_cluster(writer, none ? NULL : &wish, load->error);
}

/* Sets the codecs and the order of the rows, before any row is written. `dimension`: tables reference it, now or as it
 * was, when the script may not have named them. */
static enum status prepare_table(const struct load *load, const struct schema_table *table,
                                 struct table_writer *writer, bool dimension)
{
    uint32_t sort_column;
    struct levels_wish levels;
    if (load->options->part && strcmp(table->name, load->options->part_table) == 0)
        table_writer_part(writer, load->options->part);
    RETURN_IF_ERROR(find_sort_column(load, table, &sort_column));
    RETURN_IF_ERROR(choose_codecs(load, table, writer));
    RETURN_IF_ERROR(choose_indexes(load, table, writer));
    if (sort_column != UINT32_MAX)
        RETURN_IF_ERROR(table_writer_sort_by(writer, sort_column, load->error));
    RETURN_IF_ERROR(cluster_table(load, table, writer, dimension));
    if (load_tuples_self(table)) /* positions are found before any order is */
        return level_options_find(load->options, table, false, &levels)
                   ? error_set(load->error, STATUS_BAD_INPUT,
                               "--levels %s: the table references itself, and stays in its files' order",
                               table->name)
                   : STATUS_OK;
    return level_options_find(load->options, table, dimension, &levels)
               ? table_writer_levels(writer, &levels, load->error)
               : STATUS_OK;
}

static enum status sort_table(const struct load *load, const struct schema_table *table,
                              struct table_writer *writer)
{
    if (!table_writer_sorts(writer))
        return STATUS_OK;
    progress_step(load->progress, "sorting", table->name);
    return table_writer_sort(writer, load->options->threads, load->progress, load->error);
}

static enum status write_table(struct load *load, struct columns_write *all, struct parsed_table *parsed,
                               uint32_t number, bool referenced)
{
    unsigned threads = 1;
    const struct schema_table *table = all->parsed->table;
    RETURN_IF_ERROR(find_narrow(load, parsed, &all->narrow));
    RETURN_IF_ERROR(make_tuples(load, all, number));
    RETURN_IF_ERROR(find_references(load, parsed));
    if (all->old)
        RETURN_IF_ERROR(
            database_writer_append(load->writer, table->name, all->parsed->rows, &all->writer, load->error));
    else
        RETURN_IF_ERROR(begin_table(load, table, parsed->rows, all->narrow, &all->writer));
    RETURN_IF_ERROR(prepare_table(load, table, all->writer, referenced || (all->old && all->old->levels)));
    all->old_rows = table_writer_old_most(all->writer);
    RETURN_IF_ERROR(choose_threads(load, all, parsed, &threads));
    begin_progress(load, all);
    RETURN_IF_ERROR(columns_write_all(all, threads, load->error));
    RETURN_IF_ERROR(sort_table(load, table, all->writer));
    load_tuples_place(load->tuples, number, table_writer_positions(all->writer));
    RETURN_IF_ERROR(
        load_tuples_moved(load->tuples, number, all->old, table_writer_positions(all->writer), load->error));
    if (!schema_key(table))
        return STATUS_OK;
    progress_step(load->progress, "indexing the keys of", table->name);
    RETURN_IF_ERROR(take_keys(load, all, number));
    if (!referenced) {
        table_keys_free(&load->keys[number]);
        load->keyed[number] = false;
    }
    return STATUS_OK;
}

static bool is_referenced(const struct schema_script *schema, const char *name)
{
    for (uint32_t t = 0; t < schema->table_count; t++)
        for (uint32_t c = 0; c < schema->tables[t].column_count; c++)
            if (strcmp(schema->tables[t].columns[c].references_table, name) == 0)
                return true;
    return false;
}

/* Gives the keys in which a column's values are looked up. If their table is not loaded now, they are read
 * from the database. */
static enum status keys_of(struct load *load, const struct column_schema *column,
                           const struct table_keys **keys)
{
    *keys = NULL;
    if (!column->references_table[0])
        return STATUS_OK;
    uint32_t t = 0;
    while (strcmp(load->schema->tables[t].name, column->references_table) != 0)
        t++;
    *keys = &load->keys[t];
    if (load->keyed[t])
        return STATUS_OK;
    if (!load->existing)
        return error_set(load->error, STATUS_BAD_INPUT,
                         "column %s references table %s, which is neither loaded (give %s=FILE) nor in a "
                         "database that exists",
                         column->name, column->references_table, column->references_table);
    load->keyed[t] = true;
    return table_keys_read(load->existing, column->references_table, load->options->threads, &load->keys[t],
                           load->error);
}

/* Writes "INT NOT NULL PRIMARY KEY", "TEXT REFERENCES shops", ... for error sentences. */
static void describe(const struct column_schema *column, char *text, size_t bytes)
{
    char type[64];
    snprintf(text, bytes, "%s%s%s%s%s", column_type_text(column, type), column->nullable ? "" : " NOT NULL",
             column->primary_key ? " PRIMARY KEY" : "", column->references_table[0] ? " REFERENCES " : "",
             column->references_table);
}

/* Finds the stored table to append to. Its columns must be those of the script. */
static enum status find_old(struct load *load, const struct schema_table *table, const struct table **old)
{
    RETURN_IF_ERROR(database_table(load->existing, table->name, old, load->error));
    const uint32_t columns = (*old)->column_count - (table_live(*old) != NULL);
    for (uint32_t c = 0; c < schema_columns(table) || c < columns; c++) {
        const struct column_schema *script = c < schema_columns(table) ? &table->columns[c] : NULL,
                                   *stored = c < columns ? &(*old)->columns[c].schema : NULL;
        char here[256] = "nothing", there[256] = "nothing";
        if (script)
            describe(script, here, sizeof here);
        if (stored)
            describe(stored, there, sizeof there);
        if (!script || !stored || strcmp(script->name, stored->name) != 0 || strcmp(here, there) != 0)
            return error_set(load->error, STATUS_BAD_INPUT,
                             "table %s, column %u: the schema script has %s %s, the database %s %s; rows can "
                             "only be appended to the same columns",
                             table->name, c + 1, script ? script->name : "", here, stored ? stored->name : "",
                             there);
    }
    return STATUS_OK;
}

/* Loads a table whose rows the caller makes by columns, segment after segment. The table is never in memory
 * as a whole. */
static enum status load_made(struct load *load, const struct schema_table *table,
                             const struct row_maker *maker, const struct table_keys *const *keys)
{
    struct made_table made = {
        .table = table, .maker = maker, .options = load->options, .keys = keys, .progress = load->progress};
    RETURN_IF_ERROR(begin_table(load, table, maker->rows, UINT32_MAX, &made.writer));
    RETURN_IF_ERROR(prepare_table(load, table, made.writer, false));
    RETURN_IF_ERROR(made_columns_write(&made, load->error));
    load->report->rows += maker->rows;
    return sort_table(load, table, made.writer);
}

static enum status load_table(struct load *load, uint32_t number)
{
    const struct schema_table *table = &load->schema->tables[number];
    const struct load_input *input = input_of(load, table->name);
    const struct table_keys *keys[SCHEMA_COLUMNS_MAX];
    struct parsed_table parsed = {0};
    struct columns_write all = {.parsed = &parsed};
    if (!input)
        return STATUS_OK;
    if (load->options->append)
        RETURN_IF_ERROR(find_old(load, table, &all.old));
    for (uint32_t c = 0; c < table->column_count; c++)
        RETURN_IF_ERROR(keys_of(load, &table->columns[c], &keys[c]));
    if (input->maker && input->maker->columns)
        return load_made(load, table, input->maker, keys);
    enum status status = table_rows_parse(table, input, load->options, keys, &load->rejects, &parsed,
                                          load->progress, load->error);
    all.words = calloc(table->column_count, sizeof *all.words);
    if (status == STATUS_OK && !all.words)
        status = error_out_of_memory(load->error, table->column_count * sizeof *all.words, "dictionaries");
    status =
        AND_THEN(status, write_table(load, &all, &parsed, number, is_referenced(load->schema, table->name)));
    load->report->rows += parsed.rows;
    if (load->options->replacement && strcmp(load->options->replacement->table, table->name) == 0)
        load->appended = parsed.rows;
    for (uint32_t c = 0; all.words && c < table->column_count; c++)
        word_codes_free(&all.words[c]);
    free(all.words);
    table_rows_free(&parsed);
    return status;
}

/* ---- The whole load ---- */

static enum status check_inputs(const struct load *load)
{
    const struct load_options *options = load->options;
    bool sorts = !options->sort_by;
    if (options->append && options->replace)
        return error_set(load->error, STATUS_BAD_INPUT,
                         "--append adds rows to tables, --force replaces them; give one of the two");
    for (uint32_t i = 0; i < options->input_count; i++) {
        const struct schema_table *table = schema_table(load->schema, options->inputs[i].table);
        if (!table)
            return error_set(load->error, STATUS_BAD_INPUT, "the schema has no table '%s'",
                             options->inputs[i].table);
        for (uint32_t before = 0; before < i; before++)
            if (word_compare(options->inputs[before].table, options->inputs[i].table) == 0)
                return error_set(load->error, STATUS_BAD_INPUT,
                                 "table %s is given twice; put its files together, as %s=A.csv,B.csv",
                                 table->name, table->name);
        for (uint32_t c = 0; c < table->column_count && !sorts; c++)
            sorts = word_compare(table->columns[c].name, options->sort_by) == 0;
    }
    RETURN_IF_ERROR(check_indexes(load));
    RETURN_IF_ERROR(readings_check(load->schema, options, load->error));
    RETURN_IF_ERROR(level_options_check(load->schema, options, load->error));
    RETURN_IF_ERROR(cluster_options_check(load->schema, options, load->error));
    return sorts ? STATUS_OK
                 : error_set(load->error, STATUS_BAD_INPUT,
                             "--sort-by %s: no table that is loaded has that column", options->sort_by);
}

/* What is not there is not appended to; no directory and no lock is made for it. */
static enum status check_appended(const struct load *load)
{
    struct database *database;
    if (!load->options->append)
        return STATUS_OK;
    RETURN_IF_ERROR(database_open(load->options->directory, &database, load->error));
    database_close(database);
    return STATUS_OK;
}

/* A table is replaced only if that was asked for. */
static enum status check_replaced(const struct load *load)
{
    const struct load_options *options = load->options;
    for (uint32_t i = 0; i < options->input_count && !options->replace && !options->append; i++) {
        const char *const name = schema_table(load->schema, options->inputs[i].table)->name;
        if (database_writer_old(load->writer, name))
            return error_set(
                load->error, STATUS_BAD_INPUT,
                "%s has a table %s already; give --append to add rows to it, or --force to replace it",
                options->directory, name);
    }
    return STATUS_OK;
}

/* Opens the state that is changed, which nobody else can change now. Only what the load needs of it is read, so files of
 * tables that are replaced need not be readable. */
static enum status open_existing(struct load *load)
{
    const struct load_options *options = load->options;
    struct error why = {0};
    if (!database_writer_existed(load->writer) && !options->append)
        return STATUS_OK;
    const enum status status = database_open(options->directory, &load->existing, &why);
    return status == STATUS_OK
               ? STATUS_OK
               : error_set(load->error, status, "%s cannot be read, and nothing was loaded: %s",
                           options->directory, why.text);
}

/* Returns 0 if all rejected rows were written, else why not: errno of the first write that failed. */
static int close_rejects(struct load *load)
{
    struct rejects *const rejects = &load->rejects;
    if (rejects->file && fclose(rejects->file) != 0 && !rejects->failed)
        rejects->failed = errno;
    rejects->file = NULL;
    return rejects->failed;
}

/* Deletes what is replaced, if anything is, and tests what took its place. */
static enum status begin_replacement(struct load *load)
{
    return load->options->replacement
               ? table_replace_begin(load->options->replacement, load->writer, &load->existing,
                                     &load->report->replaced, load->error)
               : STATUS_OK;
}

static enum status check_replacement(const struct load *load)
{
    return load->options->replacement
               ? table_replace_check(load->options->replacement, load->writer, load->appended,
                                     load->options->sort_by != NULL, load->error)
               : STATUS_OK;
}

static enum status load_all(struct load *load)
{
    RETURN_IF_ERROR(check_inputs(load));
    if (load->options->workload)
        RETURN_IF_ERROR(workload_read(load->options->workload, load->schema, &load->workload, load->error));
    RETURN_IF_ERROR(check_appended(load));
    RETURN_IF_ERROR(database_writer_open(load->options->directory, &load->writer, load->error));
    enum status status = check_replaced(load);
    status = AND_THEN(status, open_existing(load));
    status = AND_THEN(status, begin_replacement(load));
    for (uint32_t t = 0; t < load->schema->table_count && status == STATUS_OK; t++)
        status = load_table(load, t);
    progress_step(load->progress, "storing", load->options->directory);
    status = AND_THEN(status, cancel_check(load->error));
    const int unwritten = close_rejects(load);
    if (unwritten && status == STATUS_OK) /* after the commit it would be too late to fail */
        status = error_set_errno(load->error, unwritten, "%s: the rejected rows cannot be written",
                                 load->options->reject);
    database_close(load->existing); /* so that the commit can remove its files */
    load->existing = NULL;
    status = AND_THEN(status, check_replacement(load));
    if (status == STATUS_OK && load->options->before_commit)
        status = load->options->before_commit(load->options->before_commit_context, load->error);
    if (status == STATUS_OK)
        status = database_writer_commit(load->writer, load->error);
    else
        database_writer_abort(load->writer);
    progress_report(load->progress, "storing", "", 1, 1); /* removes the progress bar */
    return status;
}

/* Without a wish the database's folder: /tmp may be in memory, and a load fails in any case if there is no room for the
 * database. */
static const char *spill_folder(const struct load_options *options)
{
    return options->spill ? options->spill : getenv("TMPDIR") ? execution_spill() : options->directory;
}

enum status tables_load(const struct schema_script *schema, const struct load_options *asked,
                        struct load_report *report, struct progress *progress, struct error *error)
{
    struct load_options options = *asked;
    options.threads = options.threads ? options.threads : parallel_threads_available();
    struct load *load;
    RETURN_IF_ERROR(memory_zeros(&load, sizeof *load, "a load", error));
    load->memory.limit = options.memory ? options.memory : memory_available("") / 2;
    struct execution execution = {.outer = execution_current(),
                                  .memory = &load->memory,
                                  .spill = spill_folder(&options),
                                  .transient = options.transient};
    execution_enter(&execution);
    *report = (struct load_report){0};
    load->schema = schema;
    load->options = &options;
    load->report = report;
    load->progress = progress;
    load->error = error;
    load->rejects.most = options.max_errors;
    enum status status = STATUS_OK;
    if (options.reject && !(load->rejects.file = file_stream(options.reject, "wb")))
        status = error_set_errno(error, errno, "%s: cannot be written", options.reject);
    status = AND_THEN(status, load_all(load));
    report->rejected = load->rejects.count;
    report->spilled = load->memory.spilled;
    memcpy(report->first_rejected, load->rejects.first, sizeof report->first_rejected);
    close_rejects(load);
    for (uint32_t i = 0; i < options.input_count; i++)
        if (options.inputs[i].stream && options.inputs[i].stream->release)
            options.inputs[i].stream->release(options.inputs[i].stream); /* the load ended before it */
    for (uint32_t t = 0; t < SCHEMA_TABLES_MAX; t++)
        table_keys_free(&load->keys[t]);
    load_tuples_free(load->tuples);
    workload_free(&load->workload);
    database_close(load->existing);
    execution_leave(&execution);
    free(load);
    return status;
}
