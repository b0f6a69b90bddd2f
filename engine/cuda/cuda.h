/*
 * cuda.h: the GPU, through one shim over the CUDA driver.
 *
 * libcuda.so.1 is opened on first use and neither its headers nor the toolkit are needed to build, so one
 * binary starts on every machine and says why a GPU cannot be used. Errors are sentences that name the call's
 * purpose and CUDA's own name of the error; all are STATUS_MACHINE.
 *
 * A struct cuda is one device with a stream of its own, on which everything below runs in order unless a
 * function says otherwise. Calls may come from any thread, one at a time per struct cuda (cuda_upload brings
 * its own threads). Handles (modules, functions, events, graphs) belong to the struct cuda that made them and
 * must be destroyed before it is closed; destroying NULL is legal.
 */
#ifndef TESSERA_ENGINE_CUDA_CUDA_H
#define TESSERA_ENGINE_CUDA_CUDA_H

#include "storage/base/status.h"

#include <stddef.h>
#include <stdint.h>

struct cuda;
struct cuda_module;
struct cuda_function;
struct cuda_event;
struct cuda_graph;

/* An address in the device's memory; 0 is none. Allocations are aligned to 256 bytes. */
typedef uint64_t cuda_address;

/* ---- Devices ---- */

struct cuda_properties {
    unsigned ordinal;
    char name[128];
    int compute_major, compute_minor; /* 9, 0 on Hopper */
    char arch[16];                    /* "sm_90": what kernels are compiled for */
    unsigned multiprocessors;
    unsigned threads_per_multiprocessor;
    uint64_t memory_bytes;
    uint64_t l2_bytes;
    uint64_t shared_per_block_bytes; /* the most dynamic shared memory that a block can ask for (227 KB on
                                        Hopper) */
    uint64_t shared_per_multiprocessor_bytes;
    unsigned clock_khz;        /* of the multiprocessors, at most */
    unsigned memory_clock_khz; /* 0 where the driver does not say */
    unsigned memory_bus_bits;
    int driver_major, driver_minor; /* the CUDA version that the driver supports: 13, 0 */
};

/* How many GPUs the driver shows (at least 1); STATUS_MACHINE with the reason if the answer is none: no
 * driver, no device, or a build without GPU support. */
NODISCARD enum status cuda_count(unsigned *devices, struct error *error);

/* Opens GPU `ordinal`. */
NODISCARD enum status cuda_open(unsigned ordinal, struct cuda **cuda, struct error *error);

/* Waits for what is running and gives everything back; NULL is legal. */
void cuda_close(struct cuda *cuda);

const struct cuda_properties *cuda_properties(const struct cuda *cuda);

/* ---- Memory ---- */

NODISCARD enum status cuda_memory(struct cuda *cuda, uint64_t *free_bytes, uint64_t *total_bytes,
                                  struct error *error);

/* `what` goes into the sentence of a device that is full ("column lo_revenue"), with the bytes asked for and
 * the bytes free. 0 bytes is legal and gives an address that may be freed. */
NODISCARD enum status cuda_allocate(struct cuda *cuda, uint64_t bytes, const char *what,
                                    cuda_address *address, struct error *error);

/* Waits for what is running, then frees; 0 is legal. */
void cuda_free(struct cuda *cuda, cuda_address address);

/* Host memory that the device reads and writes at full speed and asynchronously. */
NODISCARD enum status cuda_pinned_allocate(struct cuda *cuda, size_t bytes, void **memory,
                                           struct error *error);
void cuda_pinned_free(struct cuda *cuda, void *memory);

/* Queued on the stream. The host memory must stay as it is until cuda_synchronize (or an event behind the
 * copy); pageable memory is legal, slower, and then the call returns when the copy is staged. */
NODISCARD enum status cuda_copy_to_device(struct cuda *cuda, cuda_address to, const void *from,
                                          uint64_t bytes, struct error *error);
NODISCARD enum status cuda_copy_to_host(struct cuda *cuda, void *to, cuda_address from, uint64_t bytes,
                                        struct error *error);
NODISCARD enum status cuda_copy_on_device(struct cuda *cuda, cuda_address to, cuda_address from,
                                          uint64_t bytes, struct error *error);

/* Sets bytes, or 32-bit words (address a multiple of 4), to one value; queued on the stream. */
NODISCARD enum status cuda_set_bytes(struct cuda *cuda, cuda_address address, uint8_t value, uint64_t bytes,
                                     struct error *error);
NODISCARD enum status cuda_set_words(struct cuda *cuda, cuda_address address, uint32_t value, uint64_t words,
                                     struct error *error);

/* Copies a large piece of pageable memory (a mapped column file) through pinned buffers that several threads
 * fill, and returns when it is there. Behind what the stream holds already. Stops when asked to
 * (cancel_request). */
NODISCARD enum status cuda_upload(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                                  struct error *error);

/* ---- Kernels ---- */

/* Loads a cubin (nvrtc.h) for this device. */
NODISCARD enum status cuda_module_load(struct cuda *cuda, const void *cubin, struct cuda_module **module,
                                       struct error *error);
void cuda_module_unload(struct cuda *cuda, struct cuda_module *module);

/* A __global__ function by its name in the module (extern "C", or the mangled name). Lives as long as the
 * module. */
NODISCARD enum status cuda_module_function(struct cuda *cuda, struct cuda_module *module, const char *name,
                                           struct cuda_function **function, struct error *error);

/* A __device__ or __constant__ variable by its name; `bytes` may be NULL. */
NODISCARD enum status cuda_module_variable(struct cuda *cuda, struct cuda_module *module, const char *name,
                                           cuda_address *address, uint64_t *bytes, struct error *error);

struct cuda_function_properties {
    unsigned registers;           /* of a thread */
    unsigned local_bytes;         /* of a thread: spills and local arrays */
    unsigned static_shared_bytes; /* of a block */
    unsigned threads_per_block;   /* the most that this function can run with */
};
NODISCARD enum status cuda_function_properties(struct cuda *cuda, struct cuda_function *function,
                                               struct cuda_function_properties *properties,
                                               struct error *error);

/* Lets the function be launched with so many bytes of dynamic shared memory; needed above 48 KB. */
NODISCARD enum status cuda_function_allow_shared(struct cuda *cuda, struct cuda_function *function,
                                                 uint64_t bytes, struct error *error);

/* How many blocks of this shape one multiprocessor holds at once; 0 if not even one fits. */
NODISCARD enum status cuda_function_blocks(struct cuda *cuda, struct cuda_function *function,
                                           unsigned threads_per_block, uint64_t dynamic_shared_bytes,
                                           unsigned *blocks_per_multiprocessor, struct error *error);

/* Queues one-dimensional `blocks` x `threads`; parameters[i] points at the i-th argument, which is copied
 * before this returns. */
NODISCARD enum status cuda_launch(struct cuda *cuda, struct cuda_function *function, unsigned blocks,
                                  unsigned threads, uint64_t dynamic_shared_bytes, void **parameters,
                                  struct error *error);

/* Waits until everything queued is done; what went wrong on the device meanwhile comes out here. */
NODISCARD enum status cuda_synchronize(struct cuda *cuda, struct error *error);

/* ---- Time ---- */

NODISCARD enum status cuda_event_create(struct cuda *cuda, struct cuda_event **event, struct error *error);
void cuda_event_destroy(struct cuda *cuda, struct cuda_event *event);
NODISCARD enum status cuda_event_record(struct cuda *cuda, struct cuda_event *event, struct error *error);
NODISCARD enum status cuda_event_wait(struct cuda *cuda, struct cuda_event *event, struct error *error);

/* Milliseconds between two recorded events that have been reached (0.5 microseconds is the clock's step). */
NODISCARD enum status cuda_event_elapsed(struct cuda *cuda, struct cuda_event *from, struct cuda_event *to,
                                         double *milliseconds, struct error *error);

/* ---- Graphs: a sequence of work recorded once, launched with one call ---- */

/* Between these two, what is queued on the stream is recorded and does not run. Allocation, freeing,
 * cuda_upload and waiting are not allowed in between. If anything fails in between, call cuda_capture_end all
 * the same (with a NULL error if need be): it ends the recording. */
NODISCARD enum status cuda_capture_begin(struct cuda *cuda, struct error *error);
NODISCARD enum status cuda_capture_end(struct cuda *cuda, struct cuda_graph **graph, struct error *error);

NODISCARD enum status cuda_graph_launch(struct cuda *cuda, struct cuda_graph *graph, struct error *error);
void cuda_graph_destroy(struct cuda *cuda, struct cuda_graph *graph);

#endif
