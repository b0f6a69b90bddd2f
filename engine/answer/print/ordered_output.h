/*
 * ordered_output.h: a stream to which threads write parts of an answer in the parts' order, each when it is its turn.
 *
 * A thread makes what it can of its part and waits; parts must be begun in their order, as parallel_for does.
 */
#ifndef TESSERA_ENGINE_ANSWER_ORDERED_OUTPUT_H
#define TESSERA_ENGINE_ANSWER_ORDERED_OUTPUT_H

#include "storage/base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ordered_output {
    FILE *out;
    uint64_t bytes; /* that were written, for whose turn it is */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t turn; /* the part that may be written; under `lock` */
    bool stopped;  /* nothing more is written; under `lock` */
};

struct ordered_output ordered_output_to(FILE *out);
void ordered_output_close(struct ordered_output *output); /* but not its stream */

/* Waits until the part may be written; false if a part before it failed. */
bool ordered_output_wait(struct ordered_output *output, uint64_t part);
/* The part whose turn it is, or that failed, has ended. `stop`: no other part may be written any more. */
void ordered_output_end(struct ordered_output *output, bool stop);

/* For whose turn it is, or where there are no parts. STATUS_MACHINE if a write fails, STATUS_INTERRUPTED on Ctrl-C. */
NODISCARD enum status ordered_output_write(struct ordered_output *output, const void *bytes, size_t count,
                                           struct error *error);

#endif
