/*
 * steps.h: what the SIGMOD 2022 paper tried to make GPU-FOR fast (sections 4.2 and 4.3, figure 5), one method a step: 500 million values of
 * U(0, 2^16), decoded to memory on a V100. The kernels are in lab/kernels/published.
 */
#ifndef TESSERA_LAB_PUBLISHED_STEPS_H
#define TESSERA_LAB_PUBLISHED_STEPS_H

#include "lab/published/published.h"

struct published_step {
    struct published_method method;
    uint32_t depth;        /* D: blocks of a thread block; 0: the method has no such number */
    const char *series;    /* of the chart of figure 5, or NULL */
    double paper_ms;       /* 0: the paper has no number */
    const char *paper_why; /* what its text says instead, or NULL */
    bool one_width;        /* decodes only chunks that published_one_width accepts */
};

#define PUBLISHED_STEPS 22u
extern const struct published_step published_steps[PUBLISHED_STEPS];
#define PUBLISHED_STEP_BASE 0u /* the base algorithm */

/* Whether all blocks of a chunk, but for those of the column's last tile, are as long as the chunk's first. The codec is gpu-for-block or
 * gpu-bp128. */
bool published_one_width(const struct encoded *encoded);

#endif
