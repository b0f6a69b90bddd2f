/*
 * kernel.h: the laboratory's own kernels on a GPU: compiled around the decoder of a column, launched and timed.
 */
#ifndef TESSERA_LAB_BENCH_KERNEL_H
#define TESSERA_LAB_BENCH_KERNEL_H

#include "lab/bench/chunk_decode.h"
#include "lab/bench/decode.h"
#include "lab/bench/kernel_text.h"

/* A column of the laboratory on a GPU: an encoded dataset and the ways to its chunks. */
struct lab_column {
    struct column_data data;       /* the chunks of `encoded` as segments */
    struct segment_data *segments; /* of `data` */
    struct kernel_column shape;
    struct cuda_decode *decode; /* the chunks on the device, and memory for the decoded values */
};

/* Sets `data` and `shape`, which kernels' texts follow from, and uploads nothing. */
NODISCARD enum status lab_column_shape(const struct encoded *encoded, struct lab_column *column,
                                       struct error *error);

/* `encoded` must outlive the column. Close with lab_column_close, also after an error. */
NODISCARD enum status lab_column_open(struct lab *lab, const struct encoded *encoded,
                                      struct lab_column *column, struct error *error);
void lab_column_close(struct lab_column *column);

struct lab_kernel {
    struct cuda_module *module;
    struct cuda_function *function;
    unsigned blocks; /* that fill the device */
    unsigned threads;
    uint64_t shared_bytes;
};

/* Compiles a text (kernel_text.h), which it frees, into the cache of kernels. `options` are those of an nvrtc_request, or NULL. */
NODISCARD enum status lab_text_compile(struct lab *lab, char *source, const char *const *options,
                                       struct error *error);

/* Compiles a text, which it frees, and finds its function `name`, whose blocks have `shared_bytes` of dynamic shared
 * memory. Close with lab_kernel_close, also after an error. */
NODISCARD enum status lab_kernel_open(struct lab *lab, char *source, const char *name, unsigned threads,
                                      uint64_t shared_bytes, struct lab_kernel *kernel, struct error *error);
/* The same with options of an nvrtc_request. */
NODISCARD enum status lab_kernel_open_with(struct lab *lab, char *source, const char *const *options,
                                           const char *name, unsigned threads, uint64_t shared_bytes,
                                           struct lab_kernel *kernel, struct error *error);
void lab_kernel_close(struct lab *lab, struct lab_kernel *kernel);

NODISCARD enum status lab_kernel_launch(struct lab *lab, const struct lab_kernel *kernel, void **arguments,
                                        struct error *error);

/* Times what `work` queues: `lab.repeat` times, after one run that is not timed. */
typedef enum status lab_work(void *context, struct error *error);
NODISCARD enum status lab_time(struct lab *lab, lab_work *work, void *context, struct speed *speed,
                               struct error *error);

/* Counts the values in the device's memory that differ from the dataset's; STATUS_CHECK_FAILED names `what`. */
NODISCARD enum status lab_compare(struct lab *lab, const struct dataset *dataset, cuda_address values,
                                  const char *what, struct error *error);

#endif
