/*
 * test_cuda.c: the shim over the CUDA driver. With no GPU: one sentence, and nothing else happens. With one
 * (or where TESSERA_REQUIRE_GPU is set, as tests/gpu.sh does): memory, uploads, kernels, times, graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cuda.h"
#include "engine/cuda/nvrtc.h"
#include "storage/base/clock.h"
#include "storage/base/parallel.h"
#include "tests/support/not_run.h"
#include "tests/support/run_program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All tests run in it. */
static struct execution execution;

static struct cuda *gpu;           /* NULL on machines without */
static struct cuda_module *module; /* of the kernels below */

static const char kernels[] =
    "#include <stdint.h>\n"
    "__constant__ uint32_t offset = 5;\n"
    "extern \"C\" __global__ void fill(uint32_t *out, uint64_t rows, uint32_t factor) {\n"
    "    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;\n"
    "    if (i < rows) out[i] = (uint32_t)i * factor + offset;\n"
    "}\n"
    "extern \"C\" __global__ void mirror(uint32_t *data) { /* a block's values, through shared memory */\n"
    "    extern __shared__ uint32_t shared[];\n"
    "    uint32_t *mine = data + blockIdx.x * (uint64_t)blockDim.x;\n"
    "    shared[threadIdx.x] = mine[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    mine[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];\n"
    "}\n"
    "extern \"C\" __global__ void trap() { __trap(); }\n";

static void must(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        fail_msg("%s", error->text);
}
static void load_kernels(void)
{
    struct error error = {0};
    struct nvrtc_request request = {
        .name = "test_cuda.cu", .source = kernels, .arch = cuda_properties(gpu)->arch};
    void *cubin;
    size_t bytes;
    must(nvrtc_compile(&request, &cubin, &bytes, NULL, &error), &error);
    must(cuda_module_load(gpu, cubin, &module, &error), &error);
    free(cubin);
}

static int open_gpu(void **state)
{
    (void)state;
    struct error error = {0};
    if (cuda_open(0, &gpu, &error) == STATUS_OK) {
        load_kernels();
        return 0;
    }
    print_message("no GPU here: %s\n", error.text);
    return getenv("TESSERA_REQUIRE_GPU") ? -1 : 0;
}

static int close_gpu(void **state)
{
    (void)state;
    if (gpu)
        cuda_module_unload(gpu, module);
    cuda_close(gpu);
    return 0;
}

static void no_gpu_is_one_sentence(void **state)
{
    (void)state;
    struct error error = {0};
    unsigned devices = 99;
    enum status status = cuda_count(&devices, &error);
    if (gpu) {
        assert_int_equal(status, STATUS_OK);
        assert_true(devices >= 1);
        return;
    }
    assert_int_equal(status, STATUS_MACHINE);
    assert_int_equal(devices, 0);
    assert_true(strlen(error.text) > 20);
    struct cuda *none = (struct cuda *)&error;
    struct error again = {0};
    assert_int_equal(cuda_open(0, &none, &again), STATUS_MACHINE);
    assert_null(none);
    assert_string_equal(again.text, error.text);
    cuda_close(none);
}

static void hidden_gpus_are_no_gpus(void **state)
{
    (void)state;
    static struct program_run run;
    run_shell("CUDA_VISIBLE_DEVICES= $T devices --format json", &run);
    assert_int_equal(run.exit_code, 0);
    assert_null(strstr(run.output, "\"gpu_problem\": null"));
}

static void a_gpu_that_is_not_there_is_refused(void **state)
{
    (void)state;
    need_gpu(gpu);
    struct cuda *other;
    struct error error = {0};
    assert_int_equal(cuda_open(1000, &other, &error), STATUS_MACHINE);
    assert_null(other);
    assert_non_null(strstr(error.text, "1000"));
}

static void properties_make_sense(void **state)
{
    (void)state;
    need_gpu(gpu);
    const struct cuda_properties *p = cuda_properties(gpu);
    assert_true(strlen(p->name) > 0);
    assert_true(p->compute_major >= 5);
    assert_memory_equal(p->arch, "sm_", 3);
    assert_true(p->multiprocessors >= 1 && p->threads_per_multiprocessor >= 1024);
    assert_true(p->l2_bytes >= 1 << 18 && p->shared_per_block_bytes >= 48 << 10);
    uint64_t unused, total;
    struct error error = {0};
    must(cuda_memory(gpu, &unused, &total, &error), &error);
    assert_true(unused > 0 && unused <= total && total <= p->memory_bytes);
}

static void a_full_device_says_what_was_asked_and_what_is_free(void **state)
{
    (void)state;
    need_gpu(gpu);
    cuda_address address = 1;
    struct error error = {0};
    assert_int_equal(cuda_allocate(gpu, 1ull << 50, "column huge", &address, &error), STATUS_MACHINE);
    assert_int_equal(address, 0);
    assert_non_null(strstr(error.text, "out of memory: column huge needs 1125899906842624 bytes"));
    assert_non_null(strstr(error.text, "are free"));
    cuda_free(gpu, address);
    must(cuda_allocate(gpu, 0, "nothing", &address, &error), &error);
    cuda_free(gpu, address);
}

static void uploads_arrive_whole_at_every_size(void **state)
{
    (void)state;
    need_gpu(gpu);
    const uint64_t sizes[] = {0,
                              1,
                              127,
                              (1 << 20) - 1,
                              (1 << 20) + 1,
                              4 << 20,
                              (4 << 20) + 1,
                              (8 << 20) - 1,
                              (37 << 20) + 13,
                              100 << 20};
    const uint64_t largest = 100 << 20;
    struct error error = {0};
    uint8_t *from = malloc(largest + 1), *back = malloc(largest + 1);
    assert_true(from && back);
    uint32_t random = 20240601; /* the seed */
    for (uint64_t i = 0; i < largest + 1; i++)
        from[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
    cuda_address device;
    must(cuda_allocate(gpu, largest, "the test", &device, &error), &error);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        must(cuda_set_bytes(gpu, device, 0xEE, largest, &error), &error);
        must(cuda_upload(gpu, device, from + 1, sizes[s], &error), &error); /* also misaligned */
        must(cuda_copy_to_host(gpu, back, device, largest, &error), &error);
        must(cuda_synchronize(gpu, &error), &error);
        assert_int_equal(memcmp(back, from + 1, sizes[s]), 0);
        for (uint64_t i = sizes[s]; i < largest && i < sizes[s] + 100; i++)
            assert_int_equal(back[i], 0xEE);
    }
    cuda_free(gpu, device);
    free(from);
    free(back);
}

static void an_upload_stops_when_asked_to(void **state)
{
    (void)state;
    need_gpu(gpu);
    struct error error = {0};
    uint8_t *from = calloc(64, 1 << 20);
    cuda_address device;
    assert_non_null(from);
    must(cuda_allocate(gpu, 64 << 20, "the test", &device, &error), &error);
    execution_stop(&execution);
    enum status status = cuda_upload(gpu, device, from, 64 << 20, &error);
    execution_resume(&execution);
    assert_int_equal(status, STATUS_INTERRUPTED);
    must(cuda_upload(gpu, device, from, 64 << 20, &error), &error);
    cuda_free(gpu, device);
    free(from);
}

static void kernels_run_in_order_with_their_parameters(void **state)
{
    (void)state;
    need_gpu(gpu);
    struct error error = {0};
    struct cuda_function *fill, *mirror;
    cuda_address data, offset;
    uint64_t rows = 1000 * 256 - 3, offset_bytes;
    uint32_t factor = 7, five = 0, *back;
    must(cuda_module_function(gpu, module, "fill", &fill, &error), &error);
    must(cuda_module_function(gpu, module, "mirror", &mirror, &error), &error);
    must(cuda_module_variable(gpu, module, "offset", &offset, &offset_bytes, &error), &error);
    assert_int_equal(offset_bytes, 4);
    must(cuda_allocate(gpu, 1000 * 1024, "the test", &data, &error), &error);
    must(cuda_pinned_allocate(gpu, 1000 * 1024, (void **)&back, &error), &error);
    must(cuda_set_words(gpu, data, 0xABCD1234, 1000 * 256, &error), &error);
    void *fill_parameters[] = {&data, &rows, &factor}, *mirror_parameters[] = {&data};
    must(cuda_launch(gpu, fill, 1000, 256, 0, fill_parameters, &error), &error);
    must(cuda_launch(gpu, mirror, 1000, 256, 1024, mirror_parameters, &error), &error);
    must(cuda_copy_to_host(gpu, back, data, 1000 * 1024, &error), &error);
    must(cuda_copy_to_host(gpu, &five, offset, 4, &error), &error);
    must(cuda_synchronize(gpu, &error), &error);
    assert_int_equal(five, 5);
    for (uint32_t i = 0; i < 1000 * 256; i++) {
        uint32_t source = i / 256 * 256 + 255 - i % 256;
        assert_int_equal(back[i], source < rows ? source * 7 + 5 : 0xABCD1234);
    }
    cuda_pinned_free(gpu, back);
    cuda_free(gpu, data);
}

static void large_shared_memory_must_be_allowed_first(void **state)
{
    (void)state;
    need_gpu(gpu);
    struct error error = {0};
    struct cuda_function *mirror;
    struct cuda_function_properties properties;
    cuda_address data;
    unsigned blocks;
    uint64_t most = cuda_properties(gpu)->shared_per_block_bytes;
    must(cuda_module_function(gpu, module, "mirror", &mirror, &error), &error);
    must(cuda_function_properties(gpu, mirror, &properties, &error), &error);
    assert_in_range(properties.registers, 1, 255);
    assert_int_equal(properties.local_bytes, 0);
    assert_true(properties.threads_per_block >= 256);
    must(cuda_allocate(gpu, 1024, "the test", &data, &error), &error);
    void *parameters[] = {&data};
    must(cuda_function_allow_shared(gpu, mirror, most, &error), &error);
    must(cuda_function_blocks(gpu, mirror, 256, most, &blocks, &error), &error);
    assert_int_equal(blocks, 1);
    must(cuda_function_blocks(gpu, mirror, 256, 1024, &blocks, &error), &error);
    assert_true(blocks > 1);
    must(cuda_launch(gpu, mirror, 1, 256, most, parameters, &error), &error);
    must(cuda_synchronize(gpu, &error), &error);
    assert_int_equal(cuda_function_allow_shared(gpu, mirror, most + 1, &error), STATUS_MACHINE);
    assert_non_null(strstr(error.text, "shared memory"));
    cuda_free(gpu, data);
}

static void names_that_are_not_in_the_module_are_told(void **state)
{
    (void)state;
    need_gpu(gpu);
    struct error error = {0};
    struct cuda_function *function;
    cuda_address variable;
    assert_int_equal(cuda_module_function(gpu, module, "nothing", &function, &error), STATUS_MACHINE);
    assert_non_null(strstr(error.text, "'nothing'"));
    assert_non_null(strstr(error.text, "CUDA_ERROR_NOT_FOUND"));
    assert_int_equal(cuda_module_variable(gpu, module, "nobody", &variable, NULL, &error), STATUS_MACHINE);
    struct cuda_module *no_module;
    assert_int_equal(cuda_module_load(gpu, "this is no cubin", &no_module, &error), STATUS_MACHINE);
    assert_null(no_module);
}

static void a_graph_replays_what_was_recorded(void **state)
{
    (void)state;
    need_gpu(gpu);
    struct error error = {0};
    struct cuda_function *fill;
    struct cuda_graph *graph = NULL;
    cuda_address data;
    uint64_t rows = 256;
    uint32_t factor = 3, back[256] = {0};
    must(cuda_module_function(gpu, module, "fill", &fill, &error), &error);
    must(cuda_allocate(gpu, 1024, "the test", &data, &error), &error);
    must(cuda_set_words(gpu, data, 1, 256, &error), &error);
    void *parameters[] = {&data, &rows, &factor};
    must(cuda_capture_begin(gpu, &error), &error);
    must(cuda_launch(gpu, fill, 1, 256, 0, parameters, &error), &error);
    must(cuda_capture_end(gpu, &graph, &error), &error);
    factor = 1000; /* the graph has its own copy */
    must(cuda_copy_to_host(gpu, back, data, 1024, &error), &error);
    must(cuda_synchronize(gpu, &error), &error);
    assert_int_equal(back[10], 1); /* recorded, not run */
    for (int again = 0; again < 3; again++) {
        must(cuda_set_words(gpu, data, 1, 256, &error), &error);
        must(cuda_graph_launch(gpu, graph, &error), &error);
        must(cuda_copy_to_host(gpu, back, data, 1024, &error), &error);
        must(cuda_synchronize(gpu, &error), &error);
        assert_int_equal(back[10], 35);
    }
    cuda_graph_destroy(gpu, graph);
    cuda_graph_destroy(gpu, NULL);
    cuda_free(gpu, data);
}

static void events_take_the_device_s_time(void **state)
{
    (void)state;
    need_gpu(gpu);
    const uint64_t bytes = 256 << 20;
    struct error error = {0};
    struct cuda_event *from, *to;
    cuda_address a, b;
    double copied_ms;
    void *host = malloc(bytes), *pinned;
    assert_non_null(host);
    memset(host, 1, bytes);
    must(cuda_pinned_allocate(gpu, bytes, &pinned, &error), &error);
    memset(pinned, 1, bytes);
    must(cuda_allocate(gpu, bytes, "the test", &a, &error), &error);
    must(cuda_allocate(gpu, bytes, "the test", &b, &error), &error);
    must(cuda_event_create(gpu, &from, &error), &error);
    must(cuda_event_create(gpu, &to, &error), &error);
    must(cuda_copy_on_device(gpu, b, a, bytes, &error), &error);
    must(cuda_event_record(gpu, from, &error), &error);
    must(cuda_copy_on_device(gpu, b, a, bytes, &error), &error);
    must(cuda_event_record(gpu, to, &error), &error);
    must(cuda_event_wait(gpu, to, &error), &error);
    must(cuda_event_elapsed(gpu, from, to, &copied_ms, &error), &error);
    assert_true(copied_ms > 0.001 && copied_ms < 1000);
    double upload_ms = 1e9, pageable_ms = 1e9, pinned_ms = 1e9;
    for (int again = 0; again < 3; again++) {
        double start = clock_ms();
        must(cuda_upload(gpu, a, host, bytes, &error), &error);
        double middle = clock_ms();
        must(cuda_copy_to_device(gpu, a, host, bytes, &error), &error);
        must(cuda_synchronize(gpu, &error), &error);
        double end = clock_ms();
        upload_ms = middle - start < upload_ms ? middle - start : upload_ms;
        pageable_ms = end - middle < pageable_ms ? end - middle : pageable_ms;
        must(cuda_copy_to_device(gpu, a, pinned, bytes, &error), &error);
        must(cuda_synchronize(gpu, &error), &error);
        double last = clock_ms();
        pinned_ms = last - end < pinned_ms ? last - end : pinned_ms;
    }
    print_message(
        "on the device %.0f GB/s read and written, upload %.1f GB/s (%.0f %% of a pinned copy's %.1f), "
        "pageable copy %.1f GB/s\n",
        2e-6 * (double)bytes / copied_ms, 1e-6 * (double)bytes / upload_ms, 100 * pinned_ms / upload_ms,
        1e-6 * (double)bytes / pinned_ms, 1e-6 * (double)bytes / pageable_ms);
    cuda_pinned_free(gpu, pinned);
    cuda_event_destroy(gpu, from);
    cuda_event_destroy(gpu, to);
    cuda_free(gpu, a);
    cuda_free(gpu, b);
    free(host);
}

/* Copies by a second stream and by the upload's threads, and a kernel's reads, of a pinned mapped file. */
static void a_pinned_file_is_read_by_streams_and_kernels(void **state)
{
    (void)state;
    need_gpu(gpu);
    const uint64_t bytes = (9 << 20) + 4096, at = 4096 + 128;
    char path[] = "/tmp/test_cuda_pin_XXXXXX";
    const int file = mkstemp(path);
    struct error error = {0};
    uint8_t *back = malloc(2 * bytes);
    assert_true(file >= 0 && back);
    for (uint64_t i = 0; i < bytes; i++)
        back[i] = (uint8_t)(i * 7 + i / 1000);
    assert_int_equal(write(file, back, bytes), bytes);
    const uint8_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    assert_true(map != MAP_FAILED);
    cuda_address host, inner, device;
    struct cuda_stream *stream;
    struct cuda_event *copied, *started;
    must(cuda_pin(gpu, map, bytes, &host, &error), &error);
    must(cuda_pin(gpu, map + at, bytes - at, &inner, &error), &error);
    assert_int_equal(inner, host + at);
    must(cuda_stream_create(gpu, &stream, &error), &error);
    must(cuda_event_create(gpu, &copied, &error), &error);
    must(cuda_event_create(gpu, &started, &error), &error);
    must(cuda_allocate(gpu, 2 * bytes, "the test", &device, &error), &error);
    must(cuda_set_bytes(gpu, device, 0, 2 * bytes, &error), &error);
    must(cuda_event_record(gpu, started, &error), &error);
    must(cuda_stream_wait(gpu, stream, started, &error), &error);
    must(cuda_stream_copy(gpu, stream, device + at, map + at, bytes - at, &error), &error);
    must(cuda_stream_record(gpu, stream, copied, &error), &error);
    must(cuda_stream_wait(gpu, NULL, copied, &error), &error);
    must(cuda_upload_after(gpu, device + bytes, map, bytes, started, &error), &error);
    must(cuda_copy_on_device(gpu, device, host, at, &error), &error);
    memset(back, 0, 2 * bytes);
    must(cuda_copy_to_host(gpu, back, device, 2 * bytes, &error), &error);
    must(cuda_synchronize(gpu, &error), &error);
    assert_memory_equal(back, map, bytes);
    assert_memory_equal(back + bytes, map, bytes);
    cuda_unpin(gpu, map + at);
    cuda_unpin(gpu, map);
    assert_int_equal(cuda_pin(gpu, map, UINT64_C(1) << 60, &host, &error), STATUS_MACHINE);
    assert_non_null(strstr(error.text, "not pinned"));
    cuda_stream_destroy(gpu, stream);
    cuda_event_destroy(gpu, copied);
    cuda_event_destroy(gpu, started);
    cuda_free(gpu, device);
    munmap((void *)map, bytes);
    close(file);
    unlink(path);
    free(back);
}

/* Last: the device's context is of no use afterwards, until it is opened again. */
static void what_goes_wrong_on_the_device_comes_out_at_synchronize(void **state)
{
    (void)state;
    need_gpu(gpu);
    if (getenv("TESSERA_UNDER_SANITIZER"))
        not_run("the fault that it makes is what compute-sanitizer reports");
    struct error error = {0};
    struct cuda_function *trap;
    must(cuda_module_function(gpu, module, "trap", &trap, &error), &error);
    must(cuda_launch(gpu, trap, 1, 1, 0, NULL, &error), &error);
    assert_int_equal(cuda_synchronize(gpu, &error), STATUS_MACHINE);
    assert_non_null(strstr(error.text, "running what was queued failed: CUDA_ERROR"));
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_gpu_is_one_sentence),
        cmocka_unit_test(hidden_gpus_are_no_gpus),
        cmocka_unit_test(a_gpu_that_is_not_there_is_refused),
        cmocka_unit_test(properties_make_sense),
        cmocka_unit_test(a_full_device_says_what_was_asked_and_what_is_free),
        cmocka_unit_test(uploads_arrive_whole_at_every_size),
        cmocka_unit_test(an_upload_stops_when_asked_to),
        cmocka_unit_test(kernels_run_in_order_with_their_parameters),
        cmocka_unit_test(large_shared_memory_must_be_allowed_first),
        cmocka_unit_test(names_that_are_not_in_the_module_are_told),
        cmocka_unit_test(a_graph_replays_what_was_recorded),
        cmocka_unit_test(events_take_the_device_s_time),
        cmocka_unit_test(a_pinned_file_is_read_by_streams_and_kernels),
        cmocka_unit_test(what_goes_wrong_on_the_device_comes_out_at_synchronize),
    };
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
