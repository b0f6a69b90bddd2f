/* place.c: see place.h. */
#include "engine/gpu/stream/place.h"

#include "engine/gpu/decode.h"
#include "engine/gpu/kernel_decoder.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t at(const struct cuda_place *place, uint32_t column, uint32_t segment)
{
    return (uint64_t)column * place->segment_count + segment;
}

/* The column's first entry of the list that is of the segment, and how many there are. */
static struct bound_chunk *chunks_of(const struct cuda_place *place, uint32_t column, uint32_t segment,
                                     uint32_t *count)
{
    const uint32_t *const ranges = place->ranges.of_segment, first = ranges ? ranges[segment] : segment;
    *count = ranges ? ranges[segment + 1] - first : 1;
    return place->chunks + (uint64_t)column * place->list_count + first;
}

static const struct segment_data *segment_of(const struct cuda_place *place, uint32_t column,
                                             uint32_t segment)
{
    return &place->wishes[column].data->segments[segment];
}

/* ---- Open ---- */

static enum status list_segments(const struct table *fact, const struct device_share *share,
                                 const struct tile_skip *skip, struct cuda_place *place, struct error *error)
{
    const uint32_t count = share ? share->count : fact->segment_count;
    RETURN_IF_ERROR(memory_zeros(&place->segments, (count + (uint64_t)place->segment_count + 1) * 4,
                                 "a list of segments", error));
    RETURN_IF_ERROR(memory_zeros(&place->kept_tiles, (place->segment_count + 1ull) * sizeof(double),
                                 "a list of segments", error));
    uint32_t *needed = place->segments + count;
    for (uint32_t i = 0; i < count; i++)
        place->segments[i] = share ? share->segments[i] : i;
    place->share = (struct device_share){.segments = place->segments, .count = count};
    place->needed.segments = needed;
    for (uint64_t r = 0; r < skip->run_count; r++) {
        const uint32_t s = skip->runs[r].segment, tiles = (fact->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS;
        if (place->needed.count == 0 || needed[place->needed.count - 1] != s)
            needed[place->needed.count++] = s;
        place->kept_tiles[s] += (double)skip->runs[r].tiles / tiles;
    }
    return STATUS_OK;
}

/* The scratch memory for columns that are decoded before the scan. */
static enum status find_scratch(const struct plan *plan, const struct kernel *kernel,
                                struct cuda_place *place, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(&place->scratch_segment, (place->segment_count + 1ull) * sizeof(uint64_t),
                                 "a list of segments", error));
    for (uint32_t c = 0; c < place->column_count; c++) {
        if (!plan_stages(plan, kernel->columns[c], true))
            continue;
        place->staged = true;
        for (uint32_t s = 0; s < place->segment_count; s++) {
            const uint64_t bytes = plan_staged_bytes(plan, kernel->columns[c], s);
            place->scratch_segment[s] += bytes;
            place->scratch_whole += bytes;
        }
    }
    return STATUS_OK;
}

/* Cuts are kept where a run reads at most one of so many tiles. */
#define CUT_TILES_PART 2u

static bool reads_few_tiles(const struct cuda_place *place, const struct table *fact,
                            const struct tile_skip *skip)
{
    uint64_t tiles = 0;
    for (uint32_t i = 0; i < place->share.count; i++)
        tiles += (fact->segment_rows[place->share.segments[i]] + TILE_ROWS - 1) / TILE_ROWS;
    return skip->kept_tiles * CUT_TILES_PART <= tiles;
}

/* Lists the columns with what keeps their chunks. They are cut if few tiles are read, and there is no room for whole ones. */
static enum status list_columns(struct cuda_columns *columns, const struct plan *plan,
                                const struct tile_skip *skip, struct cuda_place *place, struct error *error)
{
    if (place->resident)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_columns_open(columns, place->wishes, place->column_count, &place->share, error));
    if (place->staged || !reads_few_tiles(place, plan->fact, skip) || !cuda_columns_are_many(columns))
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_ranges_make(plan->fact, skip, &place->ranges, error));
    return cuda_columns_cut(columns, place->wishes, place->column_count, &place->ranges, error);
}

enum status cuda_place_open(struct cuda_columns *columns, const struct plan *plan,
                            const struct kernel *kernel, const struct device_share *share,
                            const struct tile_skip *skip, enum late_transfer late, struct cuda_place *place,
                            struct error *error)
{
    const uint64_t segments = place->segment_count = plan->fact->segment_count;
    place->late = late;
    place->resident = table_is_resident(plan->fact);
    place->column_count = kernel->shape.column_count;
    RETURN_IF_ERROR(list_segments(plan->fact, share, skip, place, error));
    RETURN_IF_ERROR(find_scratch(plan, kernel, place, error));
    for (uint32_t c = 0; c < place->column_count; c++) {
        const struct transfer transfer = transfer_estimate(plan, kernel, c);
        place->transfers[c] = transfer;
        place->wishes[c] =
            (struct cuda_wish){.data = plan->columns[kernel->columns[c]].data,
                               .saves = late != LATE_OFF && transfer.lasts < 1 ? transfer.share : 1};
    }
    RETURN_IF_ERROR(list_columns(columns, plan, skip, place, error));
    place->list_count = place->ranges.count ? place->ranges.count : place->segment_count;
    const uint64_t entries = (uint64_t)place->column_count * place->list_count;
    RETURN_IF_ERROR(
        memory_zeros(&place->places, place->column_count * segments + 1, "a list of chunks", error));
    RETURN_IF_ERROR(
        memory_zeros(&place->chunks, (entries + 1) * sizeof *place->chunks, "a list of chunks", error));
    RETURN_IF_ERROR(memory_zeros(&place->slot_copied, (segments + 1) * sizeof *place->slot_copied,
                                 "a list of chunks", error));
    RETURN_IF_ERROR(cuda_columns_allocate(columns, entries * sizeof *place->chunks, "a list of chunks",
                                          &place->list, error));
    for (uint32_t c = 0; c < place->column_count; c++)
        place->lists[c] = (struct cuda_column){.address = place->list + (uint64_t)c * place->list_count *
                                                                            sizeof *place->chunks,
                                               .bytes = place->list_count * sizeof *place->chunks,
                                               .count = place->list_count};
    return STATUS_OK;
}

void cuda_place_free_slots(struct cuda *cuda, struct cuda_place *place)
{
    cuda_free(cuda, place->slots);
    if (place->slots)
        place->epoch = 0;
    place->slots = 0;
}

void cuda_place_close(struct cuda *cuda, struct cuda_columns *columns, struct cuda_place *place)
{
    cuda_columns_close(columns, place->wishes, place->column_count);
    cuda_ranges_free(&place->ranges);
    cuda_free(cuda, place->list);
    cuda_place_free_slots(cuda, place);
    free(place->segments);
    free(place->kept_tiles);
    free(place->scratch_segment);
    free(place->places);
    free(place->chunks);
    free(place->slot_copied);
    *place = (struct cuda_place){0};
}

/* ---- Decide ---- */

/* A kernel reads the chunk where it lies if that takes less time than a copy of it. A copy has all tiles. */
static bool reads(const struct cuda_place *place, uint32_t column, uint32_t segment)
{
    return place->late == LATE_ON ||
           (place->late == LATE_AUTO && place->transfers[column].lasts * place->kept_tiles[segment] < 1);
}

/* Lists a chunk that is whole at these addresses, for all ranges of its segment. */
static void list_whole(struct cuda_place *place, uint32_t column, uint32_t segment, cuda_address chunk,
                       cuda_address validity)
{
    uint32_t count;
    struct bound_chunk *const chunks = chunks_of(place, column, segment, &count);
    for (uint32_t i = 0; i < count; i++)
        chunks[i] = cuda_chunk_bind(segment_of(place, column, segment), chunk, validity);
}

/* Lists what is kept or copied of a segment: a chunk, or a cut. */
static void list_wish(struct cuda_place *place, uint32_t column, uint32_t segment, cuda_address address)
{
    const struct cuda_wish *wish = &place->wishes[column];
    struct cuda_piece pieces[2];
    uint32_t count;
    if (wish->ranges) {
        cuda_cut_bind(segment_of(place, column, segment), wish->ranges, segment, address,
                      chunks_of(place, column, segment, &count));
        return;
    }
    cuda_chunk_pieces(segment_of(place, column, segment), pieces);
    list_whole(place, column, segment, address, address + pieces[1].offset);
}

static void decide_chunk(struct cuda_columns *columns, struct cuda_place *place, uint32_t column,
                         uint32_t segment)
{
    const struct cuda_wish *wish = &place->wishes[column];
    uint8_t *to = &place->places[at(place, column, segment)];
    cuda_address address, validity;
    if (wish->column->segments[segment] != CHUNK_ELSEWHERE) {
        list_wish(place, column, segment, wish->column->address + wish->column->segments[segment]);
        *to = CHUNK_KEPT;
        place->kept_bytes +=
            wish->ranges ? cuda_wish_bytes(wish, segment) : segment_of(place, column, segment)->chunk.size;
        return;
    }
    const bool pinned = !place->unpinned.status && cuda_columns_pin(columns, wish, segment, &address,
                                                                    &validity, &place->unpinned) == STATUS_OK;
    if (pinned && reads(place, column, segment)) {
        list_whole(place, column, segment, address, validity);
        *to = CHUNK_READ;
        place->read_bytes += (uint64_t)((double)segment_of(place, column, segment)->chunk.size *
                                        place->transfers[column].share * place->kept_tiles[segment]);
        return;
    }
    *to = CHUNK_COPIED;
    place->copied_bytes += cuda_wish_bytes(wish, segment);
    place->batched = true;
}

/* Decides where the chunks are. */
static void decide(struct cuda_columns *columns, struct cuda_place *place)
{
    place->kept_bytes = place->copied_bytes = place->read_bytes = 0;
    place->batched = false;
    place->unpinned = (struct error){0};
    memset(place->places, CHUNK_UNUSED, (uint64_t)place->column_count * place->segment_count);
    for (uint32_t c = 0; c < place->column_count; c++)
        for (uint32_t i = 0; i < place->needed.count; i++)
            decide_chunk(columns, place, c, place->needed.segments[i]);
    place->batched |= place->staged && !place->all;
}

bool cuda_place_copies(const struct cuda_place *place, uint32_t column)
{
    return memchr(place->places + at(place, column, 0), CHUNK_COPIED, place->segment_count) != NULL;
}

/* ---- Slots ---- */

uint32_t cuda_place_slot_of(const struct cuda_place *place, uint32_t segment)
{
    uint32_t low = 0, high = place->needed.count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (place->needed.segments[middle] < segment)
            low = middle + 1;
        else
            high = middle;
    }
    return low % place->slot_count;
}

/* The bytes of the largest segment, if all of its chunks that are not kept were copied. */
static uint64_t largest(const struct cuda_place *place)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < place->needed.count; i++) {
        const uint32_t s = place->needed.segments[i];
        uint64_t bytes = place->scratch_segment[s];
        for (uint32_t c = 0; c < place->column_count; c++)
            bytes += place->wishes[c].column->segments[s] == CHUNK_ELSEWHERE
                         ? cuda_wish_bytes(&place->wishes[c], s)
                         : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static enum status make_slots(struct cuda_columns *columns, struct cuda *cuda, struct cuda_place *place,
                              uint64_t bytes, struct error *error)
{
    if (place->slots && place->slot_bytes >= bytes)
        return STATUS_OK;
    cuda_free(cuda, place->slots);
    place->slots = 0;
    place->slot_bytes = bytes;
    for (place->slot_count = PLACE_SLOTS_MAX; place->slot_count > 1; place->slot_count--)
        if (cuda_columns_allocate(columns, place->slot_count * bytes, "slots", &place->slots, NULL) ==
            STATUS_OK)
            return STATUS_OK;
    return cuda_columns_allocate(columns, bytes, "a segment of the statement's columns", &place->slots,
                                 error);
}

/* Lists the chunks that are copied at their places in the slots. */
static void fill_slots(struct cuda_place *place)
{
    for (uint32_t i = 0; i < place->needed.count; i++) {
        const uint32_t s = place->needed.segments[i];
        cuda_address next = cuda_place_slot(place, i % place->slot_count);
        for (uint32_t c = 0; c < place->column_count; c++) {
            if (place->places[at(place, c, s)] != CHUNK_COPIED)
                continue;
            list_wish(place, c, s, next);
            next += cuda_wish_bytes(&place->wishes[c], s);
        }
        place->slot_copied[s] = next - cuda_place_slot(place, i % place->slot_count);
    }
}

static enum status upload_list(struct cuda *cuda, const struct cuda_place *place, struct error *error)
{
    return cuda_send(cuda, place->list, place->chunks,
                     (uint64_t)place->column_count * place->list_count * sizeof *place->chunks, error);
}

/* ---- Make ---- */

/* Lists chunks that the GPU has made. */
static enum status list_resident(struct cuda *cuda, const struct cuda_place *place, struct error *error)
{
    for (uint32_t c = 0; c < place->column_count; c++) {
        const struct column_data *const data = place->wishes[c].data;
        uint64_t first = 0; /* of the segment's rows */
        for (uint32_t s = 0; s < place->segment_count; s++) {
            place->chunks[at(place, c, s)] = (struct bound_chunk){
                .data = data->resident + first * data->column->value_bytes,
                .validity = data->resident_validity ? data->resident_validity + first / 8 : 0};
            first += data->segments[s].chunk.rows;
        }
    }
    return upload_list(cuda, place, error);
}

enum status cuda_place_make(struct cuda *cuda, struct cuda_columns *columns, struct cuda_place *place,
                            bool *changed, struct error *error)
{
    *changed = false;
    if (place->resident) {
        if (!place->all)
            RETURN_IF_ERROR(list_resident(cuda, place, error));
        place->all = true;
        place->epoch = cuda_columns_epoch(columns);
        return STATUS_OK;
    }
    const struct device_share *const share = place->ranges.count ? &place->needed : &place->share;
    cuda_columns_use(columns, place->wishes, place->column_count);
    if (place->epoch == cuda_columns_epoch(columns) && place->all)
        return STATUS_OK;
    if (place->slots &&
        cuda_columns_may_keep(columns, place->wishes, place->column_count, share, place->scratch_whole))
        cuda_place_free_slots(cuda, place); /* columns that are kept in their place need none */
    RETURN_IF_ERROR(cuda_columns_keep(columns, place->wishes, place->column_count, share,
                                      place->epoch && place->all ? 0 : place->scratch_whole, &place->all,
                                      error));
    if (!place->all) { /* slots come first: what is kept has the rest */
        RETURN_IF_ERROR(make_slots(columns, cuda, place, largest(place), error));
        RETURN_IF_ERROR(
            cuda_columns_keep_some(columns, place->wishes, place->column_count, &place->needed, error));
    }
    if (place->epoch == cuda_columns_epoch(columns))
        return STATUS_OK;
    *changed = true;
    decide(columns, place);
    if (place->batched)
        fill_slots(place);
    place->epoch = cuda_columns_epoch(columns);
    return upload_list(cuda, place, error);
}

enum status cuda_place_read_all(struct cuda *cuda, struct cuda_columns *columns, struct cuda_place *place,
                                bool all, struct error *error)
{
    for (uint32_t c = 0; all && c < place->column_count; c++)
        for (uint32_t i = 0; i < place->needed.count; i++) {
            const uint32_t s = place->needed.segments[i];
            cuda_address address, validity;
            if (place->places[at(place, c, s)] != CHUNK_COPIED)
                continue;
            RETURN_IF_ERROR(cuda_columns_pin(columns, &place->wishes[c], s, &address, &validity, error));
            list_whole(place, c, s, address, validity);
        }
    if (!all)
        fill_slots(place);
    return upload_list(cuda, place, error);
}
