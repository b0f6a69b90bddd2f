/* device_list.h: reads the devices of an engine (engine.h) from a text, as `--device` has it. */
#ifndef TESSERA_ENGINE_RUN_DEVICE_LIST_H
#define TESSERA_ENGINE_RUN_DEVICE_LIST_H

#include "engine/run/device.h"

/* A host with the most GPUs that are sold as one has 16; a list of CPU devices is no longer either. */
#define DEVICES_MAX 64u

struct device_list {
    const struct device_operations *operations;
    uint32_t count;
    unsigned ordinals[DEVICES_MAX]; /* of GPUs */
};

/* Reads "cpu", "cpu,cpu", "cuda", "cuda:N", "cuda:0,1" or "cuda:all", which counts the GPUs. STATUS_BAD_INPUT, with
 * what is wrong, for other texts, for a CPU beside a GPU, and for a GPU that is named twice. */
NODISCARD enum status device_list_read(const char *text, struct device_list *list, struct error *error);

#endif
