/*
 * double_key.h: floating-point numbers as whole numbers that have the same order. Columns store doubles so, and
 * expressions compute with them, so that comparing, grouping, minima, maxima and sets need nothing of their own.
 *
 * The key of a double is its 64 bits as a whole number, in which the 63 bits after the sign are inverted if the
 * sign is set; so a key's double is found in the same way. Numbers that SQL takes as equal have one key: -0 is 0, and
 * all NaNs are one, which equals itself and is greater than infinity. No key is INT64_MIN or INT64_MAX.
 *
 *     NaN         0x7ff8000000000000         -1         0xc00fffffffffffff
 *     infinity    0x7ff0000000000000         -infinity  0x800fffffffffffff
 *     1           0x3ff0000000000000         0          0
 */
#ifndef TESSERA_STORAGE_BASE_DOUBLE_KEY_H
#define TESSERA_STORAGE_BASE_DOUBLE_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DOUBLE_KEY_NAN            INT64_C(0x7ff8000000000000)
#define DOUBLE_KEY_INFINITY       INT64_C(0x7ff0000000000000)
#define DOUBLE_KEY_MINUS_INFINITY (-INT64_C(0x7ff0000000000000) - 1)

static inline int64_t double_key_turn(int64_t value)
{
    return value ^ (int64_t)((uint64_t)(value >> 63) >> 1);
}

static inline int64_t double_key_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = double_key_turn(bits);
    bits += bits == -1; /* -0; adding 0.0 to the number would be fused with a product before it */
    return number != number ? DOUBLE_KEY_NAN : bits;
}

/* Any 64 bits are the key of some double. */
static inline double double_of_key(int64_t key)
{
    const int64_t bits = double_key_turn(key);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* True unless the key is that of an infinity or of NaN. */
static inline bool double_key_finite(int64_t key)
{
    return key > DOUBLE_KEY_MINUS_INFINITY && key < DOUBLE_KEY_INFINITY;
}

#endif
