/* orc_inspect.c: what an ORC file holds: its writer, stripes, columns and streams. */
#include "loader/columnar/columnar_inspect.h"
#include "loader/orc/orc_format.h"
#include "storage/base/memory.h"
#include "storage/base/text/json_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define NAME_TEXT_BYTES 256 /* a column's name with those of the columns that it is in; longer ones are cut */
#define DEPTH_MAX       32  /* deeper columns are listed without the names of what they are in */

/* A column in all stripes. */
struct column_sum {
    char name[NAME_TEXT_BYTES];
    uint64_t bytes[ORC_STREAM_KINDS + 1]; /* the last one: of unknown kinds */
    uint32_t stripes[ORC_ENCODINGS + 1];  /* that encode it so */
    uint64_t dictionary_strings;
};

struct inspection {
    const struct orc_file *file;
    struct orc_stripe_footer *footers;
    struct column_sum *columns;
    struct error *error;
};

static const char *writer_name(uint32_t writer)
{
    static const char *const names[] = {"ORC Java", "ORC C++", "Presto", "Scritchley Go", "Trino", "cuDF"};
    return writer < sizeof names / sizeof *names ? names[writer] : "an unknown writer";
}

/* ---- Adding up ---- */

/* Gives a type's children their full names. Parents come before their children. */
static void name_children(const struct inspection *inspection, uint32_t t, uint8_t *depths)
{
    const struct orc_type *const type = &inspection->file->types[t];
    for (uint32_t c = 0; c < type->child_count; c++) {
        const uint32_t child = type->children[c];
        const char *const field = inspection->file->types[child].name, *const own = field[0] ? field
                                                                                    : type->kind != ORC_MAP
                                                                                        ? "element"
                                                                                    : c == 0 ? "key"
                                                                                             : "value";
        char *const name = inspection->columns[child].name;
        depths[child] = depths[t] < DEPTH_MAX ? depths[t] + 1 : DEPTH_MAX;
        if (t == 0 || depths[t] == DEPTH_MAX)
            snprintf(name, NAME_TEXT_BYTES, "%.200s", own);
        else
            snprintf(name, NAME_TEXT_BYTES, "%.180s.%.60s", inspection->columns[t].name, own);
    }
}

static void add_stripe(const struct inspection *inspection, const struct orc_stripe_footer *footer)
{
    for (uint32_t s = 0; s < footer->stream_count; s++) {
        const struct orc_stream *const stream = &footer->streams[s];
        const uint32_t kind = stream->kind < ORC_STREAM_KINDS ? stream->kind : ORC_STREAM_KINDS;
        inspection->columns[stream->column].bytes[kind] += stream->bytes;
    }
    for (uint32_t t = 0; t < inspection->file->type_count; t++) {
        const struct orc_column_encoding *const encoding = &footer->encodings[t];
        const uint32_t kind = encoding->kind < ORC_ENCODINGS ? encoding->kind : ORC_ENCODINGS;
        inspection->columns[t].stripes[kind]++;
        inspection->columns[t].dictionary_strings += encoding->dictionary_size;
    }
}

static enum status read_footers(struct inspection *inspection)
{
    const struct columnar_file *const file = &inspection->file->base;
    enum status status = STATUS_OK;
    for (uint32_t s = 0; s < file->part_count && status == STATUS_OK; s++) {
        struct columnar_opened opened;
        status = columnar_part_open(file, s, &opened, inspection->error);
        if (status == STATUS_OK) {
            inspection->footers[s] = *(struct orc_stripe_footer *)opened.own;
            *(struct orc_stripe_footer *)opened.own = (struct orc_stripe_footer){0};
            add_stripe(inspection, &inspection->footers[s]);
        }
        columnar_part_close(&opened);
    }
    return status;
}

static uint64_t column_bytes(const struct column_sum *column)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k <= ORC_STREAM_KINDS; k++)
        bytes += column->bytes[k];
    return bytes;
}

/* ---- As a table ---- */

static void print_stripes(const struct inspection *inspection, FILE *out)
{
    const struct orc_file *const file = inspection->file;
    fprintf(out, "\n  %-6s %14s %12s %14s %12s %10s  %s\n", "stripe", "offset", "rows", "data bytes",
            "index bytes", "footer", "time zone");
    for (uint32_t s = 0; s < file->base.part_count; s++) {
        const struct orc_stripe *const stripe = &file->stripes[s];
        fprintf(out, "  %-6u %14" PRIu64 " %12" PRIu64 " %14" PRIu64 " %12" PRIu64 " %10" PRIu64 "  %s\n",
                s + 1, stripe->offset, file->base.parts[s].rows, stripe->data_bytes, stripe->index_bytes,
                stripe->footer_bytes,
                inspection->footers[s].timezone[0] ? inspection->footers[s].timezone : "-");
    }
}

static void print_column(const struct inspection *inspection, uint32_t t, FILE *out)
{
    const struct orc_file *const file = inspection->file;
    const struct column_sum *const column = &inspection->columns[t];
    const uint64_t bytes = column_bytes(column);
    char type[COLUMNAR_TYPE_BYTES], encodings[160] = "";
    size_t at = 0;
    orc_type_text(&file->types[t], type);
    for (uint32_t e = 0; e <= ORC_ENCODINGS; e++)
        if (column->stripes[e])
            at += (size_t)snprintf(encodings + at, sizeof encodings - at,
                                   column->stripes[e] < file->base.part_count ? "%s%s (%u)" : "%s%s",
                                   at ? ", " : "", orc_encoding_name(e), column->stripes[e]);
    fprintf(out, "  %-24s %-16s %-20s %14" PRIu64 " %10.3f  ", column->name, type, encodings, bytes,
            file->base.rows ? 8.0 * (double)bytes / (double)file->base.rows : 0.0);
    for (uint32_t k = 0, any = 0; k <= ORC_STREAM_KINDS; k++)
        if (column->bytes[k])
            fprintf(out, "%s%s %" PRIu64, any++ ? ", " : "", orc_stream_name(k), column->bytes[k]);
    if (column->dictionary_strings)
        fprintf(out, "; %" PRIu64 " strings", column->dictionary_strings);
    putc('\n', out);
}

static void print_file(const struct inspection *inspection, FILE *out)
{
    const struct orc_file *const file = inspection->file;
    fprintf(out, "%s: ORC %u.%u by %s%s%s (writer version %u), ", file->base.path, file->version[0],
            file->version[1], writer_name(file->writer), file->software[0] ? " " : "", file->software,
            file->writer_version);
    if (file->compression == ORC_NONE)
        fputs("not compressed\n", out);
    else
        fprintf(out, "%s in chunks of %u bytes\n", orc_compression_name(file->compression),
                file->block_bytes);
    fprintf(out, "  %" PRIu64 " row%s, %u stripe%s, %" PRIu64 " bytes%s\n", file->base.rows,
            file->base.rows == 1 ? "" : "s", file->base.part_count, file->base.part_count == 1 ? "" : "s",
            file->base.size, file->base.encrypted ? ", has encrypted columns" : "");
    print_stripes(inspection, out);
    fprintf(out, "\n  %-24s %-16s %-20s %14s %10s  %s\n", "column", "type", "encoding (stripes)", "bytes",
            "bits/row", "streams");
    for (uint32_t t = 1; t < file->type_count; t++)
        print_column(inspection, t, out);
}

/* ---- As JSON ---- */

/* The bytes of a column's streams in one stripe. */
static json_t *json_of_streams(const struct orc_stripe_footer *footer, uint32_t column)
{
    json_t *const streams = json_object();
    for (uint32_t s = 0; streams && s < footer->stream_count; s++)
        if (footer->streams[s].column == column &&
            json_object_set_new(streams, orc_stream_name(footer->streams[s].kind),
                                json_integer((json_int_t)footer->streams[s].bytes)) != 0) {
            json_decref(streams);
            return NULL;
        }
    return streams;
}

static json_t *json_of_column(const struct inspection *inspection, uint32_t t)
{
    const struct column_sum *const column = &inspection->columns[t];
    json_t *const stripes = json_array();
    char type[COLUMNAR_TYPE_BYTES];
    int failed = !stripes;
    for (uint32_t s = 0; s < inspection->file->base.part_count; s++) {
        const struct orc_column_encoding *const encoding = &inspection->footers[s].encodings[t];
        failed |= json_array_append_new(
            stripes, json_pack("{s:s, s:I, s:o}", "encoding", orc_encoding_name(encoding->kind),
                               "dictionary_strings", (json_int_t)encoding->dictionary_size, "streams",
                               json_of_streams(&inspection->footers[s], t)));
    }
    orc_type_text(&inspection->file->types[t], type);
    json_t *const object = json_pack("{s:o, s:s, s:I, s:o}", "name", columnar_json_text(column->name), "type",
                                     type, "bytes", (json_int_t)column_bytes(column), "stripes", stripes);
    return json_whole(object, failed);
}

static json_t *json_of_file(const struct inspection *inspection)
{
    const struct orc_file *const file = inspection->file;
    json_t *const stripes = json_array(), *const columns = json_array();
    char version[32];
    int failed = !stripes || !columns;
    for (uint32_t s = 0; s < file->base.part_count; s++) {
        const struct orc_stripe *const stripe = &file->stripes[s];
        failed |= json_array_append_new(
            stripes, json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "offset", (json_int_t)stripe->offset, "rows",
                               (json_int_t)file->base.parts[s].rows, "data_bytes",
                               (json_int_t)stripe->data_bytes, "index_bytes", (json_int_t)stripe->index_bytes,
                               "footer_bytes", (json_int_t)stripe->footer_bytes, "time_zone",
                               columnar_json_text(inspection->footers[s].timezone)));
    }
    for (uint32_t t = 1; t < file->type_count; t++)
        failed |= json_array_append_new(columns, json_of_column(inspection, t));
    snprintf(version, sizeof version, "%u.%u", file->version[0], file->version[1]);
    json_t *const root =
        json_pack("{s:o, s:s, s:s, s:o, s:I, s:s, s:I, s:I, s:I, s:b, s:o, s:o}", "file",
                  columnar_json_text(file->base.path), "version", version, "writer",
                  writer_name(file->writer), "software", columnar_json_text(file->software), "writer_version",
                  (json_int_t)file->writer_version, "compression", orc_compression_name(file->compression),
                  "chunk_bytes", (json_int_t)(file->compression == ORC_NONE ? 0 : file->block_bytes), "bytes",
                  (json_int_t)file->base.size, "rows", (json_int_t)file->base.rows, "encrypted",
                  file->base.encrypted, "stripes", stripes, "columns", columns);
    return json_whole(root, failed);
}

/* ---- The whole file ---- */

static enum status print(const struct inspection *inspection, bool json, FILE *out)
{
    if (json)
        return columnar_json_print(json_of_file(inspection), out, inspection->error);
    print_file(inspection, out);
    return STATUS_OK;
}

static enum status inspect(struct inspection *inspection, bool json, FILE *out)
{
    const struct orc_file *const file = inspection->file;
    uint8_t *depths;
    RETURN_IF_ERROR(memory_zeros(&inspection->footers,
                                 (file->base.part_count + 1ull) * sizeof *inspection->footers, "footers",
                                 inspection->error));
    RETURN_IF_ERROR(memory_zeros(&inspection->columns, file->type_count * sizeof *inspection->columns,
                                 "columns", inspection->error));
    RETURN_IF_ERROR(memory_zeros(&depths, file->type_count, "columns", inspection->error));
    for (uint32_t t = 0; t < file->type_count; t++)
        name_children(inspection, t, depths);
    free(depths);
    RETURN_IF_ERROR(read_footers(inspection));
    return print(inspection, json, out);
}

enum status orc_inspect(const struct columnar_file *columnar, bool json, FILE *out, struct error *error)
{
    const struct orc_file *const file = orc_file_of(columnar);
    struct inspection inspection = {.file = file, .error = error};
    const enum status status = inspect(&inspection, json, out);
    for (uint32_t s = 0; inspection.footers && s < columnar->part_count; s++)
        orc_stripe_footer_free(&inspection.footers[s]);
    free(inspection.footers);
    free(inspection.columns);
    return status;
}
