/* device.h: access to the GPU of a device, for callers that know that the device is one. */
#ifndef TESSERA_ENGINE_GPU_DEVICE_H
#define TESSERA_ENGINE_GPU_DEVICE_H

#include "engine/cuda/cuda.h"
#include "engine/run/device.h"

/* The GPU of a device that cuda_device opened. */
struct cuda *gpu_device_cuda(const struct device *device);

#endif
