/* look_up.c: see look_up.h. */
#define _GNU_SOURCE
#include "tests/faults/look_up.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef void *look_up(void *library, const char *name);

static look_up *real_dlsym(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    static look_up *_Atomic found;
    for (size_t v = 0; !found && v < sizeof versions / sizeof *versions; v++)
        found = (look_up *)dlvsym(RTLD_NEXT, "dlsym", versions[v]);
    return found;
}

static void *own(const struct looked_up *of, const char *name, void *symbol)
{
    while (of->name && strcmp(of->name, name) != 0)
        of++;
    if (!of->name)
        return symbol;
    memcpy(of->next, &symbol, sizeof symbol);
    return of->own;
}

/* glibc takes the library after that of the caller, by the address to return to, which is the caller's because this jumps
 * (-O2, in TesseraTests.cmake). A sanitizer would else find its own functions when it asks for those of libc, and hang. */
void *dlsym(void *restrict library, const char *restrict name)
{
    if (library == RTLD_NEXT)
        return real_dlsym()(library, name);
    void *const symbol = real_dlsym()(library, name);
    return !symbol                         ? NULL
           : strncmp(name, "MPI_", 4) == 0 ? own(faults_messages, name, symbol)
           : strncmp(name, "cu", 2) == 0   ? own(faults_gpu_calls, name, symbol)
                                           : symbol;
}
