/* parquet_inspect.c: what a Parquet file holds: its writer, row groups, and columns. */
#include "loader/columnar/columnar_inspect.h"
#include "loader/parquet/parquet_format.h"
#include "storage/base/memory.h"
#include "storage/base/text/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_BYTES 256

/* A leaf in all row groups. */
struct leaf_sum {
    uint64_t bytes, plain_bytes;
    uint32_t codecs, encodings; /* as bits; codecs of unknown numbers are bit 31 */
};

struct inspection {
    const struct parquet_file *file;
    struct leaf_sum *leaves;
};

static void add_up(const struct inspection *inspection)
{
    const struct parquet_file *const file = inspection->file;
    for (uint32_t g = 0; g < file->base.part_count; g++)
        for (uint32_t l = 0; l < file->leaf_count; l++) {
            const struct parquet_chunk *const chunk = parquet_chunk_of(file, g, l);
            struct leaf_sum *const sum = &inspection->leaves[l];
            sum->bytes += chunk->bytes;
            sum->plain_bytes += chunk->plain_bytes;
            sum->codecs |= 1u << (chunk->codec < PARQUET_CODECS ? chunk->codec : 31);
            sum->encodings |= chunk->encodings;
        }
}

/* "PLAIN, RLE" for bits. */
static void list_names(uint32_t bits, const char *(*name)(uint32_t), char text[LIST_BYTES])
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t b = 0; b < 32; b++)
        if (bits >> b & 1 && at < LIST_BYTES - 40)
            at += (size_t)snprintf(text + at, LIST_BYTES - at, "%s%s", at ? ", " : "", name(b));
}

static void sum_group(const struct parquet_file *file, uint32_t group, uint64_t *bytes, uint64_t *plain_bytes)
{
    *bytes = *plain_bytes = 0;
    for (uint32_t l = 0; l < file->leaf_count; l++) {
        *bytes += parquet_chunk_of(file, group, l)->bytes;
        *plain_bytes += parquet_chunk_of(file, group, l)->plain_bytes;
    }
}

/* ---- As a table ---- */

static void print_groups(const struct parquet_file *file, FILE *out)
{
    fprintf(out, "\n  %-10s %12s %14s %14s\n", "row group", "rows", "bytes", "uncompressed");
    for (uint32_t g = 0; g < file->base.part_count; g++) {
        uint64_t bytes, plain_bytes;
        sum_group(file, g, &bytes, &plain_bytes);
        fprintf(out, "  %-10u %12" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", g + 1, file->base.parts[g].rows,
                bytes, plain_bytes);
    }
}

static void print_leaf(const struct inspection *inspection, uint32_t l, FILE *out)
{
    const struct parquet_file *const file = inspection->file;
    const struct parquet_leaf *const leaf = &file->leaves[l];
    const struct leaf_sum *const sum = &inspection->leaves[l];
    char codecs[LIST_BYTES], encodings[LIST_BYTES];
    list_names(sum->codecs, parquet_codec_name, codecs);
    list_names(sum->encodings, parquet_encoding_name, encodings);
    fprintf(out, "  %-24s %-22s %-10s %14" PRIu64 " %14" PRIu64 " %10.3f  %s\n", leaf->name, leaf->type.name,
            codecs, sum->bytes, sum->plain_bytes,
            file->base.rows ? 8.0 * (double)sum->bytes / (double)file->base.rows : 0.0, encodings);
}

static void print_file(const struct inspection *inspection, FILE *out)
{
    const struct parquet_file *const file = inspection->file;
    const struct columnar_file *const base = &file->base;
    fprintf(out, "%s: Parquet %u by %s\n", base->path, file->version,
            file->software[0] ? file->software : "an unknown writer");
    fprintf(out, "  %" PRIu64 " row%s, %u row group%s, %" PRIu64 " bytes, %" PRIu64 " of them the footer%s\n",
            base->rows, base->rows == 1 ? "" : "s", base->part_count, base->part_count == 1 ? "" : "s",
            base->size, file->footer_bytes, base->encrypted ? ", has encrypted columns" : "");
    print_groups(file, out);
    fprintf(out, "\n  %-24s %-22s %-10s %14s %14s %10s  %s\n", "column", "type", "compressed", "bytes",
            "uncompressed", "bits/row", "encodings");
    for (uint32_t l = 0; l < file->leaf_count; l++)
        print_leaf(inspection, l, out);
}

/* ---- As JSON ---- */

static json_t *json_of_group(const struct parquet_file *file, uint32_t group)
{
    uint64_t bytes, plain_bytes;
    sum_group(file, group, &bytes, &plain_bytes);
    return json_pack("{s:I, s:I, s:I}", "rows", (json_int_t)file->base.parts[group].rows, "bytes",
                     (json_int_t)bytes, "uncompressed_bytes", (json_int_t)plain_bytes);
}

/* A leaf in one row group. */
static json_t *json_of_chunk(const struct parquet_chunk *chunk)
{
    char encodings[LIST_BYTES];
    list_names(chunk->encodings, parquet_encoding_name, encodings);
    return json_pack("{s:I, s:I, s:I, s:s, s:s}", "offset", (json_int_t)chunk->offset, "bytes",
                     (json_int_t)chunk->bytes, "uncompressed_bytes", (json_int_t)chunk->plain_bytes,
                     "compression", parquet_codec_name(chunk->codec), "encodings", encodings);
}

static json_t *json_of_leaf(const struct inspection *inspection, uint32_t l)
{
    const struct parquet_file *const file = inspection->file;
    json_t *const groups = json_array();
    int failed = !groups;
    for (uint32_t g = 0; g < file->base.part_count; g++)
        failed |= json_array_append_new(groups, json_of_chunk(parquet_chunk_of(file, g, l)));
    json_t *const object =
        json_pack("{s:o, s:s, s:b, s:I, s:I, s:o}", "name", columnar_json_text(file->leaves[l].name), "type",
                  file->leaves[l].type.name, "optional", file->leaves[l].optional, "bytes",
                  (json_int_t)inspection->leaves[l].bytes, "uncompressed_bytes",
                  (json_int_t)inspection->leaves[l].plain_bytes, "row_groups", groups);
    return json_whole(object, failed);
}

static json_t *json_of_file(const struct inspection *inspection)
{
    const struct parquet_file *const file = inspection->file;
    const struct columnar_file *const base = &file->base;
    json_t *const groups = json_array(), *const columns = json_array();
    int failed = !groups || !columns;
    for (uint32_t g = 0; g < base->part_count; g++)
        failed |= json_array_append_new(groups, json_of_group(file, g));
    for (uint32_t l = 0; l < file->leaf_count; l++)
        failed |= json_array_append_new(columns, json_of_leaf(inspection, l));
    json_t *const root = json_pack(
        "{s:o, s:I, s:o, s:I, s:I, s:I, s:b, s:o, s:o}", "file", columnar_json_text(base->path), "version",
        (json_int_t)file->version, "software", columnar_json_text(file->software), "bytes",
        (json_int_t)base->size, "footer_bytes", (json_int_t)file->footer_bytes, "rows",
        (json_int_t)base->rows, "encrypted", base->encrypted, "row_groups", groups, "columns", columns);
    return json_whole(root, failed);
}

enum status parquet_inspect(const struct columnar_file *columnar, bool json, FILE *out, struct error *error)
{
    struct inspection inspection = {.file = parquet_file_of(columnar)};
    RETURN_IF_ERROR(memory_zeros(&inspection.leaves,
                                 (inspection.file->leaf_count + 1ull) * sizeof *inspection.leaves, "columns",
                                 error));
    enum status status = STATUS_OK;
    add_up(&inspection);
    if (json)
        status = columnar_json_print(json_of_file(&inspection), out, error);
    else
        print_file(&inspection, out);
    free(inspection.leaves);
    return status;
}
