/*
 * calls.h: the functions of a row that the general kernel computes, by the names of their bodies (row_body.h). Their
 * place in the list is a general_code's `index`. Functions that take long to compile are left out: exponentials, angles and
 * divisors. This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GENERAL_CALLS_H
#define TESSERA_OPERATORS_GENERAL_CALLS_H

/* clang-format off: one line each */
#define GENERAL_CALLS(X) \
    X(floor)             \
    X(ceil)              \
    X(trunc)             \
    X(round)             \
    X(round_tens)        \
    X(sqrt)              \
    X(whole)             \
    X(cut)               \
    X(date_trunc)        \
    X(time_trunc)        \
    X(make_date)         \
    X(bits_and)          \
    X(bits_or)           \
    X(bits_xor)          \
    X(bits_not)          \
    X(bits_set)          \
    X(shift_left)        \
    X(shift_right)       \
    X(hash)              \
    X(hash_double)       \
    X(hash_pair)         \
    X(sketch_register)   \
    X(sketch_rank)       \
    X(sketch_bucket)     \
    X(sketch_double_bucket)
/* clang-format on */

#endif
