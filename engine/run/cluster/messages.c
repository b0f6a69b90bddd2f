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
    return peer->descriptor >= 0 && poll(&ended, 1, 0) == 1;
}

bool cluster_speaks(const struct cluster *cluster)
{
    bool first = true;
    if (!cluster || cluster->broken.status == STATUS_OK)
        return cluster_rank(cluster) == 0;
    for (uint32_t p = 0; p < cluster->peer_count; p++)
        first &= cluster->peers[p].rank > cluster->rank || has_ended(&cluster->peers[p]);
    return first;
}

static enum status look_at_peers(struct cluster *cluster, struct error *error)
{
    for (uint32_t p = 0; p < cluster->peer_count; p++) {
        const struct cluster_peer *const peer = &cluster->peers[p];
        if (!has_ended(peer))
            continue;
        error_set(
            &cluster->broken, STATUS_MACHINE,
            "process %u of %u (process id %d on %s) has died, so the statement has no answer; what it or "
            "its host's log say last is the reason",
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

enum status cluster_gather_all(struct cluster *cluster, const void *mine, size_t bytes, void *all,
                               struct error *error)
{
    struct mpi_request *request;
    const struct mpi *const mpi = cluster->mpi;
    RETURN_IF_ERROR(cluster_check(cluster, error));
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

static enum status begin(struct cluster *cluster, bool send, uint32_t peer, char *data, uint64_t done,
                         uint64_t bytes, struct mpi_request **request, struct error *error)
{
    const struct mpi *const mpi = cluster->mpi;
    const int piece = (int)(bytes - done < cluster->piece_bytes ? bytes - done : cluster->piece_bytes);
    return cluster_result(
        cluster,
        send ? mpi->send(data + done, piece, mpi->bytes, (int)peer, TAG, mpi->world, request)
             : mpi->receive(data + done, piece, mpi->bytes, (int)peer, TAG, mpi->world, request),
        send ? "sending a result" : "receiving a result", error);
}

enum status cluster_swap(struct cluster *cluster, uint32_t to, const void *sent, uint64_t sent_bytes,
                         uint32_t from, void *received, uint64_t received_bytes, struct error *error)
{
    RETURN_IF_ERROR(cluster_check(cluster, error));
    for (uint64_t done = 0; done < sent_bytes || done < received_bytes; done += cluster->piece_bytes) {
        struct mpi_request *sending = NULL, *receiving = NULL;
        if (done < received_bytes)
            RETURN_IF_ERROR(begin(cluster, false, from, received, done, received_bytes, &receiving, error));
        if (done < sent_bytes)
            RETURN_IF_ERROR(begin(cluster, true, to, (char *)sent, done, sent_bytes, &sending, error));
        if (done < received_bytes)
            RETURN_IF_ERROR(cluster_wait(cluster, &receiving, error));
        if (done < sent_bytes)
            RETURN_IF_ERROR(cluster_wait(cluster, &sending, error));
    }
    return STATUS_OK;
}
