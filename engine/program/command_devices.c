/*
 * command_devices.c: `tessera devices`, which lists the devices of this machine, or says why a GPU cannot be
 * used.
 *
 * A GPU that cannot be used is an answer here, not a failure: the exit code is 0.
 */
#include "engine/program/commands.h"

#include "engine/cuda/cuda.h"
#include "engine/cuda/nvrtc.h"
#include "engine/run/cluster.h"
#include "storage/base/command/command_line.h"
#include "storage/base/isa.h"
#include "storage/base/text/json_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIB (1024.0 * 1024.0 * 1024.0)
#define MIB (1024.0 * 1024.0)
#define KIB 1024.0

/* ---- What there is ---- */

/* Gives the processor's name. Linux names x86 processors in /proc/cpuinfo; for others it is the
 * architecture. */
static void cpu_model(char *model, size_t bytes)
{
#if defined(__x86_64__)
    snprintf(model, bytes, "unnamed x86-64 processor");
#elif defined(__aarch64__)
    snprintf(model, bytes, "64-bit Arm processor");
#else
    snprintf(model, bytes, "unnamed processor");
#endif
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(model, bytes, "%s", strchr(line, ':') + 1 + strspn(strchr(line, ':') + 1, " \t"));
            model[strcspn(model, "\n")] = '\0';
            break;
        }
    if (file)
        fclose(file);
}

static uint64_t cpu_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

/* One GPU: its properties and free memory, or what went wrong. */
struct gpu {
    struct cuda_properties properties;
    uint64_t free_bytes;
    struct error problem;
};

static void gpu_read(unsigned ordinal, struct gpu *gpu)
{
    struct cuda *cuda;
    *gpu = (struct gpu){.properties.ordinal = ordinal};
    if (cuda_open(ordinal, &cuda, &gpu->problem) != STATUS_OK)
        return;
    uint64_t total = 0;
    gpu->properties = *cuda_properties(cuda);
    if (cuda_memory(cuda, &gpu->free_bytes, &total, &gpu->problem) == STATUS_OK)
        gpu->problem = (struct error){0};
    cuda_close(cuda);
}

/* The memory's peak rate: double data rate times the bus's width; 0 if the driver does not say. */
static double memory_gb_per_second(const struct cuda_properties *p)
{
    return 2.0 * p->memory_clock_khz * 1e3 * p->memory_bus_bits / 8 * 1e-9;
}

/* ---- Printing ---- */

static void print_table_gpu(const struct gpu *gpu)
{
    const struct cuda_properties *p = &gpu->properties;
    if (gpu->problem.status != STATUS_OK) {
        printf("GPU %-4u  cannot be used: %s\n", p->ordinal, gpu->problem.text);
        return;
    }
    printf("GPU %-4u  %s, %s, CUDA %d.%d driver\n", p->ordinal, p->name, p->arch, p->driver_major,
           p->driver_minor);
    printf("          %u multiprocessors at %u MHz, %.0f MiB L2, %.0f KiB shared memory a block\n",
           p->multiprocessors, p->clock_khz / 1000, (double)p->l2_bytes / MIB,
           (double)p->shared_per_block_bytes / KIB);
    printf("          %.1f GiB memory, %.1f GiB free", (double)p->memory_bytes / GIB,
           (double)gpu->free_bytes / GIB);
    if (memory_gb_per_second(p) > 0)
        printf(", %.0f GB/s at most", memory_gb_per_second(p));
    putchar('\n');
}

static void print_peers(unsigned gpus, unsigned gpu)
{
    const char *comma = "          reads the memory of GPU ";
    for (unsigned peer = 0; peer < gpus; peer++)
        if (cuda_peer_exists(gpu, peer)) {
            printf("%s%u", comma, peer);
            comma = ", ";
        }
    if (*comma == ',')
        putchar('\n');
}

static enum status print_table(void)
{
    char model[128];
    struct error error = {0};
    unsigned gpus;
    int major, minor;
    cpu_model(model, sizeof model);
    printf("CPU       %s, %u threads, %s, %.1f GiB memory\n", model, parallel_threads_available(),
           isa_name(isa_level()), (double)cpu_memory_bytes() / GIB);
    if (cuda_count(&gpus, &error) != STATUS_OK)
        printf("GPU       %s\n", error.text);
    for (unsigned i = 0; i < gpus; i++) {
        struct gpu gpu;
        gpu_read(i, &gpu);
        print_table_gpu(&gpu);
        print_peers(gpus, i);
    }
    if (nvrtc_version(&major, &minor, &error) == STATUS_OK)
        printf("compiler  NVRTC %d.%d (%s)\n", major, minor, nvrtc_path());
    else
        printf("compiler  %s\n", error.text);
    const bool cluster = cluster_available(model, sizeof model, &error) == STATUS_OK;
    printf("cluster   %s\n", cluster ? model : error.text);
    return STATUS_OK;
}

static json_t *json_of_gpu(const struct gpu *gpu)
{
    const struct cuda_properties *p = &gpu->properties;
    if (gpu->problem.status != STATUS_OK)
        return json_pack("{s:i, s:s}", "ordinal", (int)p->ordinal, "problem", gpu->problem.text);
    return json_pack("{s:i, s:s, s:s, s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:f, s:n}", "ordinal",
                     (int)p->ordinal, "device", "cuda", "name", p->name, "arch", p->arch, "multiprocessors",
                     (int)p->multiprocessors, "clock_mhz", (int)(p->clock_khz / 1000), "memory_bytes",
                     (json_int_t)p->memory_bytes, "free_bytes", (json_int_t)gpu->free_bytes, "l2_bytes",
                     (json_int_t)p->l2_bytes, "shared_per_block_bytes", (json_int_t)p->shared_per_block_bytes,
                     "memory_gb_per_second", memory_gb_per_second(p), "problem");
}

/* The numbers of the GPUs whose memory this one reads. */
static json_t *json_of_peers(unsigned gpus, unsigned gpu)
{
    json_t *peers = json_array();
    for (unsigned peer = 0; peer < gpus; peer++)
        if (cuda_peer_exists(gpu, peer))
            json_array_append_new(peers, json_integer(peer));
    return peers;
}

static enum status print_json(struct error *error)
{
    char model[128];
    unsigned gpus;
    int major, minor;
    struct error problem = {0};
    cpu_model(model, sizeof model);
    json_t *root = json_pack("{s:{s:s, s:i, s:s, s:I}, s:[]}", "cpu", "model", model, "threads",
                             (int)parallel_threads_available(), "instruction_set", isa_name(isa_level()),
                             "memory_bytes", (json_int_t)cpu_memory_bytes(), "gpus");
    bool good = root != NULL;
    bool any = cuda_count(&gpus, &problem) == STATUS_OK;
    good =
        good && json_object_set_new(root, "gpu_problem", any ? json_null() : json_string(problem.text)) == 0;
    for (unsigned i = 0; good && i < gpus; i++) {
        struct gpu gpu;
        gpu_read(i, &gpu);
        json_t *const object = json_of_gpu(&gpu);
        good = object && json_object_set_new(object, "peers", json_of_peers(gpus, i)) == 0;
        good = json_array_append_new(json_object_get(root, "gpus"), object) == 0 && good;
    }
    json_t *compiler = nvrtc_version(&major, &minor, &problem) == STATUS_OK
                           ? json_pack("{s:s, s:o, s:s, s:n}", "name", "NVRTC", "version",
                                       json_sprintf("%d.%d", major, minor), "path", nvrtc_path(), "problem")
                           : json_pack("{s:s, s:s}", "name", "NVRTC", "problem", problem.text);
    good = good && json_object_set_new(root, "compiler", compiler) == 0;
    json_t *cluster = cluster_available(model, sizeof model, &problem) == STATUS_OK
                          ? json_pack("{s:s, s:s, s:n}", "kind", "mpi", "library", model, "problem")
                          : json_pack("{s:s, s:s}", "kind", "mpi", "problem", problem.text);
    good = good && json_object_set_new(root, "cluster", cluster) == 0;
    const enum status status = good ? json_write(root, JSON_INDENT(2), stdout, error)
                                    : error_out_of_memory(error, 4096, "the answer as JSON");
    json_decref(root);
    return status; /* main reports a failed write */
}

/* ---- The command ---- */

struct devices_options {
    bool json;
};

enum status command_devices(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {
        {"format", 'f', "FORMAT", "table (the default) or json",
         TO_WORD(struct devices_options, json, "table|json")},
        {0},
    };
    static const struct command_line line = {
        .options = known,
        .help = "Lists this machine's processor and GPUs, or why a GPU cannot be used.",
    };
    struct devices_options options = {0};
    (void)progress;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    return options.json ? print_json(error) : print_table();
}
