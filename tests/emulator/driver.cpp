/*
 * driver.cpp: a libcuda.so.1 without a GPU, for tests. Its memory is the host's, its streams do at once what they are asked,
 * and its modules are the general kernels, which g++ compiled from the same headers (module.cpp). So statements that the general
 * kernel covers are answered with --device cuda on any machine. A statement's own kernel can be loaded if compiler.cpp has compiled
 * it.
 *
 * A thread of a block is a fiber, with a stack of its own. It runs until it waits for others, and goes on when they have come.
 * Fibers are made once, by swapcontext, and from then on change places by _setjmp and _longjmp: swapcontext also asks the kernel
 * for the mask of signals, which was nine tenths of the time of all tests here. glibc's check that a longjmp goes up the stack
 * (_FORTIFY_SOURCE) does not hold between stacks.
 */
#undef _FORTIFY_SOURCE
#include "tests/emulator/warp.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <elf.h>
#include <malloc.h>
#include <mutex>
#include <setjmp.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#undef __noinline__

alignas(128) unsigned char tile_shared[232448];
std::atomic<size_t> allocated; /* bytes of the GPU's memory */
emulated_index threadIdx, blockIdx, blockDim, gridDim;

/* ---- A block's threads ---- */

namespace
{

constexpr size_t STACK_BYTES = 256 << 10;
constexpr uint32_t THREADS_MAX = 1024;

struct waiting {
    uint32_t arrived, turn;
};
struct fiber {
    jmp_buf context;   /* where it left off */
    const waiting *at; /* where it waits, or NULL */
    uint32_t turn;     /* the turn in which it does */
    bool ended;
};

fiber fibers[THREADS_MAX];
uint32_t made; /* fibers that have their stack */
jmp_buf scheduler;
uint32_t current;
waiting warps[THREADS_MAX / 32], block;
uint64_t exchanged[THREADS_MAX / 32][32];
void (*kernel)(void **);
void **kernel_parameters;

/* The current fiber stops here until it is resumed. */
void leave()
{
    if (_setjmp(fibers[current].context) == 0)
        _longjmp(scheduler, 1);
}

/* The current fiber goes on, until it leaves. */
void resume()
{
    if (_setjmp(scheduler) == 0)
        _longjmp(fibers[current].context, 1);
}

void wait_at(waiting *at, uint32_t threads)
{
    if (++at->arrived == threads) {
        at->arrived = 0;
        at->turn++;
        return;
    }
    fibers[current].at = at;
    fibers[current].turn = at->turn;
    leave();
}

/* What a fiber does as long as the program runs: the kernel, once a block. */
void run_fiber()
{
    for (;;) {
        leave();
        kernel(kernel_parameters);
        fibers[current].ended = true;
    }
}

/* Makes the fibers that a block needs and that there are not yet; each stands before its first kernel. */
void make_fibers(uint32_t threads)
{
    static ucontext_t maker, first;
    for (; made < threads; made++) {
        void *const stack = malloc(STACK_BYTES);
        if (!stack || getcontext(&first))
            abort();
        first.uc_stack.ss_sp = stack;
        first.uc_stack.ss_size = STACK_BYTES;
        makecontext(&first, run_fiber, 0);
        current = made;
        if (_setjmp(scheduler) == 0)
            swapcontext(&maker, &first);
    }
}

void run_block(uint32_t threads)
{
    for (uint32_t t = 0; t < threads; t++) {
        fibers[t].at = nullptr;
        fibers[t].ended = false;
    }
    for (uint32_t left = threads; left > 0;) {
        bool moved = false;
        for (uint32_t t = 0; t < threads; t++) {
            fiber &of = fibers[t];
            if (of.ended || (of.at && of.at->turn == of.turn))
                continue;
            of.at = nullptr;
            current = t;
            threadIdx.x = t;
            resume();
            left -= of.ended;
            moved = true;
        }
        if (!moved)
            abort(); /* some lanes wait for lanes that do not come */
    }
}

void run_grid(void (*run)(void **), void **parameters, uint32_t blocks, uint32_t threads)
{
    make_fibers(threads);
    kernel = run;
    kernel_parameters = parameters;
    blockDim.x = threads;
    gridDim.x = blocks;
    for (uint32_t b = 0; b < blocks; b++) {
        blockIdx.x = b;
        memset(tile_shared, 0xcd, sizeof tile_shared); /* a kernel must not count on what is there */
        run_block(threads);
    }
}

} // namespace

void emulated_warp_wait()
{
    wait_at(&warps[threadIdx.x / 32], 32);
}
void emulated_block_wait()
{
    wait_at(&block, blockDim.x);
}
uint64_t *emulated_exchange()
{
    return exchanged[threadIdx.x / 32];
}

/* ---- The driver ---- */

extern emulated_module emulated_of_general_rows, emulated_of_general_single, emulated_of_general_shared,
    emulated_of_general_dense, emulated_of_general_hash, emulated_of_general_groups, emulated_of_radix_sort,
    emulated_of_window;

namespace
{

emulated_module *const modules[] = {&emulated_of_general_rows,   &emulated_of_general_single,
                                    &emulated_of_general_shared, &emulated_of_general_dense,
                                    &emulated_of_general_hash,   &emulated_of_general_groups,
                                    &emulated_of_radix_sort,     &emulated_of_window};

/* A launch, with copies of its parameters. */
struct launch {
    const emulated_function *function;
    uint32_t blocks, threads;
    std::vector<std::vector<unsigned char>> parameters;

    launch(const emulated_function *of, uint32_t in_blocks, uint32_t of_threads, void **values)
        : function(of), blocks(in_blocks), threads(of_threads)
    {
        for (uint32_t p = 0; p < of->parameter_count; p++) {
            const unsigned char *const value = static_cast<unsigned char *>(values[p]);
            parameters.emplace_back(value, value + of->parameter_bytes[p]);
        }
    }
    void run()
    {
        std::vector<void *> values;
        for (auto &parameter : parameters)
            values.push_back(parameter.data());
        run_grid(function->run, values.data(), blocks, threads);
    }
};
struct recording {
    std::vector<launch> launches;
};

std::mutex lock;
thread_local recording *captured; /* of the thread that captures; NULL: launches run at once */

enum { SUCCESS = 0, OUT_OF_MEMORY = 2, NO_BINARY = 209, NOT_FOUND = 500 };

size_t image_bytes(const void *image)
{
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return 0;
    const size_t sections = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize,
                 segments = head.e_phoff + (size_t)head.e_phnum * head.e_phentsize;
    return sections > segments ? sections : segments;
}

/* A library that compiler.cpp has made, which finds the driver's functions among those that all see. */
emulated_module *open_statement(const void *image, size_t bytes)
{
    char path[] = "/tmp/tessera_statement.XXXXXX";
    Dl_info own;
    const int file = mkstemp(path);
    const bool written = file >= 0 && write(file, image, bytes) == (ssize_t)bytes;
    if (file >= 0)
        close(file);
    dladdr((void *)open_statement, &own);
    dlopen(own.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    void *const library = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(path);
    return library ? static_cast<emulated_module *>(dlsym(library, "emulated_statement")) : nullptr;
}

} // namespace

extern "C" {

int cuInit(unsigned)
{
    return SUCCESS;
}
int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return SUCCESS;
}
int cuGetErrorName(int result, const char **name)
{
    *name = result == NO_BINARY       ? "EMULATED_NO_KERNEL"
            : result == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                      : "EMULATED_ERROR";
    return SUCCESS;
}
int cuGetErrorString(int result, const char **text)
{
    *text = result == NO_BINARY       ? "the emulated GPU has the general kernels alone"
            : result == OUT_OF_MEMORY ? "out of memory"
                                      : "a test made it fail";
    return SUCCESS;
}
int cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}
int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return SUCCESS;
}
int cuDeviceGetName(char *name, int bytes, int)
{
    strncpy(name, "emulated GPU", (size_t)bytes);
    return SUCCESS;
}
int cuDeviceTotalMem_v2(size_t *bytes, int)
{
    *bytes = (size_t)4 << 30;
    return SUCCESS;
}
int cuDeviceGetAttribute(int *value, int attribute, int)
{
    static const int known[][2] = {{75, 9},      {76, 0},      {16, 2},       {39, 2048},
                                   {97, 232448}, {81, 233472}, {38, 1 << 16}, {36, 1000}};
    *value = 1;
    for (auto &of : known)
        if (of[0] == attribute)
            *value = of[1];
    return SUCCESS;
}
int cuDevicePrimaryCtxRetain(void **context, int)
{
    *context = &lock;
    return SUCCESS;
}
int cuDevicePrimaryCtxRelease_v2(int)
{
    return SUCCESS;
}
int cuCtxSetCurrent(void *)
{
    return SUCCESS;
}
int cuCtxSynchronize()
{
    return SUCCESS;
}
int cuCtxSetLimit(int, size_t)
{
    return SUCCESS;
}
int cuDeviceCanAccessPeer(int *possible, int, int)
{
    *possible = 0;
    return SUCCESS;
}
int cuCtxEnablePeerAccess(void *, unsigned)
{
    return NOT_FOUND;
}
int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    *unused = (size_t)3 << 30;
    *total = (size_t)4 << 30;
    return SUCCESS;
}
/* Tests that want statements to find no room set EMULATED_GPU_MEMORY, the most bytes. */
int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    const char *const most = getenv("EMULATED_GPU_MEMORY");
    void *memory = nullptr;
    if ((most && allocated + bytes > strtoull(most, nullptr, 10)) || posix_memalign(&memory, 256, bytes) != 0)
        return OUT_OF_MEMORY;
    allocated += malloc_usable_size(memory);
    memset(memory, 0xcd, bytes); /* likewise */
    *address = (uint64_t)memory;
    return SUCCESS;
}
int cuMemFree_v2(uint64_t address)
{
    allocated -= malloc_usable_size((void *)address);
    free((void *)address);
    return SUCCESS;
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned)
{
    return posix_memalign(memory, 256, bytes) == 0 ? SUCCESS : OUT_OF_MEMORY;
}
int cuMemFreeHost(void *memory)
{
    free(memory);
    return SUCCESS;
}
int cuMemHostRegister_v2(void *, size_t, unsigned)
{
    return SUCCESS;
}
int cuMemHostUnregister(void *)
{
    return SUCCESS;
}
int cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned)
{
    *address = (uint64_t)memory;
    return SUCCESS;
}
uint64_t emulator_copied_bytes; /* to the GPU; tests read it */

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *)
{
    emulator_copied_bytes += bytes;
    memcpy((void *)to, from, bytes);
    return SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *)
{
    memcpy(to, (const void *)from, bytes);
    return SUCCESS;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *)
{
    memcpy((void *)to, (const void *)from, bytes);
    return SUCCESS;
}
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t count, void *)
{
    memset((void *)address, value, count);
    return SUCCESS;
}
int cuMemsetD32Async(uint64_t address, unsigned value, size_t count, void *)
{
    for (size_t i = 0; i < count; i++)
        ((uint32_t *)address)[i] = value;
    return SUCCESS;
}
int cuStreamCreate(void **stream, unsigned)
{
    *stream = new char;
    return SUCCESS;
}
int cuStreamDestroy_v2(void *stream)
{
    delete (char *)stream;
    return SUCCESS;
}
int cuStreamSynchronize(void *)
{
    return SUCCESS;
}
int cuStreamWaitEvent(void *, void *, unsigned)
{
    return SUCCESS;
}
/* Tests read it. */
uint64_t emulator_module_loads;

/* Runs a kernel that is in no module (states.cpp). */
void emulator_run(void (*run)(void **), void **parameters, uint32_t blocks, uint32_t threads)
{
    const std::lock_guard<std::mutex> guard(lock);
    run_grid(run, parameters, blocks, threads);
}

int cuModuleLoadData(void **module, const void *image)
{
    emulator_module_loads++;
    const size_t bytes = image_bytes(image);
    if (bytes && memmem(image, bytes, "emulated_statement", strlen("emulated_statement"))) {
        *module = open_statement(image, bytes);
        return *module ? SUCCESS : NO_BINARY;
    }
    for (emulated_module *of : modules)
        if (bytes && memmem(image, bytes, of->name, strlen(of->name))) {
            *module = of;
            return SUCCESS;
        }
    return NO_BINARY;
}
int cuModuleUnload(void *)
{
    return SUCCESS;
}
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    for (auto &of : ((emulated_module *)module)->functions)
        if (of.name && strcmp(of.name, name) == 0) {
            *function = &of;
            return SUCCESS;
        }
    return NOT_FOUND;
}
int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name)
{
    const emulated_module *const of = (emulated_module *)module;
    const bool counted = strcmp(name, "tile_counted") == 0;
    if (counted ? !of->counted : strcmp(name, "arguments") != 0)
        return NOT_FOUND;
    *address = (uint64_t)(counted ? of->counted : of->arguments);
    *bytes = counted ? of->counted_bytes : of->arguments_bytes;
    return SUCCESS;
}
int cuFuncGetAttribute(int *value, int, void *)
{
    *value = 0;
    return SUCCESS;
}
int cuFuncSetAttribute(void *, int, int)
{
    return SUCCESS;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *, int, size_t)
{
    *blocks = 1;
    return SUCCESS;
}
int cuLaunchKernel(void *function, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void *, void **parameters, void **)
{
    const std::lock_guard<std::mutex> guard(lock);
    launch made((const emulated_function *)function, x, threads, parameters);
    if (captured)
        captured->launches.push_back(made);
    else
        made.run();
    return SUCCESS;
}
int cuEventCreate(void **event, unsigned)
{
    *event = new char;
    return SUCCESS;
}
int cuEventDestroy_v2(void *event)
{
    delete (char *)event;
    return SUCCESS;
}
int cuEventRecord(void *, void *)
{
    return SUCCESS;
}
int cuEventSynchronize(void *)
{
    return SUCCESS;
}
int cuEventElapsedTime(float *milliseconds, void *, void *)
{
    *milliseconds = 0.01f;
    return SUCCESS;
}
int cuStreamBeginCapture_v2(void *, int)
{
    const std::lock_guard<std::mutex> guard(lock);
    captured = new recording;
    return SUCCESS;
}
int cuStreamEndCapture(void *, void **made)
{
    const std::lock_guard<std::mutex> guard(lock);
    *made = captured;
    captured = nullptr;
    return SUCCESS;
}
int cuGraphDestroy(void *made)
{
    delete (recording *)made;
    return SUCCESS;
}
int cuGraphInstantiateWithFlags(void **graph, void *made, unsigned long long)
{
    *graph = new recording(*(recording *)made);
    return SUCCESS;
}
int cuGraphLaunch(void *graph, void *)
{
    const std::lock_guard<std::mutex> guard(lock);
    for (launch &of : ((recording *)graph)->launches)
        of.run();
    return SUCCESS;
}
int cuGraphExecDestroy(void *graph)
{
    delete (recording *)graph;
    return SUCCESS;
}
}
