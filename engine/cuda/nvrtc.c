/*
 * nvrtc.c: see nvrtc.h.
 *
 * The library's functions are declared here by hand, so building needs no toolkit. Their C ABI has not
 * changed since CUDA 11.2, the first version that returns cubins. The library is opened once and never
 * closed.
 */
#include "engine/cuda/nvrtc.h"
#include "storage/base/memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvrtc_program; /* nvrtcProgram points at it */

enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_OUT_OF_MEMORY = 1, NVRTC_ERROR_COMPILATION = 6 };

static struct {
    int (*version)(int *major, int *minor);
    const char *(*error_string)(int result);
    int (*create_program)(struct nvrtc_program **program, const char *source, const char *name, int headers,
                          const char *const *header_texts, const char *const *header_names);
    int (*compile_program)(struct nvrtc_program *program, int options, const char *const *option_texts);
    int (*log_size)(struct nvrtc_program *program, size_t *bytes);
    int (*log)(struct nvrtc_program *program, char *log);
    int (*cubin_size)(struct nvrtc_program *program, size_t *bytes);
    int (*cubin)(struct nvrtc_program *program, char *cubin);
    int (*ptx_size)(struct nvrtc_program *program, size_t *bytes);
    int (*ptx)(struct nvrtc_program *program, char *ptx);
    int (*destroy_program)(struct nvrtc_program **program);
    int (*archs_count)(int *count);
    int (*archs)(int *archs);
    int (*flow)(struct nvrtc_program *program, int (*callback)(void *context, void *reserved),
                void *context); /* NULL before 12.8 */
    int major, minor;
    char path[512];
} nvrtc;

static pthread_once_t opened_once = PTHREAD_ONCE_INIT;
static struct error open_error; /* its status is STATUS_OK if the library is usable */

#ifdef TESSERA_WITH_CUDA

static const struct {
    const char *name;
    void *slot;
} symbols[] = {
    {"nvrtcVersion", &nvrtc.version},
    {"nvrtcGetErrorString", &nvrtc.error_string},
    {"nvrtcCreateProgram", &nvrtc.create_program},
    {"nvrtcCompileProgram", &nvrtc.compile_program},
    {"nvrtcGetProgramLogSize", &nvrtc.log_size},
    {"nvrtcGetProgramLog", &nvrtc.log},
    {"nvrtcGetCUBINSize", &nvrtc.cubin_size},
    {"nvrtcGetCUBIN", &nvrtc.cubin},
    {"nvrtcGetPTXSize", &nvrtc.ptx_size},
    {"nvrtcGetPTX", &nvrtc.ptx},
    {"nvrtcDestroyProgram", &nvrtc.destroy_program},
    {"nvrtcGetNumSupportedArchs", &nvrtc.archs_count},
    {"nvrtcGetSupportedArchs", &nvrtc.archs},
};

/* Opens one file and binds its functions; false if there is no such library or it is too old. */
static bool try_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) {
            dlclose(library);
            return false;
        }
        memcpy(symbols[i].slot, &function, sizeof function);
    }
    void *const flow = dlsym(library, "nvrtcSetFlowCallback");
    memcpy(&nvrtc.flow, &flow, sizeof flow);
    if (nvrtc.version(&nvrtc.major, &nvrtc.minor) != NVRTC_SUCCESS) {
        dlclose(library);
        return false;
    }
    snprintf(nvrtc.path, sizeof nvrtc.path, "%s", path);
    return true;
}

static void open_library(void)
{
    static const char *const files[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "libnvrtc.so"};
    static const char *const library_folders[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                                  "targets/sbsa-linux/lib"};
    const char *wanted = getenv("TESSERA_NVRTC");
    if (wanted && *wanted) {
        if (!try_open(wanted))
            error_set(&open_error, STATUS_MACHINE,
                      "TESSERA_NVRTC names '%s', which cannot be opened as NVIDIA's run-time compiler (11.2 "
                      "or later); correct or unset it",
                      wanted);
        return;
    }
    const size_t file_count = sizeof files / sizeof *files;
    for (size_t f = 0; f < file_count; f++)
        if (try_open(files[f]))
            return;
    const char *const toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t t = 0; t < sizeof toolkits / sizeof *toolkits; t++)
        for (size_t d = 0;
             toolkits[t] && *toolkits[t] && d < sizeof library_folders / sizeof *library_folders; d++)
            for (size_t f = 0; f < file_count; f++) {
                char path[sizeof nvrtc.path];
                int length =
                    snprintf(path, sizeof path, "%s/%s/%s", toolkits[t], library_folders[d], files[f]);
                if (length > 0 && (size_t)length < sizeof path && try_open(path))
                    return;
            }
    error_set(&open_error, STATUS_MACHINE,
              "NVIDIA's run-time compiler (libnvrtc.so.13, .12 or .11.2) was not found by the dynamic linker "
              "nor in $CUDA_HOME, $CUDA_PATH or /usr/local/cuda; install the CUDA toolkit's NVRTC package or "
              "set TESSERA_NVRTC to the file");
}

#else

static void open_library(void)
{
    error_set(&open_error, STATUS_MACHINE,
              "this build of Tessera has no GPU support (it was configured with TESSERA_CUDA=OFF); use "
              "--device cpu, or build with TESSERA_CUDA=AUTO");
}

#endif

static enum status open_once(struct error *error)
{
    pthread_once(&opened_once, open_library);
    if (open_error.status != STATUS_OK && error)
        *error = open_error;
    return open_error.status;
}

enum status nvrtc_version(int *major, int *minor, struct error *error)
{
    RETURN_IF_ERROR(open_once(error));
    *major = nvrtc.major;
    *minor = nvrtc.minor;
    return STATUS_OK;
}

const char *nvrtc_path(void)
{
    return nvrtc.path[0] ? nvrtc.path : NULL;
}

bool nvrtc_knows(const char *arch)
{
    int known[128], count = 0, number, used = 0;
    if (open_once(NULL) != STATUS_OK)
        return false;
    if ((sscanf(arch, "sm_%d%n", &number, &used) != 1 && sscanf(arch, "compute_%d%n", &number, &used) != 1) ||
        arch[used])
        return true;
    if (nvrtc.archs_count(&count) != NVRTC_SUCCESS || count > (int)(sizeof known / sizeof *known) ||
        nvrtc.archs(known) != NVRTC_SUCCESS)
        return false;
    for (int i = 0; i < count; i++)
        if (known[i] == number)
            return true;
    return false;
}

/* ---- Compiling ---- */

/* NVRTC has no C library. The headers that CPU and GPU share need the types of fixed width; the definitions
 * below are right on every platform that CUDA runs on. */
static const struct embedded_file standard_headers[] = {
    {"stdint.h",
     "#pragma once\n"
     "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;\n"
     "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;\n"
     "typedef unsigned long long uint64_t; typedef long long intptr_t; typedef unsigned long long "
     "uintptr_t;\n"
     "#define INT8_MIN (-128)\n#define INT8_MAX 127\n#define UINT8_MAX 255\n"
     "#define INT16_MIN (-32768)\n#define INT16_MAX 32767\n#define UINT16_MAX 65535\n"
     "#define INT32_MIN (-2147483647 - 1)\n#define INT32_MAX 2147483647\n#define UINT32_MAX 4294967295u\n"
     "#define INT64_MIN (-9223372036854775807ll - 1)\n#define INT64_MAX 9223372036854775807ll\n"
     "#define UINT64_MAX 18446744073709551615ull\n"},
    {"stddef.h", "#pragma once\n"}, /* NULL and size_t are built in; there is no offsetof */
    {"stdbool.h", "#pragma once\n"},
};

#define STANDARD_HEADERS (sizeof standard_headers / sizeof *standard_headers)
#define OWN_OPTIONS      2u
#define USER_BYTES       512u
#define USER_OPTIONS     (USER_BYTES / 2)

/* The arrays that the library takes, in one allocation. */
struct arguments {
    const char **texts, **names, **options;
    int headers, option_count;
    char arch[64], users[USER_BYTES];
};

const char *nvrtc_user_options(void)
{
    const char *const options = getenv("TESSERA_NVRTC_OPTIONS");
    return options ? options : "";
}

static enum status arguments_create(const struct nvrtc_request *request, struct arguments *arguments,
                                    struct error *error)
{
    const struct embedded_file *headers = request->headers ? request->headers : embedded_files;
    size_t header_count = 0, option_count = 0;
    while (headers[header_count].name)
        header_count++;
    while (request->options && request->options[option_count])
        option_count++;
    if (snprintf(arguments->users, sizeof arguments->users, "%s", nvrtc_user_options()) >= (int)USER_BYTES)
        return error_set(error, STATUS_BAD_INPUT, "TESSERA_NVRTC_OPTIONS has more than %u characters",
                         USER_BYTES - 1);
    size_t cells = 2 * (header_count + STANDARD_HEADERS) + option_count + OWN_OPTIONS + USER_OPTIONS;
    RETURN_IF_ERROR(
        memory_zeros(&arguments->texts, cells * sizeof *arguments->texts, "the headers of a kernel", error));
    arguments->names = arguments->texts + header_count + STANDARD_HEADERS;
    arguments->options = arguments->names + header_count + STANDARD_HEADERS;
    size_t n = 0;
    for (; n < header_count; n++) {
        arguments->texts[n] = headers[n].text;
        arguments->names[n] = headers[n].name;
    }
    for (size_t i = 0; i < STANDARD_HEADERS; i++, n++) {
        arguments->texts[n] = standard_headers[i].text;
        arguments->names[n] = standard_headers[i].name;
    }
    arguments->headers = (int)n;
    snprintf(arguments->arch, sizeof arguments->arch, "--gpu-architecture=%s", request->arch);
    arguments->options[0] = arguments->arch;
    arguments->options[1] = "--std=c++17";
    for (size_t i = 0; i < option_count; i++)
        arguments->options[OWN_OPTIONS + i] = request->options[i];
    arguments->option_count = (int)(option_count + OWN_OPTIONS);
    char *rest = arguments->users, *word;
    while ((word = strtok_r(rest, " ", &rest)) != NULL)
        arguments->options[arguments->option_count++] = word;
    return STATUS_OK;
}

static enum status failed(int result, const char *name, const char *step, struct error *error)
{
    return error_set(error, STATUS_MACHINE, "compiling kernel '%s' failed while %s: %s (NVRTC %d.%d)", name,
                     step, nvrtc.error_string(result), nvrtc.major, nvrtc.minor);
}

/* Reads the compiler's log and puts its first line with the word "error" into the sentence. */
static enum status wrong_source(struct nvrtc_program *program, const char *name, const char *arch, char **log,
                                struct error *error)
{
    size_t bytes = 0;
    if (nvrtc.log_size(program, &bytes) != NVRTC_SUCCESS)
        bytes = 0;
    char *text;
    RETURN_IF_ERROR(memory_zeros(&text, bytes + 1, "the compiler's messages", error));
    if (bytes && nvrtc.log(program, text) != NVRTC_SUCCESS)
        text[0] = '\0';
    const char *line = strstr(text, "error");
    while (line && line > text && line[-1] != '\n')
        line--;
    int length = line ? (int)strcspn(line, "\n") : 0;
    error_set(error, STATUS_BAD_INPUT, "kernel '%s' does not compile for %s: %.*s", name, arch,
              length ? length : 24, length ? line : "NVRTC gives no reason");
    if (log)
        *log = text;
    else
        free(text);
    return STATUS_BAD_INPUT;
}

static enum status take_cubin(struct nvrtc_program *program, const char *name, bool ptx, void **cubin,
                              size_t *cubin_bytes, struct error *error)
{
    size_t bytes = 0;
    int result = (ptx ? nvrtc.ptx_size : nvrtc.cubin_size)(program, &bytes);
    if (result != NVRTC_SUCCESS || bytes == 0)
        return failed(result, name, "asking for its size (is the architecture a real one, sm_XX?)", error);
    void *memory;
    RETURN_IF_ERROR(memory_take(&memory, bytes, "a compiled kernel", error));
    result = (ptx ? nvrtc.ptx : nvrtc.cubin)(program, memory);
    if (result != NVRTC_SUCCESS) {
        free(memory);
        return failed(result, name, "taking the machine code", error);
    }
    *cubin = memory;
    *cubin_bytes = bytes;
    return STATUS_OK;
}

static int is_cancelled(void *context, void *reserved)
{
    const _Atomic bool *const *const cancel = context;
    (void)reserved;
    return atomic_load(*cancel);
}

enum status nvrtc_compile(const struct nvrtc_request *request, void **cubin, size_t *cubin_bytes, char **log,
                          struct error *error)
{
    const char *name = request->name ? request->name : "kernel.cu";
    if (log)
        *log = NULL;
    *cubin = NULL;
    *cubin_bytes = 0;
    RETURN_IF_ERROR(open_once(error));
    if (!nvrtc_knows(request->arch))
        return error_set(error, STATUS_MACHINE,
                         "compiling kernel '%s' failed: NVRTC %d.%d (%s) does not know %s; install a CUDA "
                         "toolkit that does and set TESSERA_NVRTC to its NVRTC",
                         name, nvrtc.major, nvrtc.minor, nvrtc.path, request->arch);
    struct arguments arguments = {0};
    RETURN_IF_ERROR(arguments_create(request, &arguments, error));

    struct nvrtc_program *program = NULL;
    int result = nvrtc.create_program(&program, request->source, name, arguments.headers, arguments.texts,
                                      arguments.names);
    enum status status;
    if (result != NVRTC_SUCCESS) {
        status = failed(result, name, "reading it", error);
    } else {
        const _Atomic bool *cancel = request->cancel;
        if (cancel && nvrtc.flow)
            nvrtc.flow(program, is_cancelled, &cancel);
        result = nvrtc.compile_program(program, arguments.option_count, arguments.options);
        if (result == NVRTC_SUCCESS)
            status = take_cubin(program, name, strncmp(request->arch, "compute_", 8) == 0, cubin, cubin_bytes,
                                error);
        else if (result == NVRTC_ERROR_COMPILATION)
            status = wrong_source(program, name, request->arch, log, error);
        else
            status =
                failed(result, name, "compiling (are the architecture and the options known to it?)", error);
        nvrtc.destroy_program(&program);
    }
    free(arguments.texts);
    return status;
}
