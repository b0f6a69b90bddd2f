/* command_load.c: `tessera load`, which loads a user's star schema from delimited text, JSON, ORC and Parquet files. */
#include "loader/commands.h"
#include "loader/infer/infer.h"
#include "loader/input_files.h"
#include "loader/columnar/columnar_file.h"
#include "loader/table/table_loader.h"
#include "loader/text/reading_options.h"
#include "loader/text/text_encoding.h"
#include "storage/base/clock.h"
#include "storage/base/bytes_parse.h"
#include "storage/base/command/command_line.h"
#include "storage/base/parallel.h"
#include "storage/base/words/word.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUTS_MAX SCHEMA_TABLES_MAX

/* An option for the files of one table, TABLE=VALUE. */
struct of_table {
    const char *option, *text;
    size_t place; /* of what it sets in struct load_input */
};
#define OF_TABLES_MAX (2 * INPUTS_MAX)

#define READINGS_MAX 256u /* options that say how columns are written */

struct arguments {
    struct load_options load;
    const char *schema, *device, *unnamed;
    const char *replaced; /* the condition of rows that are replaced */
    struct load_replacement replacement;
    bool infer;
    struct load_input inputs[INPUTS_MAX];
    struct input_files files; /* of all inputs */
    char *copies[INPUTS_MAX]; /* the arguments, cut into paths */
    const char *levels[INPUTS_MAX];
    struct reading_option readings[READINGS_MAX];
    struct of_table of_tables[OF_TABLES_MAX];
    uint32_t of_table_count;
};

static enum status read_memory(void *arguments, const char *text, struct error *error)
{
    struct arguments *const all = arguments;
    RETURN_IF_ERROR(bytes_parse(text, "--memory", &all->load.memory, error));
    if (all->load.memory == 0)
        return error_set(error, STATUS_BAD_INPUT, "--memory 0: a load needs memory; give 512M or 4G, say");
    return STATUS_OK;
}

static enum status read_delimiter(void *arguments, const char *text, struct error *error)
{
    struct text_options *const options = &((struct arguments *)arguments)->load.text;
    options->delimiter = strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0 ? '\t' : *text;
    if ((strlen(text) != 1 && options->delimiter != '\t') || strchr("\"\n\r", options->delimiter))
        return error_set(error, STATUS_BAD_INPUT, "'%s' is no delimiter; give one character, or \\t", text);
    return STATUS_OK;
}

static enum status keep_reading(struct arguments *arguments, enum reading_field field, const char *text,
                                struct error *error)
{
    struct text_options *const options = &arguments->load.text;
    if (options->reading_count == READINGS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "more than %u options say how columns are written",
                         READINGS_MAX);
    options->readings = arguments->readings;
    return reading_option_read(field, text, &arguments->readings[options->reading_count++], error);
}

#define READING_FUNCTION(name, field)                                               \
    static enum status name(void *arguments, const char *text, struct error *error) \
    {                                                                               \
        return keep_reading(arguments, field, text, error);                         \
    }
READING_FUNCTION(read_thousands, READING_THOUSANDS)
READING_FUNCTION(read_decimal_mark, READING_DECIMAL_MARK)
READING_FUNCTION(read_currency, READING_CURRENCY)
READING_FUNCTION(read_percent, READING_PERCENT)
READING_FUNCTION(read_date_format, READING_DATE_FORMAT)
READING_FUNCTION(read_timestamp_format, READING_TIMESTAMP_FORMAT)

/* Keeps a --levels for the loader, which knows the tables. */
static enum status read_levels(void *context, const char *text, struct error *error)
{
    struct arguments *const arguments = context;
    struct load_options *const load = &arguments->load;
    if (load->level_count == INPUTS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "more than %u tables have --levels", INPUTS_MAX);
    arguments->levels[load->level_count++] = text;
    load->levels = arguments->levels;
    return STATUS_OK;
}

/* The name of a folder that is given without TABLE=, which its table gets; "": the word names no folder. */
static const char *folder_name(char *word)
{
    struct stat facts;
    if (stat(word, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return "";
    for (size_t length = strlen(word); length > 1 && word[length - 1] == '/'; length--)
        word[length - 1] = '\0';
    const char *const slash = strrchr(word, '/');
    return slash && slash[1] ? slash + 1 : word;
}

/* Reads TABLE=FILE,FILE,... */
static enum status read_input(void *context, const char *text, struct error *error)
{
    struct arguments *const arguments = context;
    struct load_options *const load = &arguments->load;
    struct input_files *const files = &arguments->files;
    if (load->input_count == INPUTS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "more than %u tables", INPUTS_MAX);
    char *const copy = strdup(text), *const equals = copy ? strchr(copy, '=') : NULL;
    arguments->copies[load->input_count] = copy;
    if (!copy)
        return error_out_of_memory(error, strlen(text), "the options");
    if (equals == copy || (equals && !equals[1]))
        return error_set(error, STATUS_BAD_INPUT, "'%s' is not TABLE=FILE[,FILE...]", text);
    if (equals)
        *equals = '\0';
    else
        arguments->unnamed = text; /* FILE alone, which only --infer takes */
    struct load_input *const input = &arguments->inputs[load->input_count++];
    *input =
        (struct load_input){.table = equals ? copy : folder_name(copy), .paths = &files->paths[files->count]};
    const uint32_t first = files->count;
    for (char *path = strtok(equals ? equals + 1 : copy, ","); path; path = strtok(NULL, ","))
        RETURN_IF_ERROR(input_files_add(files, path, error));
    input->path_count = files->count - first;
    return input->path_count ? STATUS_OK
                             : error_set(error, STATUS_BAD_INPUT, "'%s' is not TABLE=FILE[,FILE...]", text);
}

/* Keeps a TABLE=VALUE for the table's input. */
static enum status keep_of_table(struct arguments *arguments, const char *option, const char *text,
                                 size_t place, const char *form, struct error *error)
{
    const char *const equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return error_set(error, STATUS_BAD_INPUT, "%s '%s' is not %s", option, text, form);
    if (arguments->of_table_count == OF_TABLES_MAX)
        return error_set(error, STATUS_BAD_INPUT, "more than %u options %s are given", OF_TABLES_MAX, option);
    arguments->of_tables[arguments->of_table_count++] = (struct of_table){option, text, place};
    return STATUS_OK;
}

static enum status read_columns(void *context, const char *text, struct error *error)
{
    return keep_of_table(context, "--columns", text, offsetof(struct load_input, columns),
                         "TABLE=COLUMN,COLUMN...", error);
}

static enum status read_encoding(void *context, const char *text, struct error *error)
{
    struct arguments *const arguments = context;
    const char *const equals = strchr(text, '=');
    struct text_encoding encoding;
    bool found;
    RETURN_IF_ERROR(text_encoding_find(equals ? equals + 1 : text, &encoding, &found, error));
    if (equals)
        return keep_of_table(arguments, "--encoding", text, offsetof(struct load_input, encoding),
                             "[TABLE=]NAME", error);
    arguments->load.text.encoding = text;
    return STATUS_OK;
}

/* An option of a table is for its text files: columnar ones say themselves what their columns are, and have UTF-8. */
static enum status check_text(const struct of_table *own, const struct load_input *input, struct error *error)
{
    const struct columnar_format *format;
    RETURN_IF_ERROR(columnar_format_find(input->paths[0], &format, error));
    return format ? error_set(error, STATUS_BAD_INPUT, "%s %s: %s is read as %s, which needs no such option",
                              own->option, own->text, input->paths[0], format->name)
                  : STATUS_OK;
}

/* Gives the inputs their options. */
static enum status place_of_tables(struct arguments *arguments, struct error *error)
{
    for (uint32_t i = 0; i < arguments->of_table_count; i++) {
        const struct of_table *const own = &arguments->of_tables[i];
        const char *const text = own->text, *const equals = strchr(text, '=');
        const size_t length = (size_t)(equals - text);
        struct load_input *found = NULL;
        for (uint32_t t = 0; t < arguments->load.input_count && !found; t++)
            if (strlen(arguments->inputs[t].table) == length &&
                word_compare_bytes(arguments->inputs[t].table, text, length) == 0)
                found = &arguments->inputs[t];
        if (!found)
            return error_set(error, STATUS_BAD_INPUT, "%s %s: no files of table %.*s are loaded", own->option,
                             text, (int)length, text);
        RETURN_IF_ERROR(check_text(own, found, error));
        *(const char **)((char *)found + own->place) = equals + 1;
    }
    return STATUS_OK;
}

static enum status check_complete(void *context, const char *unused, struct error *error)
{
    struct arguments *const arguments = context;
    (void)unused;
    const struct text_reading all = reading_of(&arguments->load.text, "", "");
    RETURN_IF_ERROR(reading_check(&all, error));
    RETURN_IF_ERROR(place_of_tables(arguments, error));
    if (arguments->replaced && !arguments->load.append)
        return error_set(error, STATUS_BAD_INPUT,
                         "--replace-where %s: give --append, too; --force replaces whole tables",
                         arguments->replaced);
    if (arguments->infer && arguments->load.input_count)
        return STATUS_OK;
    if (arguments->unnamed)
        return error_set(error, STATUS_BAD_INPUT, "'%s' is not TABLE=FILE[,FILE...]", arguments->unnamed);
    if (arguments->load.directory && (arguments->schema || arguments->load.append) &&
        arguments->load.input_count)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     arguments->load.append ? "give --db DIR, and TABLE=FILE for each table that gets rows"
                                            : "give --db DIR, --schema FILE, and TABLE=FILE for each table");
}

static const struct command_option option_list[] = {
    {"db", 'd', "DIR", "The database, which is made if it does not exist",
     TO_TEXT(struct arguments, load.directory)},
    {"schema", 's', "FILE",
     "CREATE TABLE statements with PRIMARY KEY and REFERENCES. --append needs none: the database knows its "
     "tables, but not their CHECK and UNIQUE",
     TO_TEXT(struct arguments, schema)},
    {"infer", 'I', NULL,
     "Loads nothing, but reads the files and prints a schema for them, to be corrected: types, keys, "
     "references, each with what it was seen by. Files and folders may be given without TABLE=",
     TO_FLAG(struct arguments, infer)},
    {"delimiter", 'D', "CHARACTER",
     "Between fields: ',' , ';', '|', or \\t; by default by the file's name (.csv, .tsv, .tbl), else by its "
     "first line",
     BY_FUNCTION(read_delimiter)},
    {"header", 'H', "auto|yes|no",
     "Whether files begin with the columns' names, in any order and among others; auto (the default): if the "
     "first row has them",
     TO_WORD(struct arguments, load.text.header, "auto|yes|no")},
    {"columns", 'C', "TABLE=COLUMN,COLUMN...",
     "What the fields of this table's text files are, whatever a header says: names of columns, and any "
     "other word for a field that is skipped. Without it, a header's fields that are no columns are skipped",
     BY_FUNCTION(read_columns)},
    {"encoding", 'E', "[TABLE=]NAME",
     "What text files are written in, if they are not UTF-8: latin1, windows-1252, utf-16, shift-jis or what "
     "else `iconv -l` lists. A byte order mark tells it without this",
     BY_FUNCTION(read_encoding)},
    {"null", 'n', "TEXT", "What stands for NULL where it is not quoted; by default nothing, as in a,,b",
     TO_TEXT(struct arguments, load.text.null_text)},
    {"round", 'R', NULL, "Rounds numbers with more decimals than their column; without it they are refused",
     TO_FLAG(struct arguments, load.text.reading.round)},
    {"nanoseconds", 'N', "refuse|cut",
     "What happens to times with digits after microseconds; refuse is the default",
     TO_WORD(struct arguments, load.text.reading.cut_nanoseconds, "refuse|cut")},
    {"thousands", 'T', "[COLUMN=]CHARACTER",
     "Stands between thousands in the numbers of this column (also TABLE.COLUMN=), or of all: , . ' _ or a "
     "blank; by default none does",
     BY_FUNCTION(read_thousands)},
    {"decimal-mark", 'P', "[COLUMN=]CHARACTER",
     "Stands before decimals; by default a point, or a comma with --thousands .",
     BY_FUNCTION(read_decimal_mark)},
    {"currency", 0, "[COLUMN=]SIGN",
     "Sign of a currency that may stand before or behind numbers: $, EUR, kr. Another sign is an error",
     BY_FUNCTION(read_currency)},
    {"percent", 0, "[COLUMN=]points|fraction",
     "Numbers may end with %: 12.5 % is 12.5 (points), or 0.125 (fraction); without the sign a number is "
     "itself",
     BY_FUNCTION(read_percent)},
    {"date-format", 0, "[COLUMN=]FORMAT",
     "The form of dates, in strptime's letters: %d/%m/%Y, %d.%m.%y, %b %d %Y; by default %Y-%m-%d",
     BY_FUNCTION(read_date_format)},
    {"timestamp-format", 0, "[COLUMN=]FORMAT",
     "The form of timestamps: '%d.%m.%Y %H:%M', '%d/%b/%Y:%T %z'; by default %Y-%m-%d %H:%M:%S and shorter "
     "or finer ones",
     BY_FUNCTION(read_timestamp_format)},
    {"codec", 'c', "NAME|COLUMN=CODEC,...", "How columns are compressed; auto by default",
     TO_TEXT(struct arguments, load.codecs)},
    {"dangling", 'g', "error|null", "What a foreign key becomes that finds no row; error is the default",
     TO_WORD(struct arguments, load.dangling_null, "error|null")},
    {"sort-by", 'b', "COLUMN", "Stores the fact table in the order of that column, for tile skipping",
     TO_TEXT(struct arguments, load.sort_by)},
    {"cluster-by", 0, CLUSTER_BY_VALUES,
     "Stores rows of tables that no other references next to those that are alike: in the first level, or N "
     "levels, of what a foreign key references, or in N leading bits of other columns (docs/clustering.md). "
     "auto chooses levels of all foreign keys. An append goes on as the table is, unless it says none or "
     "other columns",
     TO_TEXT(struct arguments, load.cluster_by)},
    {"workload", 0, "FILE", WORKLOAD_HELP, TO_TEXT(struct arguments, load.workload)},
    {"dimension-order", 'O', DIMENSION_ORDERS,
     "How rows of tables that others reference are stored: in the order of levels that are found in them "
     "(docs/levels.md), or as they come",
     TO_WORD(struct arguments, load.dimension_order, DIMENSION_ORDERS)},
    {"levels", 'l', "TABLE=COLUMN,COLUMN...",
     "The levels of this table, outermost first: customer=region,nation,city; or TABLE=none. Once for each "
     "table",
     BY_FUNCTION(read_levels)},
    {"index", 'i', "COLUMN[,COLUMN...]",
     "Gives these columns bitmap indexes, as `tessera index create` does without options. Indexes that "
     "tables have are built again without it",
     TO_TEXT(struct arguments, load.indexes)},
    {"max-errors", 'm', "N", "Leaves out up to N rows that are wrong; 0 by default",
     TO_NUMBER(struct arguments, load.max_errors, 0, INT64_MAX)},
    {"reject", 'r', "FILE",
     "Where rows that are left out are written, as CSV: file, line, reason, and the row as it came",
     TO_TEXT(struct arguments, load.reject)},
    {"device", 'x', "auto|cpu|cuda[:N]",
     "What decompresses ORC files in zlib and Parquet files in gzip: a GPU, or all threads; auto (the "
     "default): a GPU, if there is one, for 64 MB of them or more and at most 8 threads, as more are faster",
     TO_TEXT(struct arguments, device)},
    {"append", 'a', NULL,
     "Adds the rows to tables that exist, facts and dimensions; together with --sort-by all rows are sorted",
     TO_FLAG(struct arguments, load.append)},
    {"replace-where", 'w', "CONDITION",
     "With --append: rows of the first table for which the condition is true are deleted, in the same "
     "commit. "
     "The new rows of that table must fulfil it",
     TO_TEXT(struct arguments, replaced)},
    {"force", 'f', NULL, "Replaces tables that exist", TO_FLAG(struct arguments, load.replace)},
    {"threads", 't', "N", "Threads; by default all processors",
     TO_NUMBER(struct arguments, load.threads, 0, PARALLEL_THREADS_MAX)},
    {"memory", 'M', "SIZE",
     "Memory for rows and for columns that are encoded: 512M, 4G; by default half of what is available. Rows "
     "beyond it are kept in a file meanwhile (--spill)",
     BY_FUNCTION(read_memory)},
    {"spill", 0, "DIR",
     "Where rows are kept meanwhile that are sorted, or more than --memory, in files without names; by "
     "default $TMPDIR, or else the database's directory",
     TO_TEXT(struct arguments, load.spill)},
    {0}};

static const struct command_line line = {
    .options = option_list,
    .word = read_input,
    .finish = check_complete,
    .words_help = "TABLE=FILE[,FILE...]...",
    .help =
        "Loads a star schema from CSV (RFC 4180), TSV, '|'-delimited and JSON files, plain or compressed by "
        "gzip, zstd, xz or bzip2, and from ORC and Parquet files, whose columns match by name; - is "
        "standard input, and a folder is all files in it. "
        "Either everything is loaded, or the database stays as it was.\vdocs/loading.md says what schema "
        "scripts and files may hold.\n\n"
        "Examples:\n"
        "  tessera load --db shop.db --schema star.sql sales=sales.csv shops=shops.csv.gz\n"
        "  tessera load --infer sales.csv shops.csv.gz >star.sql\n"
        "  tessera load --db shop.db --schema star.sql --max-errors 100 --reject bad.csv "
        "'sales=sales-*.csv' shops=shops.csv\n"
        "  tessera load --db shop.db --schema star.sql 'sales=sales-*.parquet' shops=shops.orc\n"
        "  zcat export.gz | tessera load --db shop.db --schema star.sql --force sales=-\n"
        "  tessera load --db shop.db --append sales=today.csv shops=new-shops.csv\n"
        "  tessera load --db shop.db --append sales=may.parquet --replace-where \"month = 5\"",
};

/* ---- The device ---- */

static const struct byte_device *offered;

void loader_use_device(const struct byte_device *device)
{
    offered = device;
}

/* Opening a GPU takes as long as a processor takes for these bytes. Up to this many threads (of an H200's host) a load is
 * faster with the GPU, which takes a third of their work; the copies to and fro bound it. */
#define AUTO_BYTES   (64u << 20)
#define AUTO_THREADS 8u

/* The bytes of a file that has streams in zlib, or pages in gzip, which a GPU decompresses. A file that cannot be asked
 * has none: reading it says why. */
static uint64_t deflate_bytes_of(const char *path)
{
    const struct columnar_format *format;
    struct columnar_file *file;
    if (columnar_format_find(path, &format, NULL) != STATUS_OK || !format)
        return 0;
    const bool right = columnar_file_open(format, path, &file, NULL) == STATUS_OK;
    const uint64_t bytes = right && file->schemes >> BYTE_DEFLATE & 1 ? file->size : 0;
    columnar_file_close(file);
    return bytes;
}

/* Whether there are enough of these bytes to open a GPU for. */
static bool deflates_much(const struct load_options *load)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < load->input_count; i++)
        for (uint32_t p = 0; p < load->inputs[i].path_count && bytes < AUTO_BYTES; p++)
            bytes += deflate_bytes_of(load->inputs[i].paths[p]);
    return bytes >= AUTO_BYTES;
}

static enum status open_device(struct arguments *arguments, struct byte_decoder *decoder, struct error *error)
{
    const char *const device = arguments->device ? arguments->device : "auto";
    const bool asked = strncmp(device, "cuda", 4) == 0 && (device[4] == '\0' || device[4] == ':');
    if (!asked && strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0)
        return error_set(error, STATUS_BAD_INPUT, "--device '%s' is not auto, cpu, cuda or cuda:N", device);
    const unsigned threads = arguments->load.threads ? arguments->load.threads : parallel_threads_available();
    if (!offered || (!asked && (strcmp(device, "cpu") == 0 || threads > AUTO_THREADS ||
                                !deflates_much(&arguments->load))))
        return STATUS_OK;
    const enum status status = offered->open(device, arguments->load.threads, decoder, error);
    if (status == STATUS_MACHINE && !asked) {
        fprintf(stderr, "files are decompressed by the processor: %s\n", error ? error->text : "no GPU");
        return STATUS_OK;
    }
    RETURN_IF_ERROR(status);
    arguments->load.decoder = decoder;
    return STATUS_OK;
}

/* Tells what was decompressed where, and closes the device. */
static void close_device(struct byte_decoder *decoder, double seconds)
{
    double ms;
    uint64_t bytes;
    if (!decoder->context)
        return;
    offered->spent(decoder, &ms, &bytes);
    if (bytes)
        fprintf(stderr, "%s decompressed %.0f MB in %.3f s of its time, %.1f%% of the load\n",
                offered->text(decoder), 1e-6 * (double)bytes, 1e-3 * ms, 0.1 * ms / seconds);
    offered->close(decoder);
}

/* ---- Rows that are replaced ---- */

static const struct load_conditions *conditions;

void loader_use_conditions(const struct load_conditions *offers)
{
    conditions = offers;
}

/* The script may write the table's name in another case. */
static enum status load_tables(struct arguments *arguments, const struct schema_script *schema,
                               struct load_report *report, struct progress *progress, struct error *error)
{
    struct load_options *const load = &arguments->load;
    const struct schema_table *const table = schema_table(schema, arguments->inputs[0].table);
    if (!arguments->replaced || !table) /* the load says that there is no such table */
        return tables_load(schema, load, report, progress, error);
    if (!conditions)
        return error_set(error, STATUS_BAD_INPUT, "--replace-where: this program has no statements");
    enum status status = conditions->open(table->name, arguments->replaced, load->threads, load->memory,
                                          &arguments->replacement, error);
    load->replacement = &arguments->replacement;
    status = AND_THEN(status, tables_load(schema, load, report, progress, error));
    conditions->close(&arguments->replacement);
    return status;
}

/* ---- The command ---- */

static enum status run(struct arguments *arguments, struct progress *progress, struct error *error)
{
    struct schema_script schema;
    struct load_report report;
    arguments->load.inputs = arguments->inputs;
    if (arguments->infer)
        return schema_infer(&arguments->load, progress, stdout, error);
    RETURN_IF_ERROR(arguments->schema ? schema_script_read(arguments->schema, &schema, error)
                                      : schema_script_stored(arguments->load.directory, &schema, error));
    for (uint32_t n = 0; n < schema.note_count; n++)
        fprintf(stderr, "%s\n", schema.notes[n]);
    const double begin = clock_seconds();
    struct byte_decoder decoder = {0};
    enum status status = open_device(arguments, &decoder, error);
    status = AND_THEN(status, load_tables(arguments, &schema, &report, progress, error));
    schema_script_free(&schema);
    const double took = clock_seconds() - begin;
    close_device(&decoder, took);
    RETURN_IF_ERROR(status);
    fprintf(stderr, "%s: %" PRIu64 " row%s in %.2f s (%.2f million rows a second)\n",
            arguments->load.directory, report.rows, report.rows == 1 ? "" : "s", took,
            1e-6 * (double)report.rows / took);
    if (arguments->replaced)
        fprintf(stderr, "%" PRIu64 " row%s of %s %s replaced\n", report.replaced,
                report.replaced == 1 ? "" : "s", arguments->inputs[0].table,
                report.replaced == 1 ? "was" : "were");
    if (report.spilled)
        fprintf(stderr, "%.1f MB were kept in files meanwhile\n", 1e-6 * (double)report.spilled);
    if (report.rejected)
        fprintf(stderr, "%" PRIu64 " row%s left out%s%s; the first: %s\n", report.rejected,
                report.rejected == 1 ? " was" : "s were", arguments->load.reject ? " and written to " : "",
                arguments->load.reject ? arguments->load.reject : "", report.first_rejected);
    return STATUS_OK;
}

enum status command_load(int argc, char **argv, struct progress *progress, struct error *error)
{
    struct arguments *arguments = calloc(1, sizeof *arguments);
    if (!arguments)
        return error_out_of_memory(error, sizeof *arguments, "the options");
    enum status status = command_line_read(&line, argc, argv, arguments, error);
    status = AND_THEN(status, run(arguments, progress, error));
    for (uint32_t i = 0; i < INPUTS_MAX; i++)
        free(arguments->copies[i]);
    input_files_free(&arguments->files);
    free(arguments);
    return status;
}
