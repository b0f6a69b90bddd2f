/*
 * key_bits.h: the set of the values of a plan's only group term, where nothing else is wanted of its groups (plan.h: `set`):
 * the keys of IN, EXISTS and their like. All threads set bits of one bitmap; a row whose bit is set already only reads it.
 * So nothing is hashed and nothing merged: 1 to 2 ns a row where keys stand near each other.
 */
#ifndef TESSERA_ENGINE_CPU_KEY_BITS_H
#define TESSERA_ENGINE_CPU_KEY_BITS_H

#include "engine/plan/partial.h"
#include "storage/base/execution/memory_account.h"

#include <stdatomic.h>

struct key_bits {
    atomic_uint_least64_t *words; /* bit c of them: code c of the term; NULL: groups are made */
    uint64_t word_count;
    atomic_uint_least64_t count; /* of the bits that are set */
    struct memory_charge charge;
};

/* Makes the bitmap if the plan's groups are a set that it holds, and the account of memory has room; else there is none,
 * which is no error. Free with key_bits_free. */
void key_bits_begin(const struct plan *plan, struct key_bits *bits);

/* Adds rows by the numbers of their groups. Any thread. */
void key_bits_add(struct key_bits *bits, const uint64_t *numbers, uint32_t count);

/* Gives the set; `bits` has none afterwards. */
void key_bits_give(const struct plan *plan, struct key_bits *bits, struct partial *partial);
void key_bits_free(struct key_bits *bits);

#endif
