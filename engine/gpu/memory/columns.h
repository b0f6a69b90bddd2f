/*
 * columns.h: what a GPU's memory keeps between statements: encoded chunks of columns, or the ranges of tiles that a statement
 * reads of them (ranges.h), arrays of dimensions, lists of the
 * tiles of whole tables, and vectors of bitmap indexes. They are uploaded once and shared by all statements.
 *
 * They and what statements need for themselves (states, bitmaps, lists, slots for streaming) are from one pool and under
 * one budget; statements come first, and have at least STATEMENTS_LEAST. If everything fits, all chunks that statements
 * read stay. Else those stay that save most, and the others are streamed or read from the host's memory in every run
 * (engine/gpu/stream/). Columns are identified by their addresses, so a database must stay open as long as the engine that
 * reads it, or until cuda_columns_follow.
 *
 * Any thread may call these functions; they take turns. A run holds its columns while kernels read them: they stay where
 * they are, and a run that needs their memory waits. So a run that holds columns must not wait for others itself: it
 * allocates nothing but by cuda_columns_allocate_now. What a prepared statement has between its runs, struct cuda_tenant,
 * gives way before columns do.
 */
#ifndef TESSERA_ENGINE_GPU_MEMORY_COLUMNS_H
#define TESSERA_ENGINE_GPU_MEMORY_COLUMNS_H

#include "engine/cuda/cuda.h"
#include "engine/gpu/memory/ranges.h"
#include "engine/plan/plan.h"
#include "engine/run/device.h"
#include "operators/dialect/bound.h"
#include "operators/index/index_arguments.h"

struct cuda_columns;

#define CHUNK_ELSEWHERE UINT64_MAX

/* The memory that statements may have however small the budget is: with less they could only fail, and not be slower. It is
 * a table of groups, or the slots of a segment of many plain columns. */
#define STATEMENTS_LEAST (UINT64_C(4) << 30)

struct cuda_column {
    cuda_address address; /* the chunks, the array's values, or the vectors */
    cuda_address valid;   /* of an array: plan_array.valid, or 0 */
    uint64_t bytes;

    /* Of vectors: which ones of the index. Of chunks: 0, and the number of segments. */
    uint32_t first, count;
    /* Of both: each segment's offset from `address`; CHUNK_ELSEWHERE: the chunk is not kept. */
    const uint64_t *segments;
};

/* `budget`: the most bytes of all; UINT64_MAX: as many as are free, less a reserve. Uploads take place on `cuda`. */
NODISCARD enum status cuda_columns_create(struct cuda *cuda, uint64_t budget, struct cuda_columns **columns,
                                          struct error *error);
void cuda_columns_destroy(struct cuda_columns *columns);
/* The most bytes that statements may have: the budget, or STATEMENTS_LEAST. */
uint64_t cuda_columns_most(const struct cuda_columns *columns);

/* Keeps chunks of columns of `from` as those of the same columns of `to`, where a segment's files are the same; all else is
 * freed. Both databases are open, and no statement over `from` is left. A column of `to` that cannot be opened (by `threads`
 * threads) is not kept: the next statement says why. */
void cuda_columns_follow(struct cuda_columns *columns, struct database *from, struct database *to,
                         unsigned threads);

/* A prepared statement. It is busy in a call that uses the GPU. */
struct cuda_tenant {
    /* Frees what the statement's next run can make again; false if it has nothing. Called while it is not busy, with
     * the lock. */
    bool (*give_way)(struct cuda_tenant *tenant);
    bool busy, listed;
    struct cuda_tenant *before, *after; /* in the list, where those that were busy last are first */
};
void cuda_columns_enter(struct cuda_columns *columns, struct cuda_tenant *tenant);
void cuda_columns_leave(struct cuda_columns *columns, struct cuda_tenant *tenant);
/* Before it is freed; one that has never been busy is legal. */
void cuda_columns_forget(struct cuda_columns *columns, struct cuda_tenant *tenant);

/* Pieces of an allocation begin at multiples of so many bytes, as allocations do. */
#define PIECE_ALIGNMENT 256u

static inline uint64_t cuda_aligned(uint64_t bytes)
{
    return (bytes + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
}

/* As cuda_allocate; but if the GPU's memory or the budget is full, what statements have that are not busy is freed, then
 * columns that no run holds, and then busy statements are waited for, unless they all wait themselves. Whoever has
 * placed chunks must then place them again (cuda_columns_epoch). All memory of statements is allocated by this function,
 * or by cuda_columns_allocate_now, which waits for nobody. Free with cuda_free. */
NODISCARD enum status cuda_columns_allocate(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                            cuda_address *address, struct error *error);
NODISCARD enum status cuda_columns_allocate_now(struct cuda_columns *columns, uint64_t bytes,
                                                const char *what, cuda_address *address, struct error *error);

/* Between these two calls no other thread's call takes effect, but while cuda_columns_allocate waits for a run. */
void cuda_columns_lock(struct cuda_columns *columns);
void cuda_columns_unlock(struct cuda_columns *columns);

/* ---- Chunks (chunks.c) ---- */

/* The bytes of host memory of a chunk: itself, and its validity words if it has any; each with its place relative to
 * the chunk's on the GPU. Returns 1 or 2. */
uint32_t cuda_chunk_pieces(const struct segment_data *segment, struct cuda_piece pieces[2]);

/* The bytes of memory that both take on the GPU. */
uint64_t cuda_chunk_bytes(const struct segment_data *segment);

/* What a kernel gets for a chunk and validity words at these addresses. */
struct bound_chunk cuda_chunk_bind(const struct segment_data *segment, cuda_address chunk,
                                   cuda_address validity);

/* The bytes of memory for a list of struct bound_chunk and then all chunks and validity words, and their upload to such
 * memory. For callers that own the memory and keep the chunks themselves. */
uint64_t cuda_chunks_bytes(const struct column_data *data);
NODISCARD enum status cuda_chunks_upload(struct cuda *cuda, const struct column_data *data,
                                         cuda_address address, struct error *error);

/* A column that a statement reads in one encoding: its chunks, or cuts of them. */
#define CUDA_WISHES_MAX 96u
struct cuda_wish {
    const struct column_data *data;
    double saves; /* the bytes that a run need not move for each byte that is kept, 0 .. 1 */

    /* Set by the next functions. */
    const struct cuda_ranges *ranges; /* NULL: whole chunks */
    uint64_t *cut_bytes;              /* of each segment; NULL: whole chunks */
    const struct cuda_column *column; /* what is kept of the chunks, or of the cuts */
    const struct cuda_column *whole;  /* of the chunks, and where they are pinned */
};

/* Lists the columns for a statement that reads chunks in `share`; nothing is kept yet. End with cuda_columns_close, also after
 * an error. */
NODISCARD enum status cuda_columns_open(struct cuda_columns *columns, struct cuda_wish *wishes,
                                        uint32_t count, const struct device_share *share,
                                        struct error *error);
void cuda_columns_close(struct cuda_columns *columns, struct cuda_wish *wishes, uint32_t count);

/* Whether the columns of all statements that were listed, whole, are more than can be kept. */
bool cuda_columns_are_many(struct cuda_columns *columns);

/* Lets the statement keep cuts with these ranges, which must stay, of the columns that can be cut, and no whole chunks. Statements
 * with the same ranges share them. */
NODISCARD enum status cuda_columns_cut(struct cuda_columns *columns, struct cuda_wish *wishes, uint32_t count,
                                       const struct cuda_ranges *ranges, struct error *error);

/* The bytes that a segment takes on the GPU: its chunk, or the cut of it. */
uint64_t cuda_wish_bytes(const struct cuda_wish *wish, uint32_t segment);

/* The next four are called between cuda_columns_lock and cuda_columns_unlock. This one begins a run that reads these
 * columns: they count as used once more, and until the next run they are the last to give way. */
void cuda_columns_use(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count);

/* Keeps all chunks (cuts) of the columns in the segments of `share`, if they and `scratch` bytes more fit; *all says so. It waits
 * for runs that hold columns of which more are to be kept. */
NODISCARD enum status cuda_columns_keep(struct cuda_columns *columns, const struct cuda_wish *wishes,
                                        uint32_t count, const struct device_share *share, uint64_t scratch,
                                        bool *all, struct error *error);
/* Whether the budget has room for them and `scratch` bytes, if nothing else had any of it. */
bool cuda_columns_may_keep(const struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count,
                           const struct device_share *share, uint64_t scratch);
/* Keeps of the chunks in these segments as many as fit, first those that save most. */
NODISCARD enum status cuda_columns_keep_some(struct cuda_columns *columns, const struct cuda_wish *wishes,
                                             uint32_t count, const struct device_share *needed,
                                             struct error *error);

/* The columns of a run stay where they are until it lets them go, after its kernels have ended. */
void cuda_columns_hold(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count);
void cuda_columns_let_go(struct cuda_columns *columns, const struct cuda_wish *wishes, uint32_t count);

/* Changes whenever chunks have come or gone: then their addresses must be asked for again. */
uint64_t cuda_columns_epoch(const struct cuda_columns *columns);

/* Gives the addresses at which kernels read a chunk and its validity words in the host's memory; the files are pinned
 * until cuda_columns_destroy. STATUS_MACHINE, with the reason, if they cannot be. */
NODISCARD enum status cuda_columns_pin(struct cuda_columns *columns, const struct cuda_wish *wish,
                                       uint32_t segment, cuda_address *chunk, cuda_address *validity,
                                       struct error *error);

/* Gives the pinned file that has the column's chunks; false: nothing of it is pinned. */
bool cuda_columns_pinned(const struct cuda_wish *wish, cuda_address *address, uint64_t *bytes);

/* ---- Arrays, lists of work and vectors ---- */

/* Gives the array of a dimension's column, which the database keeps if it is composed, with its bits of NULLs. Release
 * with cuda_columns_release. */
NODISCARD enum status cuda_columns_array(struct cuda_columns *columns, const struct plan_array *array,
                                         const struct cuda_column **column, struct error *error);

/* The items of work that a segment of so many rows is. */
static inline uint32_t cuda_work_items(uint32_t rows)
{
    return (rows + WORK_TILES * TILE_ROWS - 1) / (WORK_TILES * TILE_ROWS);
}

/* Gives the list of work (bound.h) of a scan of all tiles of a table. Release with cuda_columns_release. */
NODISCARD enum status cuda_columns_work(struct cuda_columns *columns, const struct table *fact,
                                        const struct cuda_column **column, struct error *error);

/* Gives vectors first .. first + count - 1 of an index, perhaps with vectors around them. Release with
 * cuda_columns_release. */
NODISCARD enum status cuda_columns_vectors(struct cuda_columns *columns, const struct index_data *index,
                                           uint32_t first, uint32_t count, const struct cuda_column **column,
                                           struct error *error);

/* Writes those of the vectors first .. first + count - 1 that have rows in the segment, and returns their number. */
uint32_t cuda_vectors_bind(const struct cuda_column *column, const struct index_data *index, uint32_t segment,
                           uint32_t first, uint32_t count, struct bound_vector *vectors);

/* Ends a use of a column; NULL is legal. */
void cuda_columns_release(struct cuda_columns *columns, const struct cuda_column *column);

#endif
