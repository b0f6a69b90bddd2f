/* copy.c: COPY: writes the rows of a table or an answer to a file; see change.h. */
#include "engine/library/change/change_internal.h"

#include "engine/answer/parquet/parquet_write.h"
#include "engine/library/change/copy_file.h"
#include "engine/library/ipc/ipc_write.h"
#include "engine/library/tessera.h"
#include "engine/sql/sql_error.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/word.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a file says of who wrote it. */
#define TEXT_OF(number)    #number
#define VERSION_OF(number) "tessera version " TEXT_OF(number) ".0.0"
#define SOFTWARE           VERSION_OF(TESSERA_API_VERSION)

/* ---- The format, by the file's name ---- */

enum copy_kind { COPY_CSV, COPY_JSON, COPY_PARQUET, COPY_ARROW, COPY_ARROW_STREAM, COPY_KINDS };
static const char *const kind_names[COPY_KINDS] = {"CSV", "JSON", "Parquet", "Arrow", "Arrow"};

struct copy_options {
    struct rowset_style style; /* of CSV and JSON */
    enum copy_kind kind;
    bool format_said, array;
    enum copy_packing packing; /* of the whole file, by its ending */
    enum parquet_codec codec;  /* of the pages of Parquet */
    enum ipc_codec buffers;    /* of Arrow's */
    const char *why_not;       /* a format that is not written */
};

static const struct copy_format {
    const char *name, *ending; /* `name` NULL: known by its ending alone */
    enum copy_kind kind;
    char delimiter;
    const char *why_not; /* it is not written; NULL: it is */
} formats[] = {{"csv", ".csv", COPY_CSV, 0, NULL},
               {NULL, ".txt", COPY_CSV, 0, NULL},
               {NULL, ".tsv", COPY_CSV, '\t', NULL},
               {NULL, ".tbl", COPY_CSV, '|', NULL},
               {"json", ".json", COPY_JSON, 0, NULL},
               {NULL, ".jsonl", COPY_JSON, 0, NULL},
               {NULL, ".ndjson", COPY_JSON, 0, NULL},
               {"parquet", ".parquet", COPY_PARQUET, 0, NULL},
               {"arrow", ".arrow", COPY_ARROW, 0, NULL},
               {NULL, ".feather", COPY_ARROW, 0, NULL},
               {"arrows", ".arrows", COPY_ARROW_STREAM, 0, NULL},
               {"orc", ".orc", COPY_CSV, 0, "ORC"}};
#define FORMATS (sizeof formats / sizeof *formats)

static bool is_arrow(enum copy_kind kind)
{
    return kind == COPY_ARROW || kind == COPY_ARROW_STREAM;
}

static bool ends_with(const char *name, size_t length, const char *ending)
{
    const size_t bytes = strlen(ending);
    return length > bytes && word_compare_bytes(name + length - bytes, ending, bytes) == 0;
}

static void take_format(struct copy_options *options, const struct copy_format *format)
{
    options->kind = format->kind;
    options->style.format = format->kind == COPY_JSON ? ROWSET_JSON : ROWSET_CSV;
    options->style.delimiter = format->delimiter;
    options->why_not = format->why_not;
    options->format_said = true;
}

/* What the name's endings say: answer.csv.gz. A name without an ending, as of /dev/stdout, is CSV. */
static void guess(const char *file, struct copy_options *options)
{
    const char *const slash = strrchr(file, '/'), *const name = slash ? slash + 1 : file;
    size_t length = strlen(name);
    for (enum copy_packing p = COPY_GZIP; p <= COPY_ZSTD; p++)
        if (ends_with(name, length, copy_packing_ending(p))) {
            options->packing = p;
            length -= strlen(copy_packing_ending(p));
            break;
        }
    for (size_t f = 0; f < FORMATS; f++)
        if (ends_with(name, length, formats[f].ending))
            take_format(options, &formats[f]);
    options->format_said |= !memchr(name, '.', length);
}

/* ---- Options ---- */

#define OPTIONS_TEXT "FORMAT, HEADER, DELIMITER, NULL, COMPRESSION and ARRAY"

static enum status read_format(const struct sql_copy_option *option, struct copy_options *options,
                               struct error *error)
{
    const char delimiter = options->style.delimiter;
    for (size_t f = 0; option->value && f < FORMATS; f++)
        if (formats[f].name && word_compare(formats[f].name, option->value) == 0) {
            take_format(options, &formats[f]);
            if (formats[f].kind == COPY_CSV)
                options->style.delimiter = delimiter; /* of the ending */
            return STATUS_OK;
        }
    return sql_change_refuse(error, option->position, "FORMAT is csv, json, parquet or arrow, not '%.40s'",
                             option->value ? option->value : "");
}

static enum status read_truth(const struct sql_copy_option *option, bool *truth, struct error *error)
{
    static const char *const words[] = {"false", "true", "0", "1", "off", "on", "no", "yes"};
    *truth = true;
    for (size_t w = 0; option->value && w < sizeof words / sizeof *words; w++)
        if (word_compare(words[w], option->value) == 0) {
            *truth = w % 2;
            return STATUS_OK;
        }
    return option->value ? sql_change_refuse(error, option->position, "%s is true or false, not '%.40s'",
                                             option->name, option->value)
                         : STATUS_OK;
}

static enum status read_delimiter(const struct sql_copy_option *option, struct copy_options *options,
                                  struct error *error)
{
    const char *const text = option->value ? option->value : "";
    const bool tab = strcmp(text, "\\t") == 0 || word_compare(text, "tab") == 0;
    options->style.delimiter = tab ? '\t' : *text;
    if ((strlen(text) != 1 && !tab) || strchr("\"\n\r", options->style.delimiter))
        return sql_change_refuse(error, option->position,
                                 "'%.40s' is no delimiter; give one character, or \\t", text);
    return STATUS_OK;
}

static enum status read_null(const struct sql_copy_option *option, struct copy_options *options,
                             struct error *error)
{
    const char *const text = option->value ? option->value : "";
    if (strlen(text) >= ROWSET_NULL_BYTES || strpbrk(text, "\"\n\r"))
        return sql_change_refuse(error, option->position,
                                 "NULL is a text of at most %u bytes, without quotes and line ends",
                                 ROWSET_NULL_BYTES - 1);
    strcpy(options->style.null_text, text);
    return STATUS_OK;
}

/* What compresses a file of text as a whole, the pages of Parquet, or the buffers of Arrow. It is read when the format is
 * known. */
static enum status read_packing(const struct sql_copy_option *option, struct copy_options *options,
                                struct error *error)
{
    static const struct {
        const char *word;
        int text, parquet, arrow; /* the number for each; -1: it has none */
    } words[] = {{"none", COPY_PLAIN, PARQUET_UNCOMPRESSED, IPC_PLAIN},
                 {"uncompressed", COPY_PLAIN, PARQUET_UNCOMPRESSED, IPC_PLAIN},
                 {"gzip", COPY_GZIP, -1, -1},
                 {"snappy", -1, PARQUET_SNAPPY, -1},
                 {"lz4", -1, -1, IPC_LZ4},
                 {"zstd", COPY_ZSTD, PARQUET_ZSTD, IPC_ZSTD}};
    const bool parquet = options->kind == COPY_PARQUET, arrow = is_arrow(options->kind);
    if (option->value && word_compare("auto", option->value) == 0)
        return STATUS_OK;
    for (size_t w = 0; option->value && w < sizeof words / sizeof *words; w++) {
        const int number = parquet ? words[w].parquet : arrow ? words[w].arrow : words[w].text;
        if (number < 0 || word_compare(words[w].word, option->value) != 0)
            continue;
        if (parquet)
            options->codec = (enum parquet_codec)number;
        else if (arrow)
            options->buffers = (enum ipc_codec)number;
        else
            options->packing = (enum copy_packing)number;
        return STATUS_OK;
    }
    return sql_change_refuse(
        error, option->position, "COMPRESSION%s%s is none, %s, zstd or auto, not '%.40s'",
        parquet || arrow ? " of " : "", parquet || arrow ? kind_names[options->kind] : "",
        parquet ? "snappy"
        : arrow ? "lz4"
                : "gzip",
        option->value ? option->value : "");
}

static enum status read_header(const struct sql_copy_option *option, struct copy_options *options,
                               struct error *error)
{
    bool header;
    RETURN_IF_ERROR(read_truth(option, &header, error));
    options->style.headless = !header;
    return STATUS_OK;
}

static enum status read_array(const struct sql_copy_option *option, struct copy_options *options,
                              struct error *error)
{
    return read_truth(option, &options->array, error);
}

static const struct {
    const char *name;
    enum status (*read)(const struct sql_copy_option *option, struct copy_options *options,
                        struct error *error);
    enum copy_kind kind; /* for which it is alone; COPY_KINDS: for all */
} known[] = {{"format", read_format, COPY_KINDS},     {"header", read_header, COPY_CSV},
             {"delimiter", read_delimiter, COPY_CSV}, {"delim", read_delimiter, COPY_CSV},
             {"sep", read_delimiter, COPY_CSV},       {"null", read_null, COPY_CSV},
             {"nullstr", read_null, COPY_CSV},        {"compression", read_packing, COPY_KINDS},
             {"array", read_array, COPY_JSON}};
#define KNOWN (sizeof known / sizeof *known)

static enum status find_option(const struct sql_copy_option *option, size_t *number, struct error *error)
{
    struct near_word near = near_word_begin(option->name);
    for (*number = 0; *number < KNOWN; (*number)++) {
        if (strcmp(known[*number].name, option->name) == 0)
            return STATUS_OK;
        near_word_try(&near, known[*number].name);
    }
    return sql_change_refuse(error, option->position, "COPY has no option %.40s%s%s; there are " OPTIONS_TEXT,
                             option->name, near.nearest ? "; did you mean " : "",
                             near.nearest ? near.nearest : "");
}

/* Options of one format are refused for the other, once the format is known. */
static enum status check_options(const struct sql_change *change, const struct copy_options *options,
                                 struct error *error)
{
    for (uint32_t o = 0; o < change->option_count; o++) {
        size_t number;
        RETURN_IF_ERROR(find_option(&change->options[o], &number, error));
        const enum copy_kind kind = known[number].kind;
        if (kind != COPY_KINDS && kind != options->kind)
            return sql_change_refuse(error, change->options[o].position, "%s is an option of %s, not of %s",
                                     change->options[o].name, kind_names[kind], kind_names[options->kind]);
    }
    if ((options->kind == COPY_PARQUET || is_arrow(options->kind)) && options->packing != COPY_PLAIN)
        return sql_change_refuse(error, change->file_position,
                                 "%s file is compressed %s, not as a whole; name it without %s",
                                 is_arrow(options->kind) ? "an Arrow" : "a Parquet",
                                 is_arrow(options->kind) ? "buffer by buffer" : "page by page",
                                 copy_packing_ending(options->packing));
    if (options->style.null_text[0] && options->style.delimiter &&
        strchr(options->style.null_text, options->style.delimiter))
        return sql_change_refuse(error, change->file_position, "the text of NULL has the delimiter in it");
    return STATUS_OK;
}

/* Reads the option that says the format, or the others, which depend on it. */
static enum status read_each(const struct sql_change *change, bool format, struct copy_options *options,
                             struct error *error)
{
    for (uint32_t o = 0; o < change->option_count; o++) {
        size_t number;
        RETURN_IF_ERROR(find_option(&change->options[o], &number, error));
        if ((known[number].read == read_format) == format)
            RETURN_IF_ERROR(known[number].read(&change->options[o], options, error));
    }
    return STATUS_OK;
}

static enum status read_options(const struct sql_change *change, struct copy_options *options,
                                struct error *error)
{
    *options =
        (struct copy_options){.style = {.format = ROWSET_CSV}, .codec = PARQUET_ZSTD, .buffers = IPC_PLAIN};
    guess(change->file, options);
    RETURN_IF_ERROR(read_each(change, true, options, error));
    RETURN_IF_ERROR(read_each(change, false, options, error));
    if (!options->format_said)
        return sql_change_refuse(
            error, change->file_position,
            "the ending of '%.200s' says no format; add (FORMAT csv), json, parquet or arrow", change->file);
    if (options->why_not)
        return sql_change_refuse(error, change->file_position,
                                 "%s files are not written; csv, json, parquet and arrow are (FORMAT csv)",
                                 options->why_not);
    RETURN_IF_ERROR(check_options(change, options, error));
    options->style.lines = options->style.format == ROWSET_JSON && !options->array;
    return STATUS_OK;
}

/* ---- Rows ---- */

/* SELECT columns FROM table */
static enum status write_query(const struct sql_change *change, char **text, struct error *error)
{
    size_t bytes;
    FILE *const out = text_stream(text, &bytes);
    if (!out)
        return error_out_of_memory(error, BUFSIZ, "a query");
    fputs("SELECT ", out);
    for (uint32_t c = 0; c < change->column_count; c++) {
        fputs(c ? ", " : "", out);
        sql_name_write(out, change->columns[c].name, true);
    }
    fputs(change->column_count ? " FROM " : "* FROM ", out);
    sql_name_write(out, change->table, true);
    return fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "a query");
}

static enum status check_table(const struct change_task *task, const struct sql_change *change,
                               struct error *error)
{
    const struct table *table;
    RETURN_IF_ERROR(change_table(task, change, &table, error));
    for (uint32_t c = 0; c < change->column_count; c++) {
        const struct column *column;
        RETURN_IF_ERROR(change_column(table, &change->columns[c], &column, error));
    }
    return STATUS_OK;
}

/* The rows of a query, a table or a view. */
static enum status find_rows(const struct change_task *task, const struct sql_change *change,
                             struct rowset *rows, struct error *error)
{
    char *text = NULL;
    if (change->text)
        return change_query(task, change->text, 0, rows, NULL, error);
    if (!database_view(task->database, change->table))
        RETURN_IF_ERROR(check_table(task, change, error));
    enum status status = write_query(change, &text, error);
    status = AND_THEN(status, change_query(task, text, 0, rows, NULL, error));
    free(text);
    return sql_placed_anew(error, change->table_position, NULL, status);
}

static enum status write_rows(const struct rowset *rows, const struct copy_options *options, unsigned threads,
                              FILE *out, struct error *error)
{
    const struct parquet_style parquet = {.codec = options->codec, .software = SOFTWARE};
    const struct ipc_style arrow = {.stream = options->kind == COPY_ARROW_STREAM, .codec = options->buffers};
    if (options->kind == COPY_PARQUET)
        return rowset_write_parquet(rows, &parquet, threads, out, error);
    return is_arrow(options->kind) ? rowset_write_arrow(rows, &arrow, threads, out, error)
                                   : rowset_write(rows, &options->style, threads, out, error);
}

enum status copy_run(const struct change_task *task, const struct sql_change *change,
                     struct change_report *report, struct error *error)
{
    struct copy_options options;
    struct copy_file *file;
    struct rowset rows = {0};
    const bool writes = cluster_rank(engine_cluster(task->engine)) == 0;
    RETURN_IF_ERROR(read_options(change, &options, error));
    enum status status = find_rows(task, change, &rows, error);
    if (status == STATUS_OK && writes) {
        status = copy_file_open(change->file, options.packing, &file, error);
        if (status == STATUS_OK) {
            status = write_rows(&rows, &options, engine_threads(task->engine), copy_file_stream(file), error);
            status = copy_file_close(file, status, error);
        }
    }
    report->rows = rows.rows;
    rowset_free(&rows);
    snprintf(report->text, sizeof report->text, "%.1000s: %" PRIu64 " row%s written", change->file,
             report->rows, report->rows == 1 ? "" : "s");
    return status;
}
