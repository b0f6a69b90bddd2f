/*
 * place.h: where a run finds the chunks of its columns: kept in the GPU's memory; copied into a slot before their
 * segment is scanned; or read by the kernel from the host's memory, which moves only what it touches (late transfer,
 * transfer.h).
 *
 * All three are addresses in one list, struct bound_chunk for each column and segment, so kernels do not know. Where few
 * tiles are read, and whole columns are more than the GPU can keep, cuts of chunks are kept and copied (memory/ranges.h); the
 * list then has each range of tiles. If nothing is copied and no column is decoded into scratch memory, a run is one scan of all segments; else it is a
 * batch for each segment (batches.h), and consecutive segments take the slots in turn: one is filled while the one
 * before is scanned.
 */
#ifndef TESSERA_ENGINE_GPU_STREAM_PLACE_H
#define TESSERA_ENGINE_GPU_STREAM_PLACE_H

#include "engine/gpu/kernel.h"
#include "engine/gpu/memory/columns.h"
#include "engine/gpu/stream/transfer.h"

/* While two slots are scanned, two are being filled: the link does not wait for the end of a scan. Fewer if the GPU has
 * no room for them. */
#define PLACE_SLOTS_MAX 4u

enum chunk_place {
    CHUNK_KEPT,
    CHUNK_COPIED,
    CHUNK_READ,  /* by the kernel */
    CHUNK_UNUSED /* no tile of the segment is read */
};

struct cuda_place {
    enum late_transfer late;
    uint32_t column_count, segment_count;
    struct cuda_wish wishes[KERNEL_COLUMNS_MAX]; /* the columns, in the order of struct kernel */
    struct transfer transfers[KERNEL_COLUMNS_MAX];
    struct device_share share;  /* the segments that the run has */
    struct device_share needed; /* those of them that have tiles to read; in the same memory */
    uint32_t *segments;         /* that memory */
    double *kept_tiles;         /* the fraction of each segment's tiles that is read */
    struct cuda_ranges ranges;  /* of which columns are cut; none: no column is */

    uint8_t *places; /* enum chunk_place: of column c and segment s at c * segment_count + s */
    struct bound_chunk
        *chunks; /* the list: of column c and item i (segment or range) at c * list_count + i */
    uint32_t list_count;
    cuda_address list;
    struct cuda_column
        lists[KERNEL_COLUMNS_MAX]; /* what a kernel takes for each column: its part of the list */

    bool
        resident; /* the table's rows are in the GPU's memory: nothing is kept or copied (struct column_data) */
    uint64_t epoch; /* of the columns when the list was made; 0: not yet */
    bool all;       /* every chunk is kept */
    bool batched;   /* segments are scanned one by one */
    bool staged;    /* columns are decoded into a slot, by batches */
    uint64_t scratch_whole,
        *scratch_segment; /* bytes of a staged plan's scratch memory: of all and of each segment */
    cuda_address slots;
    uint64_t slot_bytes;
    uint32_t slot_count;
    uint64_t *slot_copied; /* where the scratch memory of a segment begins in its slot */
    uint64_t kept_bytes, copied_bytes, read_bytes; /* that a run finds, copies, and is expected to read */
    struct error unpinned; /* why chunks are copied through staging buffers; STATUS_OK: all are pinned */
};

/* Makes the lists of a run over the tiles of `skip`. `share`: its segments. Free with cuda_place_close, also after an
 * error. */
NODISCARD enum status cuda_place_open(struct cuda_columns *columns, const struct plan *plan,
                                      const struct kernel *kernel, const struct device_share *share,
                                      const struct tile_skip *skip, enum late_transfer late,
                                      struct cuda_place *place, struct error *error);
void cuda_place_close(struct cuda *cuda, struct cuda_columns *columns, struct cuda_place *place);

/* Frees the slots, which the next cuda_place_make makes again if it needs some. */
void cuda_place_free_slots(struct cuda *cuda, struct cuda_place *place);

/* Begins a run: keeps what pays, decides where all other chunks are, and uploads the list. *changed: it is another list
 * than before. Nothing may be allocated between this call and the run. */
NODISCARD enum status cuda_place_make(struct cuda *cuda, struct cuda_columns *columns,
                                      struct cuda_place *place, bool *changed, struct error *error);

/* Where a segment's slot begins. */
static inline cuda_address cuda_place_slot(const struct cuda_place *place, uint32_t slot)
{
    return place->slots + slot * place->slot_bytes;
}

/* The slot of each segment: the needed ones take turns. */
uint32_t cuda_place_slot_of(const struct cuda_place *place, uint32_t segment);

/* True if chunks of the column are copied. */
bool cuda_place_copies(const struct cuda_place *place, uint32_t column);

/* Uploads a list in which all chunks that are not kept are read from the host's memory, or the list itself again.
 * STATUS_MACHINE if some are not pinned. Called to count sectors, whose addresses must not be used twice. */
NODISCARD enum status cuda_place_read_all(struct cuda *cuda, struct cuda_columns *columns,
                                          struct cuda_place *place, bool all, struct error *error);

#endif
