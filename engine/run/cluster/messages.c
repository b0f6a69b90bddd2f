/*
 * messages.c: waiting and sending (cluster_internal.h).
 *
 * Every message is one that does not block, which is then tested until it is complete: so a process that waits can
 * notice that another one has died, and leaves its processor to others. It asks again at once for the first
 * SPINS times, about a millisecond, because exchanges take microseconds; then it sleeps between two questions.
 */
#define _GNU_SOURCE
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/parallel.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define SPINS        2000u
#define SLEEP_NS     20000u   /* at first; twice as long after every SLEEPS_EACH sleeps */
#define SLEEP_NS_MAX 1000000u /* a statement that takes seconds is not slowed by this */
#define SLEEPS_EACH  64u
#define TAG          1

enum status cluster_result(struct cluster *cluster, int code, const char *purpose, struct error *error)
{
    char text[MPI_TEXT_BYTES + 1] = "";
    int length = 0;
    if (code == MPI_IS_SUCCESS)
        return STATUS_OK;
    if (cluster->mpi->error_string(code, text, &length) != MPI_IS_SUCCESS)
        text[0] = '\0';
    cluster->fails_itself = true;
    error_set(&cluster->broken, STATUS_MACHINE,
              "process %u of %u, on %s: %s failed: %s; start the processes again", cluster->rank,
              cluster->size, cluster->host, purpose, text[0] ? text : "MPI gives no reason");
    if (error)
        *error = cluster->broken;
    return STATUS_MACHINE;
}

/* ---- Waiting ---- */

/* A process's descriptor becomes readable when it has ended. */
static bool has_ended(const struct cluster_peer *peer)
{
    struct pollfd ended = {.fd = peer->descriptor, .events = POLLIN};
    return peer->gone || (peer->descriptor >= 0 && poll(&ended, 1, 0) == 1);
}

bool cluster_speaks(const struct cluster *cluster)
{
    bool first = true;
    if (!cluster || cluster->broken.status == STATUS_OK)
        return cluster_rank(cluster) == 0;
    if (cluster->fails_itself)
        return true;
    for (uint32_t p = 0; p < cluster->peer_count; p++)
        first &= cluster->peers[p].rank > cluster->rank || has_ended(&cluster->peers[p]);
    return first;
}

/* A process that ended before the others noticed the death would be taken for dead itself. mpirun kills a second after it
 * has noticed. */
#define LINGER_MS         300u
#define LINGER_SPEAKER_MS 2000u

void cluster_linger(const struct cluster *cluster)
{
    const uint32_t most = cluster_speaks(cluster) ? LINGER_SPEAKER_MS : LINGER_MS;
    for (uint32_t ms = 0, ended = 0; ms < most && ended < cluster->peer_count; ms++) {
        ended = 0;
        for (uint32_t p = 0; p < cluster->peer_count; p++)
            ended += has_ended(&cluster->peers[p]);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static enum status look_at_peers(struct cluster *cluster, struct error *error)
{
    for (uint32_t p = 0; p < cluster->peer_count; p++) {
        const struct cluster_peer *const peer = &cluster->peers[p];
        if (!has_ended(peer))
            continue;
        error_set(&cluster->broken, STATUS_MACHINE,
                  "process %u of %u (process id %d on %s) has died, so the statement has no answer; what it "
                  "or its host's log say last is the reason",
                  peer->rank, cluster->size, peer->pid, cluster->host);
        if (error)
            *error = cluster->broken;
        return STATUS_MACHINE;
    }
    return STATUS_OK;
}

static void pause_before_test(uint32_t test)
{
    uint64_t sleep_ns = SLEEP_NS;
    if (test < SPINS) {
        sched_yield();
        return;
    }
    for (uint32_t step = (test - SPINS) / SLEEPS_EACH; step > 0 && sleep_ns < SLEEP_NS_MAX; step--)
        sleep_ns *= 2;
    nanosleep(&(struct timespec){.tv_nsec = (long)(sleep_ns < SLEEP_NS_MAX ? sleep_ns : SLEEP_NS_MAX)}, NULL);
}

enum status cluster_wait(struct cluster *cluster, struct mpi_request **request, struct error *error)
{
    for (uint32_t test = 0;; test++) {
        int done = 0;
        RETURN_IF_ERROR(
            cluster_result(cluster, cluster->mpi->test(request, &done, NULL), "a message", error));
        if (done)
            return STATUS_OK;
        if (test >= SPINS)
            RETURN_IF_ERROR(look_at_peers(cluster, error));
        pause_before_test(test < UINT32_MAX - 1 ? test : --test);
    }
}

/* ---- Messages ---- */

enum status cluster_check(const struct cluster *cluster, struct error *error)
{
    if (!cluster)
        return STATUS_OK;
    if (cluster->broken.status != STATUS_OK && error)
        *error = cluster->broken;
    return cluster->broken.status;
}

#define TAG_MEETING 2

/* A few processes send small messages straight to each other: half the time of MPI_Iallgather, 5 µs of two processes. */
#define DIRECT_PROCESSES 8u
#define DIRECT_BYTES     1024u

static enum status gather_directly(struct cluster *cluster, const void *mine, size_t bytes, char *all,
                                   struct error *error)
{
    const struct mpi *const mpi = cluster->mpi;
    struct mpi_request *sent[DIRECT_PROCESSES], *received[DIRECT_PROCESSES];
    memcpy(all + cluster->rank * bytes, mine, bytes);
    for (uint32_t i = 1; i < cluster->size; i++) {
        const int other = (int)((cluster->rank + i) % cluster->size);
        RETURN_IF_ERROR(cluster_result(cluster,
                                       mpi->receive(all + (size_t)other * bytes, (int)bytes, mpi->bytes,
                                                    other, TAG_MEETING, mpi->world, &received[i]),
                                       "a meeting", error));
        RETURN_IF_ERROR(cluster_result(
            cluster, mpi->send(mine, (int)bytes, mpi->bytes, other, TAG_MEETING, mpi->world, &sent[i]),
            "a meeting", error));
    }
    for (uint32_t i = 1; i < cluster->size; i++) {
        RETURN_IF_ERROR(cluster_wait(cluster, &received[i], error));
        RETURN_IF_ERROR(cluster_wait(cluster, &sent[i], error));
    }
    return STATUS_OK;
}

enum status cluster_gather_all(struct cluster *cluster, const void *mine, size_t bytes, void *all,
                               struct error *error)
{
    struct mpi_request *request;
    const struct mpi *const mpi = cluster->mpi;
    RETURN_IF_ERROR(cluster_check(cluster, error));
    if (cluster->size <= DIRECT_PROCESSES && bytes <= DIRECT_BYTES)
        return gather_directly(cluster, mine, bytes, all, error);
    RETURN_IF_ERROR(cluster_result(
        cluster,
        mpi->gather_all(mine, (int)bytes, mpi->bytes, all, (int)bytes, mpi->bytes, mpi->world, &request),
        "a meeting", error));
    return cluster_wait(cluster, &request, error);
}

enum status cluster_broadcast(struct cluster *cluster, uint32_t root, void *data, uint64_t bytes,
                              struct error *error)
{
    RETURN_IF_ERROR(cluster_check(cluster, error));
    for (uint64_t done = 0; done < bytes; done += cluster->piece_bytes) {
        struct mpi_request *request;
        const uint64_t piece = bytes - done < cluster->piece_bytes ? bytes - done : cluster->piece_bytes;
        RETURN_IF_ERROR(
            cluster_result(cluster,
                           cluster->mpi->broadcast((char *)data + done, (int)piece, cluster->mpi->bytes,
                                                   (int)root, cluster->mpi->world, &request),
                           "a broadcast", error));
        RETURN_IF_ERROR(cluster_wait(cluster, &request, error));
    }
    return STATUS_OK;
}

/* Messages up to about 4 KB are copied by shared memory at once; larger ones wait for their receiver first. So small
 * results go in pieces of this size: 20 KB take 22 µs instead of 38 between two processes. */
#define EAGER_BYTES 3968u

static uint64_t piece_of(const struct cluster *cluster, uint64_t bytes)
{
    return bytes <= CLUSTER_SMALL_BYTES && EAGER_BYTES < cluster->piece_bytes ? EAGER_BYTES
                                                                              : cluster->piece_bytes;
}

/* A message to or from one process, piece by piece. */
struct transfer {
    bool send;
    uint32_t peer;
    char *data;
    uint64_t bytes, done;
    struct mpi_request *request;
};

static enum status begin_piece(struct cluster *cluster, struct transfer *transfer, struct error *error)
{
    const struct mpi *const mpi = cluster->mpi;
    const uint64_t left = transfer->bytes - transfer->done, most = piece_of(cluster, transfer->bytes);
    const int piece = (int)(left < most ? left : most), peer = (int)transfer->peer;
    char *const data = transfer->data + transfer->done;
    if (left == 0)
        return STATUS_OK;
    transfer->done += (uint64_t)piece;
    return cluster_result(
        cluster,
        transfer->send ? mpi->send(data, piece, mpi->bytes, peer, TAG, mpi->world, &transfer->request)
                       : mpi->receive(data, piece, mpi->bytes, peer, TAG, mpi->world, &transfer->request),
        transfer->send ? "sending a result" : "receiving a result", error);
}

static enum status end_piece(struct cluster *cluster, struct transfer *transfer, struct error *error)
{
    if (!transfer->request)
        return STATUS_OK;
    RETURN_IF_ERROR(cluster_wait(cluster, &transfer->request, error));
    transfer->request = NULL;
    return STATUS_OK;
}

enum status cluster_swap(struct cluster *cluster, uint32_t to, const void *sent, uint64_t sent_bytes,
                         uint32_t from, void *received, uint64_t received_bytes, struct error *error)
{
    struct transfer out = {.send = true, .peer = to, .data = (char *)sent, .bytes = sent_bytes},
                    in = {.peer = from, .data = received, .bytes = received_bytes};
    RETURN_IF_ERROR(cluster_check(cluster, error));
    while (out.done < out.bytes || in.done < in.bytes) {
        RETURN_IF_ERROR(begin_piece(cluster, &in, error));
        RETURN_IF_ERROR(begin_piece(cluster, &out, error));
        RETURN_IF_ERROR(end_piece(cluster, &in, error));
        RETURN_IF_ERROR(end_piece(cluster, &out, error));
    }
    return STATUS_OK;
}
