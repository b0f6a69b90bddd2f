/*
 * groups.h: what the engine tells the kernels that find the groups of an answer's first rows (groups_cuda.h). Host and
 * device compilers lay it out alike.
 */
#ifndef TESSERA_OPERATORS_GENERAL_GROUPS_H
#define TESSERA_OPERATORS_GENERAL_GROUPS_H

#include "operators/dialect/query_arguments.h"
#include "operators/general/program.h"

#define GROUPS_THREADS 256u

/* A thread's slots are in its block's shared memory: with so many, a block has 42 KB of it. */
#define GROUPS_SLOTS_MAX 16u

/* The most sums whose overflow of 64 bits is looked for. */
#define GROUPS_CHECKED_MAX 8u

/* A sample has a rank of each of so many threads, the best of the groups in so many slots. So it reads at most a million
 * slots, and lets about as many groups through as are wanted for each million that there are. */
#define GROUPS_VOTERS      16384u
#define GROUPS_VOTER_SLOTS 64u

/* The slots that a lane looks at before it computes anything, so that loads are in flight; and the used ones that a warp has room
 * for: it has fewer than 32 when it looks at others. */
#define GROUPS_TAKEN   4u
#define GROUPS_WAITING (32u + GROUPS_TAKEN * 32u)

/* What is added up of all groups that pass HAVING (engine/plan/plan.h: struct plan_total), at most so many. */
#define GROUPS_TOTALS_MAX 8u
struct groups_total {
    uint32_t slot;         /* the argument's, or GENERAL_NO_OPERAND: each group counts */
    uint32_t value, merge; /* enum state_value, enum merge_kind */
    uint32_t reserved;
};
/* All zeros at first. */
struct groups_totals {
    unsigned long long groups; /* that pass */
    uint32_t
        unknown; /* not 0: a group has a value that the device cannot compute, and all others may be missing */
    uint32_t reserved;
    unsigned long long words[GROUPS_TOTALS_MAX][2];
};

/* The set of an expression's values (engine/plan/plan.h: plan.set), all zeros at first. */
struct groups_set {
    uint32_t unknown;         /* as of struct groups_totals */
    uint32_t null;            /* not 0: NULL is one of them */
    unsigned long long count; /* of the bits that are set */
};

struct groups_work {
    uint64_t code;                    /* of struct general_code */
    uint32_t code_count, first_count; /* those of HAVING and the first term come first */
    uint32_t hashed;                  /* else dense */
    uint32_t key_words;               /* of a group's number */
    uint32_t slot_count;              /* that instructions use */
    uint32_t aggregate_count;
    uint32_t having; /* the slot, or GENERAL_NO_OPERAND */
    uint32_t term_count;
    uint32_t term_slots[ARGUMENT_FIRST_TERMS_MAX];
    uint32_t by_number; /* a part of the rank is the highest word of the group's number */
    uint64_t number_stride;
    uint32_t checked_count;
    uint32_t checked[GROUPS_CHECKED_MAX]; /* sums of 128 bits whose result must fit 64 */
    uint32_t total_count;
    struct groups_total totals[GROUPS_TOTALS_MAX];
    uint64_t totals_state; /* struct groups_totals */
    uint32_t set_slot;     /* of the values of a set */
    uint32_t full;         /* all slots but the last one are used */
    int64_t set_low;       /* bit v - set_low of the bitmap is that of value v */
    uint64_t set_span;     /* the greatest v - set_low */
    uint64_t set_bits;     /* of words of 32 bits */
    uint64_t set_state;    /* struct groups_set */
};

/* GENERAL_AGGREGATE: the parts of general_code.number, from bit 0 on: 16 bits, 1 + the aggregate that counts the values, or 0:
 * the result is never NULL; 16 bits, 1 + the aggregate by which a sum is divided to an average, or 0: it is none; 8 bits, the
 * scale of an average's values; 8 bits, the words of the state. */
#define GROUPS_DIVISOR_SHIFT 16u
#define GROUPS_SCALE_SHIFT   32u
#define GROUPS_WORDS_SHIFT   40u

#endif
