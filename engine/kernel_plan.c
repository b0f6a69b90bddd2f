/* kernel_plan.c: see kernel_plan.h. */
#include "engine/kernel_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More slots than this are summed in global memory: 12 bytes a slot, 72 KB at the most. */
#define SHARED_SLOTS_MAX 6144u

/* CUDA keeps this much of a multiprocessor's shared memory for itself, per block. */
#define RESERVED_SHARED_BYTES 1024u

/* Threads of a multiprocessor that a kernel is compiled for: 65,536 registers then allow 64 a thread, enough
 * to hold a tile's packed words (docs/performance.md). */
#define THREADS_WANTED 1024u

/* Packed words a thread of the columns that filter, loaded at once (operators/tile_cuda.h): what 64 registers
 * leave. */
#define PRELOAD_WORDS_MAX 40u

/* What decode_cuda.h says of a decoder: SCRATCH_BYTES and RANDOM_ACCESS. */
static uint32_t scratch_bytes(enum codec_id codec)
{
    return codec == CODEC_RANK_RLE ? 256 : codec == CODEC_GPU_RFOR ? 128 : 0;
}

static uint32_t column_staging(const struct fact_column *column)
{
    bool staged = column->fetched && !column->data->codec->random_access;
    return scratch_bytes(column->data->codec->id) + (staged ? TILE_ROWS * (uint32_t)sizeof(uint32_t) : 0);
}

/* ---- Shared memory ---- */

static enum status shared_plan(const struct bound_query *bound, uint64_t limit, uint64_t total,
                               uint32_t threads_limit, struct kernel_plan *plan, struct error *error)
{
    for (uint32_t c = 0; c < bound->column_count; c++) {
        plan->staging[c] = plan->staging_bytes;
        plan->staging_bytes += column_staging(&bound->columns[c]);
    }
    uint64_t used = 0;
    plan->sums = bound->group_count == 0            ? SUMS_SINGLE
                 : bound->slots <= SHARED_SLOTS_MAX ? SUMS_SHARED
                                                    : SUMS_GLOBAL;
    if (plan->sums == SUMS_SHARED)
        used = ((uint64_t)bound->slots * 12 + 15) / 16 * 16;
    plan->sums_offset = 0;

    /* Small bitmaps first: each one that fits saves a trip to L2 per row; staging for 8 warps must remain. */
    uint64_t staging_least = (uint64_t)plan->staging_bytes * WORK_TILES;
    bool placed[TILE_DIMENSIONS_MAX] = {false};
    for (uint32_t turn = 0; turn < bound->join_count; turn++) {
        uint32_t least = bound->join_count;
        for (uint32_t j = 0; j < bound->join_count; j++)
            if (!placed[j] && bound->joins[j].predicate_count &&
                (least == bound->join_count || bound->joins[j].table->rows < bound->joins[least].table->rows))
                least = j;
        if (least == bound->join_count)
            break;
        placed[least] = true;
        uint64_t words = bound->joins[least].table->rows / 32 + 1;
        plan->bitmap_words[least] = (uint32_t)words;
        uint64_t bytes = (words * sizeof(uint32_t) + 15) / 16 * 16;
        if (used + bytes + staging_least > limit)
            continue;
        plan->bitmap_shared[least] = true;
        plan->bitmap_offset[least] = (uint32_t)used;
        used += bytes;
    }
    if (used + staging_least > limit)
        return error_set(error, STATUS_MACHINE,
                         "query %s needs %llu bytes of shared memory a block, this GPU has %llu; use a codec "
                         "with random access",
                         bound->query->name, (unsigned long long)(used + staging_least),
                         (unsigned long long)limit);
    plan->staging_offset = (uint32_t)used;

    /* As many threads as the multiprocessor should hold, in blocks as small as the copies of `used` allow. */
    uint32_t wanted = threads_limit < THREADS_WANTED ? threads_limit : THREADS_WANTED;
    for (plan->threads = 256; plan->threads < wanted; plan->threads *= 2) {
        uint64_t block = used + (uint64_t)plan->staging_bytes * (plan->threads / 32) + RESERVED_SHARED_BYTES;
        if (block * (wanted / plan->threads) <= total && used <= total / 16)
            break;
    }
    while (plan->threads > 256 && used + (uint64_t)plan->staging_bytes * (plan->threads / 32) > limit)
        plan->threads /= 2;
    plan->shared_bytes = used + (uint64_t)plan->staging_bytes * (plan->threads / 32);
    uint64_t blocks = total / (plan->shared_bytes + RESERVED_SHARED_BYTES);
    if (blocks > wanted / plan->threads)
        blocks = wanted / plan->threads;
    plan->blocks_per_multiprocessor = blocks ? (uint32_t)blocks : 1;
    return STATUS_OK;
}

/* Filters first, then joins in the query's order, as long as registers last. Codecs whose decoders read
 * memory as they go have nothing to preload. */
static void preload_plan(const struct bound_query *bound, struct kernel_plan *plan)
{
    uint32_t words = 0;
    for (uint32_t c = 0; c < bound->column_count; c++) {
        const struct fact_column *column = &bound->columns[c];
        bool filters = column->filtered;
        for (uint32_t j = 0; j < bound->join_count; j++)
            filters |= bound->joins[j].column == c && bound->joins[j].predicate_count;
        uint32_t own = column->data->codec->id == CODEC_PLAIN      ? 32
                       : column->data->codec->id == CODEC_LANE_FOR ? column->width_high
                                                                   : 0;
        if (!filters || own == 0 || words + own > PRELOAD_WORDS_MAX)
            continue;
        plan->preload[c] = true;
        words += own;
    }
}

/* ---- Source text ---- */

static const char *unsigned_type(uint32_t bytes)
{
    return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : "unsigned int";
}

static void write_decoder(FILE *out, const struct fact_column *column)
{
    switch (column->data->codec->id) {
    case CODEC_NSF:
        if (column->width_low == column->width_high)
            fprintf(out, "decode_nsf<%s>", unsigned_type(column->width_high / 8));
        else
            fputs("decode_nsf_mixed", out);
        return;
    case CODEC_LANE_FOR:
        fprintf(out, "decode_lane_for<%u, %u>", column->width_low, column->width_high);
        return;
    case CODEC_LANE_DELTA:
        fputs("decode_lane_delta", out);
        return;
    case CODEC_RANK_RLE:
        fputs("decode_rank_rle", out);
        return;
    case CODEC_GPU_FOR:
        fputs("decode_gpu_for", out);
        return;
    case CODEC_GPU_DFOR:
        fputs("decode_gpu_dfor", out);
        return;
    case CODEC_GPU_RFOR:
        fputs("decode_gpu_rfor", out);
        return;
    default:
        fputs("decode_plain", out);
    }
}

static void write_column(FILE *out, const struct bound_query *bound, const struct kernel_plan *plan,
                         uint32_t place)
{
    for (uint32_t c = 0; c < bound->column_count; c++)
        if (bound->columns[c].place == place) {
            const struct fact_column *column = &bound->columns[c];
            fputs("typedef tile_column<", out);
            write_decoder(out, column);
            fprintf(out, ", %s, %s, %s>", plan->preload[c] ? "true" : "false",
                    column->fetched ? "true" : "false", column->nullable ? "true" : "false");
            return;
        }
    fputs("typedef tile_absent", out);
}

static void write_dimension(FILE *out, const struct bound_query *bound, const struct kernel_plan *plan,
                            uint32_t place)
{
    for (uint32_t j = 0; j < bound->join_count; j++)
        if (bound->joins[j].place == place) {
            const struct dimension_join *join = &bound->joins[j];
            fprintf(out, "typedef tile_dimension<%s, %s>",
                    !plan->bitmap_words[j]   ? "TILE_BITMAP_NONE"
                    : plan->bitmap_shared[j] ? "TILE_BITMAP_SHARED"
                                             : "TILE_BITMAP_GLOBAL",
                    unsigned_type(join->code < 0 ? 4 : bound->attributes[join->code].value_bytes));
            return;
        }
    fputs("typedef tile_absent", out);
}

static enum status source_write(const struct bound_query *bound, struct kernel_plan *plan,
                                struct error *error)
{
    static const char *const sums_types[] = {"tile_sums_single", "tile_sums_shared", "tile_sums_global"};
    const struct tile_layout *layout = bound->query->layout;
    size_t bytes = 0;
    FILE *out = open_memstream(&plan->source, &bytes);
    if (!out)
        return error_out_of_memory(error, 4096, "a kernel's source");
    fprintf(out,
            "#define TILE_CUDA 1\n#define TILE_THREADS %u\n#define TILE_BLOCKS %u\n"
            "#include <stdint.h>\n#include \"operators/tile.h\"\n",
            plan->threads, plan->blocks_per_multiprocessor);
    for (uint32_t i = 0; i < bound->layout_columns; i++) {
        write_column(out, bound, plan, i);
        fprintf(out, " %s_TYPE;\n", layout->column_names[i]);
    }
    for (uint32_t i = 0; i < bound->layout_dimensions; i++) {
        write_dimension(out, bound, plan, i);
        fprintf(out, " %s_TYPE;\n", layout->dimension_names[i]);
    }
    fprintf(out, "typedef %s sums_TYPE;\n#include \"%s\"\n#include \"operators/scan_cuda.h\"\n",
            sums_types[plan->sums], bound->query->source);
    if (fclose(out) != 0)
        return error_out_of_memory(error, 4096, "a kernel's source");
    return STATUS_OK;
}

enum status kernel_plan_make(const struct bound_query *bound, uint64_t shared_limit, uint64_t shared_total,
                             uint32_t threads_limit, struct kernel_plan *plan, struct error *error)
{
    *plan = (struct kernel_plan){0};
    RETURN_IF_ERROR(shared_plan(bound, shared_limit, shared_total, threads_limit, plan, error));
    preload_plan(bound, plan);
    enum status status = source_write(bound, plan, error);
    if (status != STATUS_OK)
        kernel_plan_free(plan);
    return status;
}

void kernel_plan_free(struct kernel_plan *plan)
{
    free(plan->source);
    plan->source = NULL;
}
