/* launch_floor.c: see ceiling.h. */
#include "engine/measure/ceiling.h"

#include "engine/cuda/kernel_cache.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>

#define REPEATS      31u
#define SCAN_THREADS 256u
#define SCAN_BLOCKS  4u /* on a multiprocessor: the threads of most queries */

static const char empty_source[] = "extern \"C\" __global__ void __launch_bounds__(256) first()\n"
                                   "{\n"
                                   "#if __CUDA_ARCH__ >= 900\n"
                                   "    asm volatile(\"griddepcontrol.launch_dependents;\");\n"
                                   "#endif\n"
                                   "}\n"
                                   "extern \"C\" __global__ void __launch_bounds__(256, 4) second()\n"
                                   "{\n"
                                   "#if __CUDA_ARCH__ >= 900\n"
                                   "    asm volatile(\"griddepcontrol.wait;\" : : : \"memory\");\n"
                                   "#endif\n"
                                   "}\n";

struct empty {
    struct cuda *cuda;
    struct cuda_module *module;
    struct cuda_function *first, *second;
    struct cuda_graph *graph;
    struct cuda_event *begin, *end;
};

static enum status load(struct empty *empty, struct error *error)
{
    struct cuda *cuda = empty->cuda;
    const struct nvrtc_request request = {
        .name = "empty", .source = empty_source, .arch = cuda_properties(cuda)->arch};
    struct kernel_binary binary = {0};
    RETURN_IF_ERROR(kernel_cache_get(&request, &binary, NULL, error));
    const enum status status = cuda_module_load(cuda, binary.cubin, &empty->module, error);
    kernel_binary_free(&binary);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(cuda_module_function(cuda, empty->module, "first", &empty->first, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, empty->module, "second", &empty->second, error));
    RETURN_IF_ERROR(cuda_event_create(cuda, &empty->begin, error));
    return cuda_event_create(cuda, &empty->end, error);
}

static enum status record(struct empty *empty, struct error *error)
{
    struct cuda *cuda = empty->cuda;
    const unsigned blocks = SCAN_BLOCKS * (unsigned)cuda_properties(cuda)->multiprocessors;
    RETURN_IF_ERROR(cuda_capture_begin(cuda, error));
    enum status status = cuda_launch(cuda, empty->first, 1, SCAN_THREADS, 0, NULL, error);
    status = AND_THEN(status, cuda_launch_early(cuda, empty->second, blocks, SCAN_THREADS, 0, NULL, error));
    const enum status ended = cuda_capture_end(cuda, &empty->graph, status == STATUS_OK ? error : NULL);
    return status != STATUS_OK ? status : ended;
}

static enum status measure(struct empty *empty, double *ms, struct error *error)
{
    double times[REPEATS];
    RETURN_IF_ERROR(load(empty, error));
    RETURN_IF_ERROR(record(empty, error));
    for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
        RETURN_IF_ERROR(cuda_event_record(empty->cuda, empty->begin, error));
        RETURN_IF_ERROR(cuda_graph_launch(empty->cuda, empty->graph, error));
        RETURN_IF_ERROR(cuda_event_record(empty->cuda, empty->end, error));
        RETURN_IF_ERROR(cuda_synchronize(empty->cuda, error));
        RETURN_IF_ERROR(cuda_event_elapsed(empty->cuda, empty->begin, empty->end, &times[repeat], error));
    }
    sort_doubles(times, REPEATS);
    *ms = times[REPEATS / 2];
    return STATUS_OK;
}

enum status launch_floor_cuda(struct cuda *cuda, double *ms, struct error *error)
{
    struct empty empty = {.cuda = cuda};
    const enum status status = measure(&empty, ms, error);
    cuda_graph_destroy(cuda, empty.graph);
    cuda_event_destroy(cuda, empty.begin);
    cuda_event_destroy(cuda, empty.end);
    cuda_module_unload(cuda, empty.module);
    return status;
}
