/* kernel_text.c: see kernel_text.h. */
#include "lab/bench/kernel_text.h"

#include "engine/gpu/kernel_decoder.h"
#include "storage/base/text/text_stream.h"

#include <stdlib.h>

/* A tile that is loaded ahead has at most so many lines: this one's and the next one's fit the 64 registers of a thread
 * of which a multiprocessor holds 1024. */
#define LINES_AHEAD 27u

enum status kernel_text_begin(const char *header, const struct kernel_column *column,
                              struct kernel_text *text, struct error *error)
{
    *text = (struct kernel_text){0};
    text->out = text_stream(&text->source, &text->bytes);
    if (!text->out)
        return error_out_of_memory(error, BUFSIZ, "a kernel's source");
    fprintf(text->out, "#define TILE_CUDA 1\n#include <stdint.h>\n#include \"lab/kernels/%s\"\n", header);
    if (!column)
        return STATUS_OK;
    const uint32_t lines = kernel_decoder_lines(column);
    kernel_decoder_include(text->out, column->data->codec);
    fputs("typedef ", text->out);
    kernel_decoder_write(text->out, column);
    fprintf(text->out, " DECODER;\nconstexpr bool PRELOADS = %s;\n",
            lines && lines <= LINES_AHEAD ? "true" : "false");
    return STATUS_OK;
}

enum status kernel_text_close(struct kernel_text *text, char **source, struct error *error)
{
    if (fclose(text->out) != 0) {
        free(text->source);
        return error_out_of_memory(error, text->bytes, "a kernel's source");
    }
    *source = text->source;
    return STATUS_OK;
}

/* Writes the head and the rest of a text that has no other parts. */
static enum status whole(const char *header, const struct kernel_column *column, const char *rest,
                         char **source, struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin(header, column, &text, error));
    fputs(rest, text.out);
    return kernel_text_close(&text, source, error);
}

enum status kernel_text_sum(const struct kernel_column *column, char **source, struct error *error)
{
    /* At least four blocks share a multiprocessor, which bounds the registers to 64. */
    return whole("decode_cuda.h", column,
                 "extern \"C\" __global__ void __launch_bounds__(256, 4) sum_all(const bound_chunk *chunks,\n"
                 "    const uint4 *work, uint32_t items, uint32_t *out)\n"
                 "{\n    lab_sum<DECODER, PRELOADS>(chunks, work, items, out);\n}\n",
                 source, error);
}

enum status kernel_text_compare(char **source, struct error *error)
{
    return whole("decode_cuda.h", NULL,
                 "extern \"C\" __global__ void compare(const int32_t *values, const int32_t *expected, "
                 "uint64_t rows,\n"
                 "    uint32_t *out)\n{\n    lab_compare(values, expected, rows, out);\n}\n",
                 source, error);
}

enum status kernel_text_access(const struct kernel_column *column, bool fetch, char **source,
                               struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin("access_cuda.h", column, &text, error));
    fprintf(
        text.out,
        "extern \"C\" __global__ void __launch_bounds__(256, 4) read_rows(const bound_chunk *chunks,\n"
        "    const uint4 *work, uint32_t items, uint32_t chunk_tiles, const uint32_t *bits, uint32_t *out)\n"
        "{\n    lab_access<DECODER, %s>(chunks, work, items, chunk_tiles, bits, out);\n}\n",
        fetch ? "true" : "false");
    return kernel_text_close(&text, source, error);
}

enum status kernel_text_match(const struct kernel_column *column, char **source, struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin("pattern_cuda.h", column, &text, error));
    fprintf(text.out,
            "extern \"C\" __global__ void __launch_bounds__(256, 4) match_series(\n"
            "    const bound_chunk *chunks, uint32_t chunk_tiles, uint32_t tiles, const uint32_t *pattern,\n"
            "    uint32_t *distances, unsigned long long *best)\n"
            "{\n    lab_match<DECODER, %u>(chunks, chunk_tiles, tiles, pattern, distances, best);\n}\n",
            kernel_decoder_lines(column));
    return kernel_text_close(&text, source, error);
}

enum status kernel_text_choose(char **source, struct error *error)
{
    return whole("access_cuda.h", NULL,
                 "extern \"C\" __global__ void choose(uint32_t *bits, uint64_t rows, uint64_t threshold)\n"
                 "{\n    lab_select(bits, rows, threshold);\n}\n",
                 source, error);
}

enum status kernel_text_expected(char **source, struct error *error)
{
    return whole(
        "access_cuda.h", NULL,
        "extern \"C\" __global__ void expected(const int32_t *values, const uint32_t *bits, uint64_t rows,\n"
        "    uint32_t *out)\n{\n    lab_expected(values, bits, rows, out);\n}\n",
        source, error);
}

enum status kernel_text_published(const char *header, const char *type, uint32_t threads, bool sum,
                                  char **source, struct error *error)
{
    struct kernel_text text;
    char path[64];
    snprintf(path, sizeof path, "published/%s", header);
    RETURN_IF_ERROR(kernel_text_begin(path, NULL, &text, error));
    fprintf(
        text.out,
        "extern \"C\" __global__ void __launch_bounds__(%u) published(const bound_chunk *chunks, %s *out,\n"
        "    uint32_t chunk_tiles, uint32_t tiles, uint64_t rows)\n{\n    %s<%s>(chunks, out, chunk_tiles, "
        "tiles%s);\n}\n",
        threads, sum ? "uint32_t" : "int32_t", sum ? "published_sum" : "published_memory", type,
        sum ? ", rows" : "");
    return kernel_text_close(&text, source, error);
}

enum status kernel_text_query(const char *query, const char *header, const char *type, uint32_t threads,
                              char **source, struct error *error)
{
    struct kernel_text text;
    char path[64];
    snprintf(path, sizeof path, "published/%s", header);
    RETURN_IF_ERROR(kernel_text_begin(path, NULL, &text, error));
    fprintf(text.out,
            "#include \"lab/kernels/published/%s_cuda.h\"\n"
            "extern \"C\" __global__ void __launch_bounds__(%u) query(const __grid_constant__ query_columns "
            "columns,\n"
            "    unsigned long long *out, uint32_t chunk_tiles, uint32_t tiles, uint64_t rows)\n"
            "{\n    %s<%s>(columns, out, chunk_tiles, tiles, rows);\n}\n",
            query, threads, query, type);
    return kernel_text_close(&text, source, error);
}
