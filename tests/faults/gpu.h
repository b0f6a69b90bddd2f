/* gpu.h: asks inject.c whether a call of a GPU's driver fails (gpu.c). */
#ifndef TESSERA_TESTS_FAULTS_GPU_H
#define TESSERA_TESTS_FAULTS_GPU_H

#include <stdbool.h>

/* Counts a call; `memory`: it wants memory of the GPU, or of the host for it. True if it must fail. */
bool faults_gpu(bool memory);

#endif
