/*
 * feed.h: runs a plan segment by segment: the chunks of the next segments are copied on a stream of their own while one
 * is scanned.
 *
 * Events order the streams. Segments are scanned on two streams in turn, so that one scan begins while the last blocks
 * of the one before end; on one, where columns are decoded first, into memory that all segments share, or chunks are
 * not pinned or cut. The host waits for nothing, except for the staging buffers of such chunks, and for byte
 * streams, whose damaged blocks must be known before their values are used. All launches of the scan add to the same
 * states. Called once a run, for a few to a few hundred segments.
 */
#ifndef TESSERA_ENGINE_GPU_STREAM_FEED_H
#define TESSERA_ENGINE_GPU_STREAM_FEED_H

#include "engine/gpu/scan.h"
#include "engine/gpu/stage.h"
#include "engine/gpu/stream/place.h"

/* Must be zero-initialised. */
struct cuda_feed {
    struct cuda_stream *copies, *scans; /* beside the main stream, which scans, too */
    struct cuda_event *scanned;         /* on `scans` */
    struct cuda_event *full[PLACE_SLOTS_MAX], *empty[PLACE_SLOTS_MAX];
};

/* Queues a whole run: scan->begin, what comes before the scan, scan->filtered, the copies and scans of all segments in
 * the list of work, and scan->end. */
NODISCARD enum status cuda_feed_run(struct cuda *cuda, struct cuda_feed *feed, const struct plan *plan,
                                    const struct kernel *kernel, const struct cuda_place *place,
                                    struct cuda_stage *stage, struct cuda_scan *scan, struct error *error);
void cuda_feed_close(struct cuda *cuda, struct cuda_feed *feed);

#endif
