/* driver.c: opens libcuda.so.1, or the file that the environment variable TESSERA_LIBCUDA names, once and turns its results into sentences. See engine/cuda/driver.h. */
#include "engine/cuda/driver.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct cuda_driver functions;
static struct error open_error; /* its status is STATUS_OK if the driver is usable */
static pthread_once_t opened_once = PTHREAD_ONCE_INIT;

static const char *name_of(int result)
{
    const char *name = NULL;
    return functions.error_name(result, &name) == CUDA_SUCCESS && name ? name : "an unknown error";
}

static const char *text_of(int result)
{
    const char *text = NULL;
    return functions.error_string(result, &text) == CUDA_SUCCESS && text ? text : "no description";
}

#ifdef TESSERA_WITH_CUDA

static const struct {
    const char *name;
    void *slot;
} symbols[] = {
#define CUDA_DRIVER_SYMBOL(field, symbol, parameters) {symbol, &functions.field},
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_SYMBOL)
#undef CUDA_DRIVER_SYMBOL
};

static void open_driver(void)
{
    const char *const wanted = getenv("TESSERA_LIBCUDA");
    void *library = dlopen(wanted && *wanted ? wanted : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library && wanted && *wanted) {
        error_set(
            &open_error, STATUS_MACHINE,
            "no GPU can be used: TESSERA_LIBCUDA names '%s', which cannot be opened; correct or unset it",
            wanted);
        return;
    }
    if (!library) {
        error_set(&open_error, STATUS_MACHINE,
                  "no GPU can be used: NVIDIA's driver (libcuda.so.1) is not installed on this machine; use "
                  "--device cpu, or install the driver");
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) {
            error_set(&open_error, STATUS_MACHINE,
                      "no GPU can be used: NVIDIA's driver has no function %s, it is older than CUDA 11.4; "
                      "update the driver",
                      symbols[i].name);
            return;
        }
        memcpy(symbols[i].slot, &function, sizeof function);
    }
    int version = 0;
    void *const launch = dlsym(library, "cuLaunchKernelEx");
    if (launch && functions.driver_version(&version) == CUDA_SUCCESS && version >= 12030)
        memcpy(&functions.launch_with, &launch, sizeof launch);
    void *const update = dlsym(library, "cuGraphExecUpdate_v2");
    if (update)
        memcpy(&functions.graph_update, &update, sizeof update);
    int result = functions.init(0);
    if (result != CUDA_SUCCESS)
        error_set(&open_error, STATUS_MACHINE,
                  "no GPU can be used: NVIDIA's driver is installed but does not start: %s (%s); see what "
                  "nvidia-smi says, or use --device cpu",
                  name_of(result), text_of(result));
}

#else

static void open_driver(void)
{
    error_set(&open_error, STATUS_MACHINE,
              "this build of Tessera has no GPU support (it was configured with TESSERA_CUDA=OFF); use "
              "--device cpu, or build with TESSERA_CUDA=AUTO");
}

#endif

enum status cuda_driver_open(const struct cuda_driver **driver, struct error *error)
{
    pthread_once(&opened_once, open_driver);
    if (open_error.status != STATUS_OK && error)
        *error = open_error;
    *driver = &functions;
    return open_error.status;
}

enum status cuda_result(const struct cuda *cuda, int result, const char *purpose, struct error *error)
{
    if (result == CUDA_SUCCESS)
        return STATUS_OK;
    return error_set(error, STATUS_MACHINE, "GPU %u (%s): %s failed: %s (%s)", cuda->of->properties.ordinal,
                     cuda->of->properties.name, purpose, name_of(result), text_of(result));
}

enum status cuda_wait_until_open(const struct cuda *cuda, struct error *error)
{
    struct cuda_device *const device = cuda->of;
    if (!atomic_load_explicit(&device->opened, memory_order_acquire)) {
        pthread_mutex_lock(&device->open_lock);
        while (!atomic_load(&device->opened))
            pthread_cond_wait(&device->open_end, &device->open_lock);
        pthread_mutex_unlock(&device->open_lock);
    }
    if (device->open_error.status != STATUS_OK && error)
        *error = device->open_error;
    return device->open_error.status;
}

enum status cuda_enter(const struct cuda *cuda, struct error *error)
{
    RETURN_IF_ERROR(cuda_wait_until_open(cuda, error));
    return cuda_result(cuda, cuda->of->driver->context_set(cuda->of->context), "using its context", error);
}
