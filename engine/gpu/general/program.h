/*
 * program.h: writes a plan's scan as data for the general kernel (operators/general/program.h), which is compiled when
 * Tessera is built. Called once for each statement that has no kernel of its own yet; it takes some microseconds and needs
 * no GPU.
 */
#ifndef TESSERA_ENGINE_GPU_GENERAL_PROGRAM_H
#define TESSERA_ENGINE_GPU_GENERAL_PROGRAM_H

#include "engine/gpu/kernel.h"
#include "engine/run/device.h"
#include "operators/general/program.h"

/* Of a plan whose rows are taken: its outputs that are columns of the scan; and the instructions that compute the others, and
 * the slots where they then are. */
struct general_outputs {
    uint32_t first, end;
    uint64_t staged;               /* the staged columns that the instructions read */
    bool columns, computed;        /* whether there are such outputs */
    uint8_t column[GENERAL_SLOTS]; /* of the kernel, or GENERAL_COMPUTED */
    uint8_t slots[GENERAL_SLOTS];
};
#define GENERAL_COMPUTED UINT8_MAX

struct general {
    bool covered;
    char why[KERNEL_WHY_BYTES]; /* not covered: what the kernel cannot do, for people */
    const char *kernel; /* the name of the kernel for the place of the plan's states (engine/cuda/ahead.h) */
    void *program;      /* what is uploaded */
    size_t bytes;
    struct general_outputs outputs;
};

/* Makes *kernel, as kernel_make does but without a text, and the program. If the general kernel does not cover the plan, it
 * makes neither: general->covered is false, and that is no error. Free with kernel_free and general_free. */
NODISCARD enum status general_make(const struct plan *plan, const struct kernel_target *target,
                                   struct kernel *kernel, struct general *general, struct error *error);
void general_free(struct general *general);

#endif
