/*
 * decode.h: decodes an encoded dataset, checks every value, and times it: to memory, and decode-and-sum, which writes
 * nothing back.
 *
 * On a GPU decoding to memory is what `--staged` does to a column, and a codec that is decoded in several passes takes
 * them all. On a processor all threads decode tiles: to memory, or each tile into 4 KiB of its thread's.
 */
#ifndef TESSERA_LAB_BENCH_DECODE_H
#define TESSERA_LAB_BENCH_DECODE_H

#include "lab/bench/encoded.h"

/* The times of `lab.repeat` runs, in milliseconds. median 0: not measured. */
struct speed {
    double median, least, most;
};

/* Sorts the times. */
struct speed speed_of(double *ms, uint32_t count);

struct decode_result {
    struct speed memory, sum;
};

/* STATUS_CHECK_FAILED if a decoded value or the sum is wrong; nothing is timed then. `sum` is not measured for codecs
 * without a tile decoder. */
NODISCARD enum status decode_measure(struct lab *lab, const struct dataset *dataset,
                                     const struct encoded *encoded, struct decode_result *result,
                                     struct error *error);

/* Compiles the kernels that decode_measure needs on a GPU into the cache of kernels. May be called for several encoded
 * datasets at once, from several threads. */
NODISCARD enum status decode_compile(struct lab *lab, const struct encoded *encoded, struct error *error);

/* For decode_measure. */
NODISCARD enum status decode_measure_cpu(struct lab *lab, const struct dataset *dataset,
                                         const struct encoded *encoded, struct decode_result *result,
                                         struct error *error);
NODISCARD enum status decode_measure_cuda(struct lab *lab, const struct dataset *dataset,
                                          const struct encoded *encoded, struct decode_result *result,
                                          struct error *error);

#endif
