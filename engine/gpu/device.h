/* device.h: access to the GPU of a device, for callers that know that the device is one. */
#ifndef TESSERA_ENGINE_GPU_DEVICE_H
#define TESSERA_ENGINE_GPU_DEVICE_H

#include "engine/cuda/cuda.h"
#include "engine/run/device.h"

/* The GPU of a device that cuda_device opened. */
struct cuda *gpu_device_cuda(const struct device *device);

/* The stream that the statement, the current execution, has of the device; a new one if it has none yet. An execution without
 * an account of memory has the device's own. */
NODISCARD enum status gpu_stream(struct device *device, struct cuda **cuda, struct error *error);

#endif
