/*
 * cluster.h: several processes, on one or many hosts, that answer the same statements together: each scans its
 * share of the fact table's segments, and process 0 gets the merged result (docs/scaling.md).
 *
 * All processes run the same program on the same statements, so they come to the same points in the same order.
 * At each point they meet, and a failure of one becomes a failure of all, with its sentence and status. A process
 * that came to another point, because it failed on its way, is met there too: so nobody waits for ever. A process
 * that dies is noticed by those that wait on its host, and by MPI's launcher elsewhere.
 *
 * A meeting takes some microseconds between processes of one host (docs/scaling.md has figures). All calls of a
 * process come from one thread at a time. Where a cluster is an argument, NULL is one process alone: then a call
 * costs nothing and gives back what it was given.
 */
#ifndef TESSERA_ENGINE_RUN_CLUSTER_H
#define TESSERA_ENGINE_RUN_CLUSTER_H

#include "engine/run/device.h"

struct cluster;

/* Joins the processes that the launcher started. `kind`: "mpi", OpenMPI, for mpirun and srun. STATUS_MACHINE if its
 * library is not installed, or if the launcher's processes do not see each other. */
NODISCARD enum status cluster_open(const char *kind, struct cluster **cluster, struct error *error);

/* Leaves; the processes wait for each other. If one has died, the caller must end its process with STATUS_MACHINE; with
 * several hosts the call itself ends all processes so. */
void cluster_close(struct cluster *cluster);

/* Gives the name of MPI's library, "Open MPI v4.1.4", without starting it; STATUS_MACHINE if it cannot be opened. */
NODISCARD enum status cluster_available(char *text, size_t bytes, struct error *error);

uint32_t cluster_rank(const struct cluster *cluster); /* from 0; 0 for NULL */
uint32_t cluster_size(const struct cluster *cluster); /* 1 for NULL */
/* The same among the processes of this host. */
uint32_t cluster_local_rank(const struct cluster *cluster);
uint32_t cluster_local_size(const struct cluster *cluster);

/* True for the process that tells a failure of all: process 0 or, once a process has died, the first of each host that
 * lives; and for one whose own messages failed. */
bool cluster_speaks(const struct cluster *cluster);

/* STATUS_MACHINE with the sentence if a process has died: then every call fails. */
NODISCARD enum status cluster_check(const struct cluster *cluster, struct error *error);

/* Processors for this process: those that it may run on, divided by the processes of its host that have the same
 * ones. */
unsigned cluster_threads(const struct cluster *cluster);

/* ---- Meetings ---- */

/* Where processes meet. At the last two they wait until all have come there; at others a process that came to
 * another point is a failure. */
enum cluster_point {
    CLUSTER_OPEN,      /* databases and devices are open */
    CLUSTER_TURN,      /* process 0 has written what all need */
    CLUSTER_TIME,      /* the time of process 0, for the SQL function now */
    CLUSTER_PREPARE,   /* a plan is prepared */
    CLUSTER_RUN,       /* each has its partial result */
    CLUSTER_EXCHANGE,  /* a step of the exchange is done */
    CLUSTER_COUNT,     /* counts of an analysed run */
    CLUSTER_TEXT,      /* process 0 has a text for all */
    CLUSTER_STATEMENT, /* a statement has ended, well or not */
    CLUSTER_LEAVE      /* the command has ended */
};

/* Gives STATUS_OK if all processes come with STATUS_OK. Else all get the status and the sentence of the first that
 * failed. */
NODISCARD enum status cluster_agree(struct cluster *cluster, enum cluster_point point, enum status status,
                                    struct error *error);

/* cluster_agree, which also fails if the number is not the same everywhere; `what` differs then: "plan". */
NODISCARD enum status cluster_alike(struct cluster *cluster, enum cluster_point point, enum status status,
                                    uint64_t number, const char *what, struct error *error);

/* Gives all processes the number of process 0, for what depends on a clock: a decision, or the time. */
NODISCARD enum status cluster_decide(struct cluster *cluster, enum cluster_point point, uint64_t *number,
                                     struct error *error);

/* Gives all processes the text of process 0. The others' *text is allocated and freed by the caller; `more` false on
 * process 0 gives them NULL: there is no further text. */
NODISCARD enum status cluster_text(struct cluster *cluster, char **text, size_t *length, bool more,
                                   struct error *error);

/* Gives all processes `bytes` of each, in the order of ranks, into all[size * bytes]. */
NODISCARD enum status cluster_gather(struct cluster *cluster, const void *mine, size_t bytes, void *all,
                                     struct error *error);

/* Lets process 0 do alone, and first, what changes a database that all share: the others wait in cluster_turn_begin
 * until it has come to cluster_turn_end. */
NODISCARD enum status cluster_turn_begin(struct cluster *cluster, struct error *error);
NODISCARD enum status cluster_turn_end(struct cluster *cluster, enum status status, struct error *error);

/* ---- Devices ---- */

/* Agrees on the status of opening this process's devices. Gives the number of devices of all processes, and that of the
 * processes before this one. `text` names this process's, and then "2 processes on 1 host, each CPU, 1 thread, avx512". */
NODISCARD enum status cluster_devices(struct cluster *cluster, enum status status, uint32_t devices,
                                      char *text, size_t bytes, uint32_t *all, uint32_t *before,
                                      struct error *error);

/* Adds up what the devices of all processes read at most. */
NODISCARD enum status cluster_ceiling(struct cluster *cluster, enum status status, double *bytes_per_second,
                                      struct error *error);

/* Gives process 0 the bytes of all processes, in the order of ranks, in *all, which it frees; the others get NULL.
 * sizes[cluster_size] gets the bytes of each. `status` is that of making them. */
NODISCARD enum status cluster_collect(struct cluster *cluster, enum status status, const void *mine,
                                      uint64_t bytes, char **all, uint64_t *sizes, struct error *error);

/* ---- Databases ---- */

/* Checks that all processes have opened the same database, or each a part of one load (table_part), and all parts. Then
 * the statistics of a table's parts become those of the whole table, by which all processes plan alike: it must be called
 * before the first statement. `status` is that of opening. */
NODISCARD enum status cluster_join_database(struct cluster *cluster, enum status status,
                                            struct database *database, struct error *error);

/* ---- Results ---- */

/* Takes this process's partial result, or the failure by which it has none, and gives process 0 the merged result,
 * and the others one without rows. timing's parts become the longest of all processes, total_ms with the exchange. */
NODISCARD enum status cluster_exchange(struct cluster *cluster, const struct plan *plan, enum status status,
                                       unsigned threads, struct partial *partial, struct run_timing *timing,
                                       struct error *error);

/* The bytes of the last exchange's results, of all processes. */
uint64_t cluster_exchanged(const struct cluster *cluster);

/* Adds up the counts of all processes. */
NODISCARD enum status cluster_count(struct cluster *cluster, const struct plan *plan, enum status status,
                                    struct scan_counts *counts, struct error *error);

/* The plan's essentials as a number: plans with the same number have the same groups and states. */
uint64_t cluster_plan_number(const struct plan *plan);

#endif
