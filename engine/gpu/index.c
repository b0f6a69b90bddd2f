/* index.c: see index.h. */
#include "engine/gpu/index.h"

#include "operators/index/index_launch.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* Of a thread block of flat vectors, each of whose warps has a tile at a time. */
#define FLAT_WARPS 8u

/* Four blocks of 256 threads a multiprocessor: 64 registers a thread; with 48 the packed vectors' step spills. */
const char cuda_index_source[] =
    "#define TILE_CUDA 1\n#include <stdint.h>\n#include \"operators/index/mask_cuda.h\"\n"
    "#define MASK(name, threads, call)                                   \\\n"
    "    extern \"C\" __global__ void __launch_bounds__ threads name(      \\\n"
    "        const __grid_constant__ bound_mask work)                    \\\n"
    "    {                                                               \\\n"
    "        call(work);                                                 \\\n"
    "    }\n"
    "MASK(mask_wah64, (256, 4), mask_of_wah<wah64_words>)\n"
    "MASK(mask_wah32, (256, 4), mask_of_wah<wah32_words>)\n"
    "MASK(mask_flat, (256), mask_of_flat)\n";

/* `halves`: the 32-bit words of a group in shared memory. */
static const struct {
    const char *kernel;
    uint32_t tiles, halves;
} formats[INDEX_FORMAT_COUNT] = {[INDEX_WAH64] = {"mask_wah64", INDEX_TILES_WAH64, 2},
                                 [INDEX_WAH32] = {"mask_wah32", INDEX_TILES_WAH32, 1},
                                 [INDEX_FLAT] = {"mask_flat", INDEX_TILES_FLAT, 0}};

_Static_assert(INDEX_TILES_WAH64 *TILE_ROWS == WAH_PIECE_ROWS &&
                   INDEX_TILES_WAH32 * TILE_ROWS == WAH32_PIECE_ROWS,
               "a piece is whole tiles");

static enum index_format format_of(const struct plan_index_term *term)
{
    return term->index->index->wish.format;
}

static uint32_t tiles_of(uint32_t rows)
{
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

/* ---- The vectors ---- */

static enum status upload_runs(struct cuda_columns *columns, const struct plan_index *plan,
                               struct cuda_index *index, struct error *error)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < plan->term_count; t++)
        count += plan->terms[t].run_count;
    RETURN_IF_ERROR(
        memory_zeros(&index->runs, (count + 1) * sizeof *index->runs, "a list of vectors", error));
    for (uint32_t t = 0; t < plan->term_count; t++)
        for (uint32_t r = 0; r < plan->terms[t].run_count; r++) {
            const struct plan_index_run *run = &plan->terms[t].runs[r];
            RETURN_IF_ERROR(cuda_columns_vectors(columns, plan->terms[t].index, run->first, run->count,
                                                 &index->runs[index->run_count], error));
            index->run_count++;
        }
    return STATUS_OK;
}

/* The lists of a pass, as struct bound_mask has them. */
struct lists {
    uint32_t *ends;
    struct bound_vector *vectors;
    uint64_t end_count, vector_count;
};

/* Appends what the pass's terms have in a segment. */
static void list_segment(const struct plan_index *plan, const struct cuda_index *index,
                         const struct index_pass *pass, uint32_t segment, struct lists *lists)
{
    const uint64_t first = lists->end_count;
    const struct cuda_column *const *run = index->runs;
    bool nothing = false;
    for (uint32_t t = 0; t < plan->term_count; run += plan->terms[t++].run_count) {
        const struct plan_index_term *term = &plan->terms[t];
        const uint64_t before = lists->vector_count;
        if (format_of(term) != pass->format)
            continue;
        for (uint32_t r = 0; r < term->run_count; r++)
            lists->vector_count +=
                cuda_vectors_bind(run[r], term->index, segment, term->runs[r].first, term->runs[r].count,
                                  lists->vectors + lists->vector_count);
        nothing |= lists->vector_count == before;
        lists->ends[lists->end_count++] = (uint32_t)lists->vector_count;
    }
    if (nothing) {
        lists->vector_count = lists->ends[first - 1];
        for (uint64_t e = first; e < lists->end_count; e++)
            lists->ends[e] = lists->ends[first - 1];
    }
}

static enum status upload_list(struct cuda *cuda, struct cuda_columns *columns, const void *list,
                               uint64_t bytes, const char *what, cuda_address *address, struct error *error)
{
    RETURN_IF_ERROR(cuda_columns_allocate(columns, bytes, what, address, error));
    return cuda_send(cuda, *address, list, bytes, error);
}

static enum status make_lists(struct cuda *cuda, struct cuda_columns *columns, const struct plan_index *plan,
                              const struct table *fact, struct cuda_index *index, struct index_pass *pass,
                              struct error *error)
{
    struct lists lists = {.end_count = 1};
    uint64_t vectors = 0;
    for (uint32_t t = 0; t < plan->term_count; t++)
        for (uint32_t r = 0; format_of(&plan->terms[t]) == pass->format && r < plan->terms[t].run_count; r++)
            vectors += plan->terms[t].runs[r].count;
    vectors *= fact->segment_count;
    if (vectors > UINT32_MAX)
        return error_set(
            error, STATUS_MACHINE,
            "the statement needs %llu vectors of bitmap indexes, and a GPU takes %u; give --index off",
            (unsigned long long)vectors, UINT32_MAX);
    enum status status =
        memory_take(&lists.ends, ((uint64_t)fact->segment_count * pass->bound.terms + 1) * sizeof *lists.ends,
                    "a list of vectors", error);
    if (status == STATUS_OK)
        status =
            memory_take(&lists.vectors, (vectors + 1) * sizeof *lists.vectors, "a list of vectors", error);
    if (status == STATUS_OK) {
        lists.ends[0] = 0;
        for (uint32_t s = 0; s < fact->segment_count; s++)
            list_segment(plan, index, pass, s, &lists);
        status = upload_list(cuda, columns, lists.ends, lists.end_count * sizeof *lists.ends,
                             "a list of vectors", &pass->ends, error);
    }
    status =
        AND_THEN(status, upload_list(cuda, columns, lists.vectors, lists.vector_count * sizeof *lists.vectors,
                                     "a list of vectors", &pass->vectors, error));
    free(lists.ends);
    free(lists.vectors);
    return status;
}

/* ---- Load ---- */

static enum status make_pass(struct cuda *cuda, struct cuda_columns *columns, const struct plan_index *plan,
                             const struct table *fact, enum index_format format, struct cuda_index *index,
                             struct error *error)
{
    struct index_pass *pass = &index->passes[index->pass_count];
    uint32_t terms = 0;
    for (uint32_t t = 0; t < plan->term_count; t++)
        terms += format_of(&plan->terms[t]) == format;
    if (!terms)
        return STATUS_OK;
    pass->format = format;
    pass->bound = (struct bound_mask){.mask = index->mask, .terms = terms, .refines = index->pass_count > 0};
    index->pass_count++;
    RETURN_IF_ERROR(
        cuda_module_function(cuda, index->module, formats[format].kernel, &pass->function, error));
    RETURN_IF_ERROR(make_lists(cuda, columns, plan, fact, index, pass, error));
    pass->bound.ends = pass->ends;
    pass->bound.vectors = pass->vectors;
    return STATUS_OK;
}

enum status cuda_index_load(struct cuda *cuda, struct cuda_columns *columns, const struct plan_index *plan,
                            const struct table *fact, struct cuda_index *index, struct error *error)
{
    uint64_t tiles = 0;
    for (uint32_t s = 0; s < fact->segment_count; s++)
        tiles += tiles_of(fact->segment_rows[s]);
    RETURN_IF_ERROR(cuda_module_load(cuda, index->binary.cubin, &index->module, error));
    kernel_binary_free(&index->binary);
    RETURN_IF_ERROR(upload_runs(columns, plan, index, error));
    RETURN_IF_ERROR(cuda_columns_allocate(columns, tiles * TILE_ROWS / 8, "the mask of the index terms",
                                          &index->mask, error));
    for (uint32_t format = 0; format < INDEX_FORMAT_COUNT; format++)
        RETURN_IF_ERROR(make_pass(cuda, columns, plan, fact, format, index, error));
    return STATUS_OK;
}

/* ---- Select and run ---- */

/* Lists the pieces that have tiles of `skip`, and returns their number. A scan's work item can have tiles between two
 * runs, but not so many that a whole piece is between them. */
static uint32_t list_pieces(const struct table *fact, const struct tile_skip *skip, uint32_t tiles,
                            struct bound_piece *pieces)
{
    uint64_t first_tile = 0;
    uint32_t count = 0, segment = 0;
    for (uint64_t r = 0; r < skip->run_count; r++) {
        const struct tile_run *run = &skip->runs[r];
        for (; segment < run->segment; segment++)
            first_tile += tiles_of(fact->segment_rows[segment]);
        const uint32_t all = tiles_of(fact->segment_rows[segment]);
        for (uint32_t p = run->first / tiles; p * tiles < run->first + run->tiles; p++) {
            const struct bound_piece *last = count ? &pieces[count - 1] : NULL;
            if (last && last->segment == segment && last->piece == p)
                continue;
            pieces[count++] =
                (struct bound_piece){.first_tile = first_tile + p * tiles,
                                     .segment = segment,
                                     .piece = p,
                                     .pieces = (all + tiles - 1) / tiles,
                                     .tiles = all - p * tiles < tiles ? all - p * tiles : tiles};
        }
    }
    return count;
}

static enum status select_pass(struct cuda *cuda, struct cuda_columns *columns, const struct table *fact,
                               const struct tile_skip *skip, struct index_pass *pass, struct error *error)
{
    const uint32_t tiles = formats[pass->format].tiles;
    uint64_t most = 0;
    struct bound_piece *pieces;
    for (uint64_t r = 0; r < skip->run_count; r++)
        most += skip->runs[r].tiles / tiles + 2;
    RETURN_IF_ERROR(memory_take(&pieces, (most + 1) * sizeof *pieces, "a list of pieces", error));
    cuda_free(cuda, pass->pieces);
    pass->pieces = 0;
    pass->blocks = list_pieces(fact, skip, tiles, pieces);
    pass->threads = 32 * (pass->format == INDEX_FLAT
                              ? FLAT_WARPS
                              : index_inline_warps(pass->blocks, cuda_properties(cuda)->multiprocessors));
    const enum status status = upload_list(cuda, columns, pieces, pass->blocks * sizeof *pieces,
                                           "a list of pieces", &pass->pieces, error);
    free(pieces);
    pass->bound.pieces = pass->pieces;
    return status;
}

enum status cuda_index_select(struct cuda *cuda, struct cuda_columns *columns, const struct table *fact,
                              const struct tile_skip *skip, struct cuda_index *index, struct error *error)
{
    for (uint32_t p = 0; p < index->pass_count; p++)
        RETURN_IF_ERROR(select_pass(cuda, columns, fact, skip, &index->passes[p], error));
    return STATUS_OK;
}

enum status cuda_index_run(struct cuda *cuda, struct cuda_index *index, struct error *error)
{
    for (uint32_t p = 0; p < index->pass_count; p++) {
        struct index_pass *pass = &index->passes[p];
        const uint64_t piece = (uint64_t)formats[pass->format].halves * WAH_PIECE_GROUPS * sizeof(uint32_t);
        void *arguments[] = {&pass->bound};
        if (pass->blocks)
            RETURN_IF_ERROR(cuda_launch(cuda, pass->function, pass->blocks, pass->threads,
                                        pass->bound.terms > 1 ? 2 * piece : piece, arguments, error));
    }
    return STATUS_OK;
}

void cuda_index_free(struct cuda *cuda, struct cuda_columns *columns, struct cuda_index *index)
{
    for (uint32_t r = 0; r < index->run_count; r++)
        cuda_columns_release(columns, index->runs[r]);
    for (uint32_t p = 0; p < index->pass_count; p++) {
        cuda_free(cuda, index->passes[p].ends);
        cuda_free(cuda, index->passes[p].vectors);
        cuda_free(cuda, index->passes[p].pieces);
    }
    cuda_free(cuda, index->mask);
    cuda_module_unload(cuda, index->module);
    kernel_binary_free(&index->binary);
    free(index->runs);
    *index = (struct cuda_index){0};
}
