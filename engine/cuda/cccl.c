/* cccl.c: see cccl.h. */
#include "engine/cuda/cccl.h"

#include "storage/base/file.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER_BYTES 512u

static pthread_once_t found_once = PTHREAD_ONCE_INIT;
static char include_option[FOLDER_BYTES + 32], version_option[64];
static const char *const found_options[] = {include_option, version_option, "-default-device", "-w", NULL};
static struct error missing; /* its status is STATUS_OK if the headers were found */

/* Takes the folder if it has CUB: cub/version.cuh defines CUB_VERSION. Returns true if the search ends here: the folder was taken, or
 * its file could not be read, which `missing` tells. */
static bool try_folder(const char *folder, const char *below)
{
    static const char define[] = "#define CUB_VERSION ";
    char path[FOLDER_BYTES + 32], line[256];
    unsigned long version = 0;
    const int length = snprintf(path, sizeof path, "%s%s/cub/version.cuh", folder, below);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    FILE *const file = file_stream(path, "re");
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        return false;
    while (file && !version && fgets(line, sizeof line, file))
        if (strncmp(line, define, sizeof define - 1) == 0)
            version = strtoul(line + sizeof define - 1, NULL, 10);
    if (!file || ferror(file))
        error_set_errno(&missing, errno, "%s: cannot be read", path);
    if (file)
        fclose(file);
    if (missing.status != STATUS_OK)
        return true;
    snprintf(include_option, sizeof include_option, "-I%.*s", length - (int)strlen("/cub/version.cuh"), path);
    snprintf(version_option, sizeof version_option, "-DTESSERA_CUB_VERSION=%lu", version);
    return true;
}

static void find(void)
{
    const char *const wanted = getenv("TESSERA_CCCL");
    if (wanted && *wanted) {
        if (!try_folder(wanted, ""))
            error_set(&missing, STATUS_MACHINE,
                      "TESSERA_CCCL names '%s', which has no cub/version.cuh; correct or unset it", wanted);
        return;
    }
    const char *const toolkits[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t t = 0; t < sizeof toolkits / sizeof *toolkits; t++)
        if (toolkits[t] && *toolkits[t] &&
            (try_folder(toolkits[t], "/include/cccl") || try_folder(toolkits[t], "/include")))
            return;
    error_set(&missing, STATUS_MACHINE,
              "CUB's headers were not found in $CUDA_HOME, $CUDA_PATH or /usr/local/cuda (include/cccl, "
              "include); install the CUDA toolkit or PyPI's nvidia-cuda-cccl, or set TESSERA_CCCL to the "
              "folder that has cub/");
}

enum status cccl_options(const char *const **options, struct error *error)
{
    pthread_once(&found_once, find);
    if (missing.status != STATUS_OK) {
        if (error)
            *error = missing;
        return missing.status;
    }
    *options = found_options;
    return STATUS_OK;
}
