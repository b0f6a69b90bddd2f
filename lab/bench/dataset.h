/*
 * dataset.h: the columns of int32 values that experiments encode, by the distributions of the papers.
 *
 * Values are made in blocks of DATASET_BLOCK_ROWS rows on all threads; the same seed gives the same values on every
 * machine and number of threads. 250 million rows take 1 GB and, on 16 cores, about half a second.
 */
#ifndef TESSERA_LAB_BENCH_DATASET_H
#define TESSERA_LAB_BENCH_DATASET_H

#include "lab/lab.h"

#define DATASET_BLOCK_ROWS (1u << 20)

struct dataset {
    int32_t *values;
    uint64_t rows;
    uint32_t sum;           /* of all values, modulo 2^32 */
    cuda_address on_device; /* a copy, with which decoded values are compared; 0 on a processor */
};

/* Writes rows first .. first+rows-1 of the column; `random` is the state of the block's generator. */
typedef void dataset_fill(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random,
                          int32_t *values);

/* Makes a column; `what` names it in the progress bar. dataset_adopt takes over values that were made in another way
 * (allocated with memory_take). Free both with dataset_free, also after an error. */
NODISCARD enum status dataset_make(struct lab *lab, const char *what, uint64_t rows, dataset_fill *fill,
                                   const void *parameters, struct dataset *dataset, struct error *error);
NODISCARD enum status dataset_adopt(struct lab *lab, int32_t *values, uint64_t rows, struct dataset *dataset,
                                    struct error *error);
void dataset_free(struct lab *lab, struct dataset *dataset);

/* ---- Distributions: the fills and their parameters ---- */

/* Uniform in [0, 2^width); width 0 .. 31. Parameter: uint32_t width. */
dataset_fill fill_uniform;

/* Sorted, with `distinct` values that are equally frequent; consecutive numbers if that is not below `rows`. */
struct sorted_parameters {
    uint64_t rows, distinct;
};
dataset_fill fill_sorted;

/* Normal, rounded to integers. */
struct normal_parameters {
    double mean, deviation;
};
dataset_fill fill_normal;

/* Ranks 1 .. `ranks` with probability proportional to rank^-exponent; exponent >= 1. By rejection-inversion
 * (Hoermann and Derflinger, 1996). */
struct zipf_parameters {
    double exponent;
    uint32_t ranks;
};
dataset_fill fill_zipf;

/* The gaps between neighbours of a sorted list of distinct uniform integers, of which every `mean`-th is in the list:
 * geometric with that mean, at least 1. Parameter: double mean. */
dataset_fill fill_gaps;

/* Time series of SERIES_ROWS values each. A series is a walk: successive ordinary values differ by less than
 * 2^(step_bits - 1), uniformly, and stay in [0, 8 * 2^step_bits), where a step that would leave is turned round. To 5 %
 * of the values, at random places, an outlier adds or subtracts a uniform number below 2^outlier_bits. Every 16th series
 * or so begins as the pattern does, for a random number of rows. step_bits 2 .. 24, outlier_bits .. 30. */
#define SERIES_ROWS 1024u
struct series_parameters {
    uint32_t step_bits, outlier_bits;
    int32_t pattern[SERIES_ROWS]; /* series_pattern makes it: a walk without outliers */
};
dataset_fill fill_series;
void series_pattern(struct series_parameters *series);

/* The next number of a generator: splitmix64 (Steele et al., OOPSLA 2014); one in [0, 1); and a normal one of mean 0 and
 * deviation 1. */
uint64_t random_next(uint64_t *random);
double random_unit(uint64_t *random);
double random_normal(uint64_t *random);

/* A sorted list of `rows` distinct integers in [0, limit) by the clustered model of Anh and Moffat (2010): a range is
 * cut at a random place, and each half of the numbers falls, at random, uniformly or clustered into one of the two
 * parts. rows <= limit. */
void list_clustered(uint32_t *list, uint32_t rows, uint32_t limit, uint64_t *random);

#endif
