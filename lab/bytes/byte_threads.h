/*
 * byte_threads.h: one lane of a warp that decodes, or all of them alike: the microbenchmark of CODAG, section IV-D, on a GPU
 * (lab/kernels/byte_threads_cuda.h) and, to compare with, in C.
 */
#ifndef TESSERA_LAB_BYTES_BYTE_THREADS_H
#define TESSERA_LAB_BYTES_BYTE_THREADS_H

#include "lab/bench/kernel.h"

/* What warps do, as kernels know it. */
struct byte_threads_work {
    cuda_address words; /* on the device: a word at the begin of each line */
    uint32_t lines;
    uint32_t accesses;   /* of memory, by each warp */
    uint32_t operations; /* after each access */
    uint32_t factor;     /* an argument, lest the compiler should fold operations */
};

enum byte_threads_way { BYTE_THREADS_ONE, BYTE_THREADS_ALL, BYTE_THREADS_WAYS };

#define BYTE_THREADS_LINE_WORDS 32u

/* The state of a warp after its accesses; `words` are those of work->words. */
uint32_t byte_threads_decode(const struct byte_threads_work *work, const uint32_t *words, uint32_t warp,
                             uint32_t warps);

/* Writes a kernel's text, to be freed. */
NODISCARD enum status byte_threads_text(enum byte_threads_way way, char **source, struct error *error);
const char *byte_threads_kernel(enum byte_threads_way way); /* its name */

/* Lines in the memories of the host and the device, and both kernels. */
struct byte_threads {
    struct lab *lab;
    uint32_t *words;
    uint32_t lines, warps; /* warps: of either grid, which fills the device */
    cuda_address on_device, states;
    struct lab_kernel kernels[BYTE_THREADS_WAYS];
};

/* lines 1 .. 2^26, of 128 bytes. Close with byte_threads_close, also after an error. */
NODISCARD enum status byte_threads_open(struct lab *lab, uint32_t lines, struct byte_threads *threads,
                                        struct error *error);
void byte_threads_close(struct byte_threads *threads);

/* Runs both kernels, compares the state of every lane with the host's (STATUS_CHECK_FAILED), and times them. */
NODISCARD enum status byte_threads_measure(struct byte_threads *threads, uint32_t accesses,
                                           uint32_t operations, struct speed speeds[BYTE_THREADS_WAYS],
                                           struct error *error);

#endif
