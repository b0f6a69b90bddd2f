/*
 * cuda.h: the GPU, through one shim over the CUDA driver.
 *
 * libcuda.so.1 is opened on first use. Building needs neither its headers nor the toolkit, so one binary
 * starts on every machine and says why a GPU cannot be used. Every error is STATUS_MACHINE; its sentence
 * names the purpose of the call and CUDA's name of the error.
 *
 * A struct cuda is one device with a stream of its own. Everything below runs on that stream in order, unless
 * a function says otherwise. Any thread may call, but only one at a time per struct cuda (cuda_upload starts
 * its own threads). Several streams of one device, for statements that run at the same time, are several struct
 * cuda (cuda_attach). They share its memory, modules, functions, events and graphs, which must be destroyed before the device
 * is closed; destroying NULL is legal. The default stream is never used.
 */
#ifndef TESSERA_ENGINE_CUDA_CUDA_H
#define TESSERA_ENGINE_CUDA_CUDA_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda;
struct cuda_module;
struct cuda_function;
struct cuda_event;
struct cuda_graph;
struct cuda_stream;

/* An address in the device's memory; 0 means none. Allocations are aligned to 256 bytes. */
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
    /* The largest dynamic shared memory of one block (227 KB on Hopper). */
    uint64_t shared_per_block_bytes;
    uint64_t shared_per_multiprocessor_bytes;
    unsigned clock_khz;        /* highest clock of the multiprocessors */
    unsigned memory_clock_khz; /* 0 where the driver does not say */
    unsigned memory_bus_bits;
    int driver_major, driver_minor; /* the CUDA version that the driver supports: 13, 0 */
};

/* Counts the GPUs that the driver shows (at least 1). If there is none, returns STATUS_MACHINE with the
 * reason: no driver, no device, or a build without GPU support. */
NODISCARD enum status cuda_count(unsigned *devices, struct error *error);

/* The name of GPU `ordinal`, "NVIDIA H200", without opening it. */
NODISCARD enum status cuda_name(unsigned ordinal, char *name, size_t bytes, struct error *error);

/* True if kernels of one GPU can read the memory of another (cuda_peer_open), over NVLink or over the bus. */
bool cuda_peer_exists(unsigned ordinal, unsigned peer);

/* Opens GPU `ordinal`. Its context is made by a thread, in 0.1 to 0.3 seconds; cuda_properties need not wait for it, the first
 * of all other functions does, and fails if it cannot be made. Where the GPU is set to let in only one process, or none,
 * cuda_open waits itself. */
NODISCARD enum status cuda_open(unsigned ordinal, struct cuda **cuda, struct error *error);

/* Waits for that. */
NODISCARD enum status cuda_wait_until_open(const struct cuda *cuda, struct error *error);

/* Waits until the stream's work is done, then releases everything; NULL is legal. All other streams must have been given
 * back. */
void cuda_close(struct cuda *cuda);

/* Takes another stream of the device from those that were given back, or makes one. Any thread, also while others use
 * `cuda`. cuda_detach waits for the stream's work and gives it back; NULL is legal. */
NODISCARD enum status cuda_attach(struct cuda *cuda, struct cuda **own, struct error *error);
void cuda_detach(struct cuda *own);

const struct cuda_properties *cuda_properties(const struct cuda *cuda);

/* ---- Memory ---- */

/* What cuda_allocate can give, if it is not in pieces: the driver's and the pool's. Takes the driver some microseconds. */
NODISCARD enum status cuda_memory(struct cuda *cuda, uint64_t *free_bytes, uint64_t *total_bytes,
                                  struct error *error);
/* The bytes that cuda_allocate has given and that are not freed, of all streams. */
uint64_t cuda_memory_used(const struct cuda *cuda);
/* Free memory goes back to the driver before the pool has taken more than `bytes` from it. */
void cuda_memory_bound(struct cuda *cuda, uint64_t bytes);

/* Memory comes from the device's pool (pool.h) and not from the driver, so both calls take about a microsecond. What it
 * has in it is not known. If the device is full, the error names `what` ("column lo_revenue"), the bytes needed and the bytes free.
 * 0 bytes is legal and gives an address that may be freed. */
NODISCARD enum status cuda_allocate(struct cuda *cuda, uint64_t bytes, const char *what,
                                    cuda_address *address, struct error *error);

/* Waits until the stream's work is done, then frees; 0 is legal. Work on other streams must not use it. */
void cuda_free(struct cuda *cuda, cuda_address address);

/* Takes host memory, from a pool of the device's, that it can copy from and to asynchronously, at the full speed of the
 * bus. No work may use it any more when it is freed. */
NODISCARD enum status cuda_pinned_allocate(struct cuda *cuda, size_t bytes, void **memory,
                                           struct error *error);
void cuda_pinned_free(struct cuda *cuda, void *memory);

/* Queue a copy on the stream. The host memory must not change until cuda_synchronize, or until an event
 * recorded after the copy is reached. Pageable host memory is legal but slower; the call then returns when
 * the driver has staged the copy. */
NODISCARD enum status cuda_copy_to_device(struct cuda *cuda, cuda_address to, const void *from,
                                          uint64_t bytes, struct error *error);
NODISCARD enum status cuda_copy_to_host(struct cuda *cuda, void *to, cuda_address from, uint64_t bytes,
                                        struct error *error);
NODISCARD enum status cuda_copy_on_device(struct cuda *cuda, cuda_address to, cuda_address from,
                                          uint64_t bytes, struct error *error);

/* Queue on the stream: set bytes, or 32-bit words (address a multiple of 4), to one value. */
NODISCARD enum status cuda_set_bytes(struct cuda *cuda, cuda_address address, uint8_t value, uint64_t bytes,
                                     struct error *error);
NODISCARD enum status cuda_set_words(struct cuda *cuda, cuda_address address, uint32_t value, uint64_t words,
                                     struct error *error);

/* Queues a copy of memory that may change as soon as the call returns: through pinned memory of the stream's own. More than
 * a megabyte is copied by cuda_upload. */
NODISCARD enum status cuda_send(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                                struct error *error);

/* Copies a large piece of pageable memory (a mapped column file) through pinned buffers that several threads
 * fill. The copy starts after the work that is already on the stream; the call returns when all bytes are on
 * the device. It stops with its execution. */
NODISCARD enum status cuda_upload(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                                  struct error *error);

/* The same, but the copy starts when `after` is reached, and the stream waits for it: what is queued later may use it.
 * The call returns when all bytes have been read from the host's memory. For streaming: it waits for buffers only. */
NODISCARD enum status cuda_upload_after(struct cuda *cuda, cuda_address to, const void *from, uint64_t bytes,
                                        struct cuda_event *after, struct error *error);

/* A piece of host memory, and where it goes from the beginning of a copy. */
struct cuda_piece {
    const void *from;
    uint64_t bytes, offset;
};

/* cuda_upload of many pieces, which are small or large: the lanes' threads put them together. They are one behind the other, from
 * offset 0 on. With `after`, as cuda_upload_after. */
NODISCARD enum status cuda_upload_pieces(struct cuda *cuda, cuda_address to, const struct cuda_piece *pieces,
                                         uint32_t count, struct cuda_event *after, struct error *error);

/* ---- Host memory that the device reads (pin.c) ---- */

/* Pins mapped memory of this process, whole pages that contain the bytes, so that copies from it run at the full speed
 * of the bus and kernels can read it; *address is what they read `memory` at. A range that is pinned already, also by
 * another device, is counted once more. About 0.05 s a GB that is in the page cache. Memory must have been mapped shared.
 * STATUS_MACHINE, with the reason, if it cannot be pinned; at most three quarters of the machine's memory are. */
NODISCARD enum status cuda_pin(struct cuda *cuda, const void *memory, uint64_t bytes, cuda_address *address,
                               struct error *error);
/* Ends one cuda_pin of this memory, before it is unmapped; no copy or kernel may use it. */
void cuda_unpin(struct cuda *cuda, const void *memory);

/* ---- Further streams, for work beside the main stream ---- */

NODISCARD enum status cuda_stream_create(struct cuda *cuda, struct cuda_stream **stream, struct error *error);
/* Waits for its work; NULL is legal. */
void cuda_stream_destroy(struct cuda *cuda, struct cuda_stream *stream);
/* Queue on `stream`, NULL: the main one: a copy from pinned memory; an event; a wait for an event of any stream. */
NODISCARD enum status cuda_stream_copy(struct cuda *cuda, struct cuda_stream *stream, cuda_address to,
                                       const void *from, uint64_t bytes, struct error *error);
NODISCARD enum status cuda_stream_record(struct cuda *cuda, struct cuda_stream *stream,
                                         struct cuda_event *event, struct error *error);
NODISCARD enum status cuda_stream_wait(struct cuda *cuda, struct cuda_stream *stream,
                                       struct cuda_event *event, struct error *error);
/* cuda_launch on `stream`. */
NODISCARD enum status cuda_stream_launch(struct cuda *cuda, struct cuda_stream *stream,
                                         struct cuda_function *function, unsigned blocks, unsigned threads,
                                         uint64_t dynamic_shared_bytes, void **parameters,
                                         struct error *error);

/* ---- Memory of another device ---- */

/* Lets kernels of `cuda` read and write the memory of `peer`, another device, at its addresses: over NVLink, or over the
 * bus. *possible is false if the machine does not let them. Opening it again costs a microsecond. It ends with the
 * process. */
NODISCARD enum status cuda_peer_open(struct cuda *cuda, const struct cuda *peer, bool *possible,
                                     struct error *error);

/* ---- Kernels ---- */

/* Loads a cubin (nvrtc.h) for this device. */
NODISCARD enum status cuda_module_load(struct cuda *cuda, const void *cubin, struct cuda_module **module,
                                       struct error *error);
void cuda_module_unload(struct cuda *cuda, struct cuda_module *module);

/* Finds a __global__ function by its name in the module (extern "C", or the mangled name). The function lives
 * as long as the module. */
NODISCARD enum status cuda_module_function(struct cuda *cuda, struct cuda_module *module, const char *name,
                                           struct cuda_function **function, struct error *error);

/* Finds a __device__ or __constant__ variable by its name; `bytes` may be NULL. */
NODISCARD enum status cuda_module_variable(struct cuda *cuda, struct cuda_module *module, const char *name,
                                           cuda_address *address, uint64_t *bytes, struct error *error);

struct cuda_function_properties {
    unsigned registers;           /* per thread */
    unsigned local_bytes;         /* per thread: spills and local arrays */
    unsigned static_shared_bytes; /* per block */
    unsigned threads_per_block;   /* the largest block that this function can run in */
};
NODISCARD enum status cuda_function_properties(struct cuda *cuda, struct cuda_function *function,
                                               struct cuda_function_properties *properties,
                                               struct error *error);

/* Allows launches of the function with up to `bytes` of dynamic shared memory; needed above 48 KB. */
NODISCARD enum status cuda_function_allow_shared(struct cuda *cuda, struct cuda_function *function,
                                                 uint64_t bytes, struct error *error);

/* Counts the blocks of this shape that one multiprocessor holds at once; 0 if not even one fits. */
NODISCARD enum status cuda_function_blocks(struct cuda *cuda, struct cuda_function *function,
                                           unsigned threads_per_block, uint64_t dynamic_shared_bytes,
                                           unsigned *blocks_per_multiprocessor, struct error *error);

/* Queues a one-dimensional launch of `blocks` x `threads`. parameters[i] points at the i-th argument; the
 * arguments are copied before the call returns. */
NODISCARD enum status cuda_launch(struct cuda *cuda, struct cuda_function *function, unsigned blocks,
                                  unsigned threads, uint64_t dynamic_shared_bytes, void **parameters,
                                  struct error *error);
/* The same, but the kernel may begin as soon as all blocks of the kernel before it have allowed it or ended
 * (griddepcontrol.launch_dependents); it waits for the end of that kernel itself (griddepcontrol.wait). GPUs before Hopper
 * have no such launches, and there it begins after that kernel. */
NODISCARD enum status cuda_launch_early(struct cuda *cuda, struct cuda_function *function, unsigned blocks,
                                        unsigned threads, uint64_t dynamic_shared_bytes, void **parameters,
                                        struct error *error);

/* Waits until everything queued is done. Errors of queued work are reported here. */
NODISCARD enum status cuda_synchronize(struct cuda *cuda, struct error *error);

/* Waits for all streams of the device, after an error: what was queued may use memory that is freed now. */
void cuda_wait_for_all(struct cuda *cuda);

/* For another library of this process that queues work of its own: makes the device's primary context current on this
 * thread and gives the stream, a CUstream (cudaStream_t). */
NODISCARD enum status cuda_share(struct cuda *cuda, void **stream, struct error *error);

/* ---- Time ---- */

NODISCARD enum status cuda_event_create(struct cuda *cuda, struct cuda_event **event, struct error *error);
void cuda_event_destroy(struct cuda *cuda, struct cuda_event *event);
NODISCARD enum status cuda_event_record(struct cuda *cuda, struct cuda_event *event, struct error *error);
NODISCARD enum status cuda_event_wait(struct cuda *cuda, struct cuda_event *event, struct error *error);

/* Milliseconds between two recorded events that have been reached; the resolution is 0.5 microseconds. */
NODISCARD enum status cuda_event_elapsed(struct cuda *cuda, struct cuda_event *from, struct cuda_event *to,
                                         double *milliseconds, struct error *error);

/* ---- Graphs: a sequence of work that is recorded once and launched with one call ---- */

/* Between these two calls, work queued on the stream is recorded and does not run. Allocation, freeing,
 * cuda_upload and waiting are not allowed meanwhile. Call cuda_capture_end even if something fails in between
 * (with a NULL error if need be), because it ends the recording. *graph is NULL, or a graph that is not needed any more and
 * becomes the new one: if both have the same kinds of work in the same order, only arguments and sizes are changed. */
NODISCARD enum status cuda_capture_begin(struct cuda *cuda, struct error *error);
NODISCARD enum status cuda_capture_end(struct cuda *cuda, struct cuda_graph **graph, struct error *error);

NODISCARD enum status cuda_graph_launch(struct cuda *cuda, struct cuda_graph *graph, struct error *error);
void cuda_graph_destroy(struct cuda *cuda, struct cuda_graph *graph);

#endif
