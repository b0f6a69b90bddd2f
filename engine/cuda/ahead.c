/* ahead.c: see ahead.h. */
#include "engine/cuda/ahead.h"

#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* How well code for `of` runs on a GPU of architecture `on`, which have numbers as 90: machine code runs on GPUs of its own
 * generation that are not older, and PTX on any that is not older. 0: not at all. */
static int fitness(const char *of, int on)
{
    int number;
    if (sscanf(of, "sm_%d", &number) == 1)
        return number / 10 == on / 10 && number <= on ? 10000 + number : 0;
    return sscanf(of, "compute_%d", &number) == 1 && number <= on ? number : 0;
}

static const struct ahead_kernel *find(const char *name, const char *arch)
{
    const struct ahead_kernel *best = NULL;
    int on, least = 0;
    if (sscanf(arch, "sm_%d", &on) != 1)
        return NULL;
    for (const struct ahead_kernel *kernel = ahead_kernels; kernel->name; kernel++)
        if (strcmp(kernel->name, name) == 0 && fitness(kernel->arch, on) > least) {
            least = fitness(kernel->arch, on);
            best = kernel;
        }
    return best;
}

bool ahead_has(const char *name, const char *arch)
{
    return find(name, arch) != NULL;
}

enum status ahead_get(const char *name, const char *arch, void **image, size_t *bytes, struct error *error)
{
    const struct ahead_kernel *const kernel = find(name, arch);
    if (!kernel)
        return error_set(error, STATUS_MACHINE, "this build has no kernel %s for %s", name, arch);
    RETURN_IF_ERROR(memory_take(image, kernel->image_bytes, "a kernel", error));
    const size_t got =
        ZSTD_decompress(*image, kernel->image_bytes, ahead_bytes + kernel->place, kernel->bytes);
    if (got != kernel->image_bytes) {
        free(*image);
        return error_set(error, STATUS_MACHINE, "kernel %s for %s, which is part of the program, is damaged",
                         name, kernel->arch);
    }
    *bytes = got;
    return STATUS_OK;
}
