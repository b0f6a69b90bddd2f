/*
 * kernel_job.h: compiles kernels on a thread of its own while statements run.
 *
 * One thread of the process compiles one kernel after the other, in the order in which they were asked for, and is there only
 * while there are any. Each goes into the cache on disk (kernel_cache.h), also if nobody waits for it any more. When the
 * process ends, the compiler is told to stop, and is waited for until it has: NVRTC 12.8 and later stop within some
 * milliseconds, earlier ones when the kernel is compiled. What was not compiled then is compiled by the next process that
 * needs it. All functions may be called from several threads at once.
 */
#ifndef TESSERA_ENGINE_CUDA_KERNEL_JOB_H
#define TESSERA_ENGINE_CUDA_KERNEL_JOB_H

#include "engine/cuda/kernel_cache.h"

struct kernel_job;

/* Asks for a kernel. The text is copied; name, headers and options must live as long as the process. *job is NULL if too many
 * wait already, or no thread can be started; then nothing happens. Free with kernel_job_release. */
NODISCARD enum status kernel_job_start(const struct nvrtc_request *request, struct kernel_job **job,
                                       struct error *error);

/* True if the kernel is compiled, or cannot be. */
bool kernel_job_done(const struct kernel_job *job);

/* Waits for the kernel, and moves it to *binary, once. Errors are those of kernel_cache_get. */
NODISCARD enum status kernel_job_take(struct kernel_job *job, struct kernel_binary *binary,
                                      struct error *error);

/* Does not wait. NULL is legal. */
void kernel_job_release(struct kernel_job *job);

#endif
