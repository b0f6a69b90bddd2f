/* feed.c: see feed.h. */
#include "engine/gpu/stream/feed.h"

#include <stdlib.h>

static enum status open_feed(struct cuda *cuda, struct cuda_feed *feed, struct error *error)
{
    if (feed->copies)
        return STATUS_OK;
    for (uint32_t slot = 0; slot < PLACE_SLOTS_MAX; slot++) {
        RETURN_IF_ERROR(cuda_event_create(cuda, &feed->full[slot], error));
        RETURN_IF_ERROR(cuda_event_create(cuda, &feed->empty[slot], error));
    }
    RETURN_IF_ERROR(cuda_event_create(cuda, &feed->scanned, error));
    RETURN_IF_ERROR(cuda_stream_create(cuda, &feed->scans, error));
    return cuda_stream_create(cuda, &feed->copies, error);
}

void cuda_feed_close(struct cuda *cuda, struct cuda_feed *feed)
{
    cuda_stream_destroy(cuda, feed->copies);
    cuda_stream_destroy(cuda, feed->scans);
    cuda_event_destroy(cuda, feed->scanned);
    for (uint32_t slot = 0; slot < PLACE_SLOTS_MAX; slot++) {
        cuda_event_destroy(cuda, feed->full[slot]);
        cuda_event_destroy(cuda, feed->empty[slot]);
    }
    *feed = (struct cuda_feed){0};
}

/* The state of a run's queueing. */
struct queue {
    struct cuda *cuda;
    struct cuda_feed *feed;
    const struct cuda_place *place;
    struct cuda_scan *scan;
    struct cuda_stream *on;     /* where the next segment is scanned; NULL: the main stream */
    bool used[PLACE_SLOTS_MAX]; /* a scan of the slot is queued, after which it is empty */
};

/* A cut's pieces are put together by threads: a copy of each would take longer than one of the whole chunk. */
static enum status copy_cut(struct queue *queue, const struct cuda_wish *wish, uint32_t segment,
                            struct cuda_event *after, cuda_address to, struct error *error)
{
    struct cuda_piece *pieces;
    uint32_t count;
    RETURN_IF_ERROR(
        cuda_cut_pieces(&wish->data->segments[segment], wish->ranges, segment, &pieces, &count, error));
    const enum status status = cuda_upload_pieces(queue->cuda, to, pieces, count, after, error);
    free(pieces);
    return status;
}

static enum status copy_chunk(struct queue *queue, uint32_t column, uint32_t segment,
                              struct cuda_event *after, cuda_address *next, struct error *error)
{
    const struct cuda_wish *wish = &queue->place->wishes[column];
    const cuda_address to = *next;
    struct cuda_piece pieces[2];
    *next += cuda_wish_bytes(wish, segment);
    if (wish->ranges)
        return copy_cut(queue, wish, segment, after, to, error);
    const uint32_t count = cuda_chunk_pieces(&wish->data->segments[segment], pieces);
    for (uint32_t p = 0; p < count; p++)
        RETURN_IF_ERROR(queue->place->unpinned.status
                            ? cuda_upload_after(queue->cuda, to + pieces[p].offset, pieces[p].from,
                                                pieces[p].bytes, after, error)
                            : cuda_stream_copy(queue->cuda, queue->feed->copies, to + pieces[p].offset,
                                               pieces[p].from, pieces[p].bytes, error));
    return STATUS_OK;
}

/* Queues the copies of a segment's chunks into its slot; *copied: there are some. */
static enum status copy_segment(struct queue *queue, uint32_t segment, uint32_t slot, bool *copied,
                                struct error *error)
{
    const struct cuda_place *place = queue->place;
    struct cuda_event *const after = queue->used[slot] ? queue->feed->empty[slot] : queue->scan->begin;
    cuda_address next = cuda_place_slot(place, slot);
    *copied = false;
    for (uint32_t c = 0; c < place->column_count; c++) {
        if (place->places[(uint64_t)c * place->segment_count + segment] != CHUNK_COPIED)
            continue;
        if (!*copied)
            RETURN_IF_ERROR(cuda_stream_wait(queue->cuda, queue->feed->copies, after, error));
        *copied = true;
        RETURN_IF_ERROR(copy_chunk(queue, c, segment, after, &next, error));
    }
    if (!*copied)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_stream_record(queue->cuda, queue->feed->copies, queue->feed->full[slot], error));
    return cuda_stream_wait(queue->cuda, queue->on, queue->feed->full[slot], error);
}

/* Queues the scan of items before `end` that are not queued yet. */
static enum status scan_to(struct queue *queue, uint32_t *from, uint32_t end, struct error *error)
{
    const uint32_t first = *from;
    *from = end;
    return end > first ? cuda_scan_launch(queue->cuda, queue->scan, queue->on, first, end - first, error)
                       : STATUS_OK;
}

/* Segments of which nothing is copied or decoded are scanned together. */
static enum status run_segments(struct queue *queue, const struct plan *plan, const struct kernel *kernel,
                                struct cuda_stage *stage, struct error *error)
{
    const uint32_t *items = queue->scan->segment_items;
    uint32_t from = 0;
    for (uint32_t s = 0; s < queue->place->segment_count; s++) {
        bool copied;
        if (items[s] == items[s + 1])
            continue;
        const uint32_t slot = cuda_place_slot_of(queue->place, s);
        RETURN_IF_ERROR(cancel_check(error));
        RETURN_IF_ERROR(copy_segment(queue, s, slot, &copied, error));
        if (!copied && !stage->count)
            continue;
        RETURN_IF_ERROR(scan_to(queue, &from, items[s], error));
        if (stage->count)
            RETURN_IF_ERROR(cuda_stage_run_segment(queue->cuda, stage, plan, kernel, queue->scan, s, error));
        RETURN_IF_ERROR(scan_to(queue, &from, items[s + 1], error));
        RETURN_IF_ERROR(cuda_stream_record(queue->cuda, queue->on, queue->feed->empty[slot], error));
        queue->used[slot] = true;
        if (!stage->count && !queue->place->unpinned.status && !queue->place->ranges.count &&
            !queue->scan->first)
            queue->on = queue->on ? NULL : queue->feed->scans;
    }
    return scan_to(queue, &from, items[queue->place->segment_count], error);
}

enum status cuda_feed_run(struct cuda *cuda, struct cuda_feed *feed, const struct plan *plan,
                          const struct kernel *kernel, const struct cuda_place *place,
                          struct cuda_stage *stage, struct cuda_scan *scan, struct error *error)
{
    struct queue queue = {.cuda = cuda, .feed = feed, .place = place, .scan = scan};
    RETURN_IF_ERROR(open_feed(cuda, feed, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, scan->begin, error));
    RETURN_IF_ERROR(cuda_scan_prepare(cuda, scan, error));
    RETURN_IF_ERROR(cuda_event_record(cuda, scan->filtered, error));
    RETURN_IF_ERROR(cuda_stream_wait(cuda, feed->scans, scan->filtered, error));
    RETURN_IF_ERROR(run_segments(&queue, plan, kernel, stage, error));
    RETURN_IF_ERROR(cuda_stream_record(cuda, feed->scans, feed->scanned, error));
    RETURN_IF_ERROR(cuda_stream_wait(cuda, NULL, feed->scanned, error));
    RETURN_IF_ERROR(cuda_scan_complete(cuda, scan, error));
    return cuda_event_record(cuda, scan->end, error);
}
