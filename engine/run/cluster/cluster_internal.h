/* cluster_internal.h: a cluster, for the files of engine/run/cluster. */
#ifndef TESSERA_ENGINE_RUN_CLUSTER_CLUSTER_INTERNAL_H
#define TESSERA_ENGINE_RUN_CLUSTER_CLUSTER_INTERNAL_H

#include "engine/run/cluster.h"
#include "engine/run/cluster/mpi.h"

/* A process of this host, which is watched while others wait for it. */
struct cluster_peer {
    uint32_t rank;
    int pid;
    int descriptor; /* pidfd_open; -1: it cannot be watched */
    bool gone;      /* it ended before that */
};

/* What a process brings to a meeting: one message of 64 bytes. */
/* The most bytes of one message; counts of MPI are ints. */
#define CLUSTER_PIECE_BYTES (UINT64_C(1) << 30)

/* Results of together at most this many bytes go straight to process 0. */
#define CLUSTER_SMALL_BYTES 65536u

#define MEETING_TIMES 5u
struct meeting {
    uint32_t point;
    int32_t status;
    uint64_t number, bytes;
    double times[MEETING_TIMES];
};

struct cluster {
    const struct mpi *mpi;
    uint32_t rank, size, local_rank, local_size, hosts;
    unsigned threads;
    char host[64];
    uint32_t peer_count;
    struct cluster_peer *peers; /* of this host, without this process */
    struct meeting *meeting;    /* one a process: the last meeting */
    uint64_t piece_bytes;       /* CLUSTER_PIECE_BYTES; tests set less */
    uint64_t small_bytes;       /* CLUSTER_SMALL_BYTES; tests set less */
    uint64_t exchanged;         /* bytes of all results of the last exchange */
    struct partial *views;      /* one a process: results in their messages */
    uint64_t *bytes;            /* one a process: of its partial result */
    char *small;                /* CLUSTER_SMALL_BYTES: small results need no memory of their own */
    struct error broken;        /* its status is STATUS_OK until a process is lost */
    bool fails_itself;          /* a call of MPI failed here: the others know no reason */
};

/* ---- Messages (messages.c): no call returns before its memory can be used again ---- */

/* Waits until the request is complete. STATUS_MACHINE if a process has died: then the cluster is broken, and every
 * later call fails with the same sentence. */
NODISCARD enum status cluster_wait(struct cluster *cluster, struct mpi_request **request,
                                   struct error *error);

/* Once a process has died: waits until the others of its host have noticed, too. */
void cluster_linger(const struct cluster *cluster);

NODISCARD enum status cluster_gather_all(struct cluster *cluster, const void *mine, size_t bytes, void *all,
                                         struct error *error);
NODISCARD enum status cluster_broadcast(struct cluster *cluster, uint32_t root, void *data, uint64_t bytes,
                                        struct error *error);

/* Sends to one process while it receives from another, in pieces below 2 GiB; 0 bytes need no message. */
NODISCARD enum status cluster_swap(struct cluster *cluster, uint32_t to, const void *sent,
                                   uint64_t sent_bytes, uint32_t from, void *received,
                                   uint64_t received_bytes, struct error *error);

/* The result of a call of MPI as a status. */
NODISCARD enum status cluster_result(struct cluster *cluster, int code, const char *purpose,
                                     struct error *error);

/* ---- Meetings (meeting.c) ---- */

/* cluster_agree, with what each process brings: cluster->meeting has it after a success. */
NODISCARD enum status cluster_meet(struct cluster *cluster, struct meeting *mine, struct error *error);

/* ---- Partial results as bytes (partial_message.c) ---- */

/* With `sets`: the values of each count(distinct), which only results that will be merged need. `bytes` of a message are
 * aligned to 8. */
uint64_t message_bytes(const struct plan *plan, const struct partial *partial, bool sets);
void message_write(const struct plan *plan, const struct partial *partial, bool sets, char *bytes);

/* Gives the result whose arrays are those of the message; it must not be freed. STATUS_MACHINE if the bytes are no
 * result of this plan. */
NODISCARD enum status message_view(const struct plan *plan, const char *bytes, uint64_t size,
                                   struct partial *view, struct error *error);
/* Copies it. Free with partial_free, also after a failure. */
NODISCARD enum status message_read(const struct plan *plan, const char *bytes, uint64_t size,
                                   struct partial *partial, struct error *error);

/* Several results without a group in common become one: partial_make allocates it, partial_append puts each at a place and
 * returns the next one. The values of count(distinct) are left out. */
NODISCARD enum status partial_make(const struct plan *plan, uint64_t count, struct partial *partial,
                                   struct error *error);
uint64_t partial_append(const struct plan *plan, const struct partial *from, struct partial *into,
                        uint64_t at);

/* Puts the groups of PLAN_DENSE into the order of their slots, in which one process has them. */
NODISCARD enum status partial_sort_slots(const struct plan *plan, struct partial *partial,
                                         struct error *error);

/* ---- Dense groups (merge_slots.c) ---- */

/* Merges results of disjoint segments, which are not freed, into one in the order of slots. For plans that it suits: one
 * group, or dense groups of few slots, without count(distinct). */
#define MERGE_SLOTS_MAX 16384u
bool merge_slots_suits(const struct plan *plan);
NODISCARD enum status merge_slots(const struct plan *plan, const struct partial *results, uint32_t count,
                                  struct partial *into, struct error *error);

#endif
