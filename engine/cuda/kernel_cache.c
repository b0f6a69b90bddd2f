/*
 * kernel_cache.c: see kernel_cache.h.
 *
 * Everything goes into the key. The hash of the program's headers, a megabyte, is kept in memory: it would be most of the
 * time of a look-up.
 */
#include "engine/cuda/kernel_cache.h"
#include "storage/base/clock.h"
#include "storage/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define ENTRY_MAGIC   "TSRAKRN1"
#define PATH_BYTES    4096u
#define CUBIN_MAXIMUM (1ull << 30) /* a damaged length must not allocate all memory */

struct entry_header {
    char magic[8];
    uint64_t checksum;
    uint64_t bytes;
};

/* ---- The key ---- */

/* Each text is hashed with its length, so that moving a byte from one text to the next changes the key. */
static void hash_text(XXH3_state_t *state, const char *text)
{
    uint64_t bytes = strlen(text);
    XXH3_128bits_update(state, &bytes, sizeof bytes);
    XXH3_128bits_update(state, text, bytes);
}

/* Of the names and texts of headers. */
static enum status hash_headers(const struct embedded_file *headers, XXH128_hash_t *hash, struct error *error)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return error_out_of_memory(error, 576 /* size of the opaque state */, "a kernel's key");
    XXH3_128bits_reset(state);
    for (; headers->name; headers++) {
        hash_text(state, headers->name);
        hash_text(state, headers->text);
    }
    *hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    return STATUS_OK;
}

/* Of those in the program, once. */
static enum status hash_embedded(XXH128_hash_t *hash, struct error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static XXH128_hash_t embedded;
    static bool known;
    pthread_mutex_lock(&lock);
    const enum status status = known ? STATUS_OK : hash_headers(embedded_files, &embedded, error);
    known = status == STATUS_OK;
    *hash = embedded;
    pthread_mutex_unlock(&lock);
    return status;
}

static enum status key_of(const struct nvrtc_request *request, int major, int minor, char key[33],
                          struct error *error)
{
    XXH128_hash_t headers;
    RETURN_IF_ERROR(request->headers ? hash_headers(request->headers, &headers, error)
                                     : hash_embedded(&headers, error));
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return error_out_of_memory(error, 576 /* size of the opaque state */, "a kernel's key");
    XXH3_128bits_reset(state);
    const int version[2] = {major, minor};
    XXH3_128bits_update(state, version, sizeof version);
    hash_text(state, request->arch);
    hash_text(state, request->name ? request->name : "");
    hash_text(state, request->source);
    XXH3_128bits_update(state, &headers, sizeof headers);
    for (size_t i = 0; request->options && request->options[i]; i++)
        hash_text(state, request->options[i]);
    hash_text(state, nvrtc_user_options());
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    snprintf(key, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    return STATUS_OK;
}

/* ---- The folder ---- */

/* Writes the folder's path; false if the cache is switched off or the environment names no home. */
static bool cache_folder(char *folder)
{
    const char *wanted = getenv("TESSERA_KERNEL_CACHE"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int length;
    if (wanted)
        length = snprintf(folder, PATH_BYTES, "%s", wanted);
    else if (cache && cache[0] == '/') /* the XDG specification says: ignore relative paths */
        length = snprintf(folder, PATH_BYTES, "%s/tessera/kernels", cache);
    else if (home && *home)
        length = snprintf(folder, PATH_BYTES, "%s/.cache/tessera/kernels", home);
    else
        return false;
    return length > 0 && (size_t)length < PATH_BYTES - 64; /* room for the entry's name */
}

static void make_folders(char *folder)
{
    for (char *slash = folder + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(folder, 0755);
        *slash = '/';
    }
    mkdir(folder, 0755);
}

/* ---- Entries ---- */

/* Returns true and fills *binary if the file exists and is not damaged. */
static bool entry_read(const char *path, struct kernel_binary *binary)
{
    int descriptor;
    uint64_t size;
    if (file_open(path, &descriptor, &size, NULL, NULL) != STATUS_OK)
        return false;
    FILE *file = fdopen(descriptor, "rb");
    if (!file) {
        close(descriptor);
        return false;
    }
    struct entry_header header;
    void *cubin = NULL;
    bool good = fread(&header, sizeof header, 1, file) == 1 && memcmp(header.magic, ENTRY_MAGIC, 8) == 0 &&
                header.bytes > 0 && header.bytes <= CUBIN_MAXIMUM && (cubin = malloc(header.bytes)) != NULL &&
                fread(cubin, 1, header.bytes, file) == header.bytes && fgetc(file) == EOF &&
                XXH3_64bits(cubin, header.bytes) == header.checksum;
    fclose(file);
    if (!good) {
        free(cubin);
        return false;
    }
    *binary = (struct kernel_binary){.cubin = cubin, .cubin_bytes = header.bytes, .from_cache = true};
    return true;
}

/* A failed write is no error: this run has its kernel, and the next run compiles it again. There is no fsync,
 * because the checksum finds an entry that a crash has damaged. */
static void entry_write(const char *folder, const char *path, const struct kernel_binary *binary)
{
    char temporary[PATH_BYTES];
    int length = snprintf(temporary, sizeof temporary, "%s/new-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return;
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return;
    struct entry_header header = {.checksum = XXH3_64bits(binary->cubin, binary->cubin_bytes),
                                  .bytes = binary->cubin_bytes};
    memcpy(header.magic, ENTRY_MAGIC, 8);
    FILE *file = fdopen(descriptor, "wb");
    bool good = file != NULL;
    if (file) {
        good = fwrite(&header, sizeof header, 1, file) == 1 &&
               fwrite(binary->cubin, 1, binary->cubin_bytes, file) == binary->cubin_bytes;
        good = fclose(file) == 0 && good;
    } else {
        close(descriptor);
    }
    if (!good || rename(temporary, path) != 0)
        unlink(temporary);
}

/* Where an entry is, or would be. */
struct entry_place {
    bool cached; /* there is a cache */
    char folder[PATH_BYTES], path[PATH_BYTES + 64];
};

static enum status look_up(const struct nvrtc_request *request, struct entry_place *place,
                           struct kernel_binary *binary, bool *found, struct error *error)
{
    int major = 0, minor = 0;
    char key[33];
    *binary = (struct kernel_binary){0};
    RETURN_IF_ERROR(nvrtc_version(&major, &minor, error));
    RETURN_IF_ERROR(key_of(request, major, minor, key, error));
    place->cached = cache_folder(place->folder);
    if (place->cached)
        snprintf(place->path, sizeof place->path, "%s/%s.cubin", place->folder, key);
    *found = place->cached && entry_read(place->path, binary);
    return STATUS_OK;
}

enum status kernel_cache_find(const struct nvrtc_request *request, struct kernel_binary *binary, bool *found,
                              struct error *error)
{
    struct entry_place place;
    return look_up(request, &place, binary, found, error);
}

enum status kernel_cache_get(const struct nvrtc_request *request, struct kernel_binary *binary, char **log,
                             struct error *error)
{
    struct entry_place place;
    bool found;
    if (log)
        *log = NULL;
    RETURN_IF_ERROR(look_up(request, &place, binary, &found, error));
    if (found)
        return STATUS_OK;
    double start = clock_ms();
    RETURN_IF_ERROR(nvrtc_compile(request, &binary->cubin, &binary->cubin_bytes, log, error));
    binary->compile_ms = clock_ms() - start;
    if (place.cached) {
        make_folders(place.folder);
        entry_write(place.folder, place.path, binary);
    }
    return STATUS_OK;
}

void kernel_binary_free(struct kernel_binary *binary)
{
    free(binary->cubin);
    *binary = (struct kernel_binary){0};
}
