/*
 * code.h: writes expressions as instructions of a program (operators/general/program.h). It is the twin of
 * kernel_expression.c, which writes them as text.
 */
#ifndef TESSERA_ENGINE_GPU_GENERAL_CODE_H
#define TESSERA_ENGINE_GPU_GENERAL_CODE_H

#include "engine/gpu/kernel.h"
#include "operators/general/program.h"

/* The instructions of a program, one body after the other. */
struct general_codes {
    const struct plan *plan;
    const struct kernel *kernel;
    char *why; /* of KERNEL_WHY_BYTES: what an instruction cannot do; "" if there is nothing */
    struct general_code *list;
    uint32_t count, capacity;

    /* Of the body that is being written. Operands are registers until it ends: one for each node, then one for each join's
     * position. */
    struct code_operands *operands;
    uint32_t first;         /* its first instruction */
    uint32_t *last_use;     /* of each register: an instruction; UINT32_MAX: to the body's end */
    uint8_t *slots;         /* of each register, when the body has ended */
    bool *written;          /* of each register */
    uint8_t *needed;        /* of each node */
    uint64_t staged;        /* the staged columns that it reads */
    uint32_t slot_count;    /* of all bodies of rows */
    bool of_dimension;      /* columns are read at a position, which is in slot 0 */
    const uint8_t *numbers; /* 1 + the number of each staged column of the kernel, or 0 */
};

/* `numbers`: as general_column.staged, of the kernel's columns. Free with general_codes_free, also after an error. */
NODISCARD enum status general_codes_open(struct general_codes *codes, const struct plan *plan,
                                         const struct kernel *kernel, const uint8_t *numbers, char *why,
                                         struct error *error);
void general_codes_free(struct general_codes *codes);

/* Begins a body; `of_dimension` as above. */
void general_body_begin(struct general_codes *codes, bool of_dimension);
/* Writes the node and what it needs, as far as that is not written. */
NODISCARD enum status general_body_write(struct general_codes *codes, uint32_t node, struct error *error);
/* The node's slot is used when the body has ended, as that of a condition or a term of GROUP BY. */
void general_body_keep(struct general_codes *codes, uint32_t node);
/* Adds an instruction without a result, whose operand a is a node, or EXPRESSION_NONE. */
NODISCARD enum status general_body_add(struct general_codes *codes, const struct general_code *code,
                                       uint32_t node, struct error *error);
/* Gives registers their slots. */
void general_body_end(struct general_codes *codes);
/* The slot of a node that was kept. */
uint32_t general_body_slot(const struct general_codes *codes, uint32_t node);

#endif
