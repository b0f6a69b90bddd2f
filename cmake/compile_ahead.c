/*
 * compile_ahead.c: compiles the kernels of engine/cuda/ahead.h. It is run by the build.
 *
 *     compile_ahead OUTPUT.c OUTPUT.bin ARCH...       ARCH: sm_75 or, for PTX, compute_120
 *
 * It writes the compressed code, and a table of it that includes the code with .incbin. Architectures that NVRTC does not know
 * are left out, and all of them where there is no NVRTC. Compilations run side by side on all processors; what is in the
 * user's cache of kernels (engine/cuda/kernel_cache.h) is not compiled again. A kernel's key there has the headers that it
 * includes and no others. Kernels of CUB's parts are left out where its headers are not found (engine/cuda/cccl.h), or are of a version
 * with which they do not compile.
 */
#include "engine/cuda/cccl.h"
#include "engine/cuda/kernel_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define HEADERS_MAX 512u
#define JOBS_MAX    256u
#define THREADS_MAX 64u
#define LEVEL       19

#define SCAN(place) "#define GENERAL_PLACE GENERAL_" place "\n#include \"operators/general/scan_cuda.h\"\n"
static const struct {
    const char *name, *text;
    bool of_cub;
} kernels[] = {{"general_rows", SCAN("ROWS") "#include \"operators/general/take_cuda.h\"\n", false},
               {"general_single", SCAN("SINGLE"), false},
               {"general_shared", SCAN("SHARED"), false},
               {"general_dense", SCAN("DENSE"), false},
               {"general_hash", SCAN("HASH"), false},
               {"general_groups", "#include \"operators/general/groups_cuda.h\"\n", false},
               {"window",
                "#include \"operators/window/window_cuda.h\"\n#include \"operators/window/runs_cuda.h\"\n",
                false},
               {"radix_sort", "#include \"operators/sort/radix_sort_cuda.h\"\n", true}};
#define KERNELS (sizeof kernels / sizeof *kernels)

/* Generic lambdas have no annotations; and some codecs' loops are empty for some types of values. */
static const char *const own_options[] = {"-default-device", "-w", NULL};
static const char *const *cub_options; /* NULL: without its headers */

static struct embedded_file headers[HEADERS_MAX];
static struct job {
    const char *arch;
    size_t kernel;
    struct kernel_binary binary;
    void *packed;
    size_t packed_bytes;
    struct error error;
} jobs[JOBS_MAX];
static size_t job_count;
static atomic_size_t next_job;

/* ---- The headers that a text includes ---- */

static const struct embedded_file *find_file(const struct embedded_file *list, const char *name,
                                             size_t length)
{
    for (; list->name; list++)
        if (strlen(list->name) == length && memcmp(list->name, name, length) == 0)
            return list;
    return NULL;
}

static void include_all(const char *text)
{
    static const char word[] = "#include \"";
    for (const char *at = text; (at = strstr(at, word)) != NULL;) {
        at += sizeof word - 1;
        const size_t length = strcspn(at, "\"\n");
        const struct embedded_file *const file = find_file(embedded_files, at, length);
        size_t count = 0;
        if (!file || find_file(headers, at, length))
            continue;
        while (headers[count].name)
            count++;
        if (count + 1 < HEADERS_MAX)
            headers[count] = *file;
        include_all(file->text);
    }
}

/* ---- Compiling ---- */

static void text_of(size_t kernel, char *text, size_t bytes)
{
    snprintf(text, bytes, "#define TILE_CUDA 1\n#include <stdint.h>\n%s", kernels[kernel].text);
}

static void compile(struct job *job)
{
    char text[256];
    text_of(job->kernel, text, sizeof text);
    const struct nvrtc_request request = {.name = kernels[job->kernel].name,
                                          .source = text,
                                          .headers = headers,
                                          .arch = job->arch,
                                          .options = kernels[job->kernel].of_cub ? cub_options : own_options};
    if (kernel_cache_get(&request, &job->binary, NULL, &job->error) != STATUS_OK)
        return;
    const size_t bound = ZSTD_compressBound(job->binary.cubin_bytes);
    job->packed = malloc(bound);
    job->packed_bytes =
        job->packed ? ZSTD_compress(job->packed, bound, job->binary.cubin, job->binary.cubin_bytes, LEVEL)
                    : 0;
    if (!job->packed || ZSTD_isError(job->packed_bytes))
        error_set(&job->error, STATUS_MACHINE, "out of memory");
}

static void *work(void *unused)
{
    (void)unused;
    for (size_t j; (j = atomic_fetch_add(&next_job, 1)) < job_count;)
        compile(&jobs[j]);
    return NULL;
}

static void compile_all(void)
{
    pthread_t threads[THREADS_MAX];
    long count = sysconf(_SC_NPROCESSORS_ONLN), started = 0;
    count = count > THREADS_MAX ? THREADS_MAX : count;
    while (started < count && pthread_create(&threads[started], NULL, work, NULL) == 0)
        started++;
    if (started == 0)
        work(NULL);
    for (long t = 0; t < started; t++)
        pthread_join(threads[t], NULL);
}

/* Another version of CUB may have other parts. */
static bool is_left_out(const struct job *job)
{
    return kernels[job->kernel].of_cub && job->error.status == STATUS_BAD_INPUT;
}

/* ---- Output ---- */

static int write_all(const char *table, const char *bytes)
{
    size_t place = 0, whole = 0, kernels_written = 0;
    FILE *const code = fopen(bytes, "wb"), *const out = fopen(table, "w");
    if (!code || !out) {
        fprintf(stderr, "compile_ahead: %s or %s cannot be written\n", table, bytes);
        return 1;
    }
    fprintf(out,
            "/* Written by cmake/compile_ahead.c: the kernels that are compiled ahead. */\n"
            "#include \"engine/cuda/ahead.h\"\n\n"
            "__asm__(\".section .rodata\\n.balign 16\\n.global ahead_bytes\\n.hidden ahead_bytes\\n"
            "ahead_bytes:\\n.incbin \\\"%s\\\"\\n.byte 0\\n.previous\\n\");\n\n"
            "const struct ahead_kernel ahead_kernels[] = {\n",
            bytes);
    for (struct job *job = jobs; job < jobs + job_count; job++) {
        if (is_left_out(job)) {
            printf("compile_ahead: %s is left out for %s: %s\n", kernels[job->kernel].name, job->arch,
                   job->error.text);
            continue;
        }
        kernels_written++;
        fwrite(job->packed, 1, job->packed_bytes, code);
        fprintf(out, "    {\"%s\", \"%s\", %zu, %zu, %zu},\n", kernels[job->kernel].name, job->arch, place,
                job->packed_bytes, job->binary.cubin_bytes);
        place += job->packed_bytes;
        whole += job->binary.cubin_bytes;
    }
    fputs("    {0},\n};\n", out);
    if (fclose(code) != 0 || fclose(out) != 0)
        return 1;
    printf("compile_ahead: %zu kernels, %.1f MB, compressed %.1f MB\n", kernels_written, 1e-6 * (double)whole,
           1e-6 * (double)place);
    return 0;
}

int main(int count, char **words)
{
    char text[256];
    int major, minor;
    struct error error = {0}, without_cub = {0};
    if (count < 3)
        return 2;
    for (size_t k = 0; k < KERNELS; k++) {
        text_of(k, text, sizeof text);
        include_all(text);
    }
    if (cccl_options(&cub_options, &without_cub) != STATUS_OK)
        printf("compile_ahead: groups are not sorted on GPUs: %s\n", without_cub.text);
    if (nvrtc_version(&major, &minor, &error) != STATUS_OK)
        printf("compile_ahead: no kernel is compiled ahead: %s\n", error.text);
    for (int w = 3; error.status == STATUS_OK && w < count; w++)
        for (size_t k = 0; nvrtc_knows(words[w]) && k < KERNELS && job_count < JOBS_MAX; k++)
            if (!kernels[k].of_cub || cub_options)
                jobs[job_count++] = (struct job){.arch = words[w], .kernel = k};
    compile_all();
    for (struct job *job = jobs; job < jobs + job_count; job++)
        if (!is_left_out(job) && job->error.status != STATUS_OK) {
            fprintf(stderr, "compile_ahead: %s\n", job->error.text);
            return 1;
        }
    return write_all(words[1], words[2]);
}
