/*
 * inject.c: a library that is loaded before a program (LD_PRELOAD) and makes its n-th allocation or system call fail.
 *
 * The program's calls of the C library come here first. Each call belongs to one kind (the list below). Calls of the
 * chosen kinds are counted, from the beginning of main() on, over all threads; the n-th one fails, or kills the
 * process, before it does anything. tests/support/faults.h says it all to the program by these variables:
 *
 *     FAULTS_PROGRAM  the program that is tested: what else a script starts is left alone
 *     FAULTS_KINDS    "memory", "open,stat", ...; "calls": all but memory, thread, message and those of a GPU
 *     FAULTS_NUMBER   which call fails, from 1 on; 0: none, calls are only counted
 *     FAULTS_ERROR    the value of errno; "kill": SIGKILL; "stop": SIGSTOP; "power": that, and a power cut (power.h), which comes after the
 *                     program's end if FAULTS_NUMBER is one more than there are calls; "short": reads and writes do half of
 *                     their bytes
 *     FAULTS_SEED     of what a power cut takes away; 1
 *     FAULTS_FOREVER  if it is set, all later calls fail, too
 *     FAULTS_PATH     only calls for a path that contains this text are counted, or for a descriptor of such a path;
 *                     memory and threads have no paths
 *     FAULTS_STATE    a file with a struct faults_state, where the calls and the faults are counted; a process that is
 *                     killed leaves them right
 *
 * What libc does within one call cannot be told apart here, with one exception: memory that it allocates for the
 * program (strdup, asprintf, fopen, opendir, regcomp) is had from the malloc below, so it is counted and fails. Reads
 * and writes of a FILE happen inside libc; so fread, fgets, getline, fwrite, fflush and fclose are calls here.
 *
 * A program that uses the library itself, and is started with this one, arms it around its own calls (inject.h).
 *
 * Needs glibc 2.33 or later (before, stat() had other names) and works with AddressSanitizer: the next library that
 * has a function is asked for it.
 */
#define _GNU_SOURCE
#include "tests/faults/inject.h"

#include "tests/faults/faults_state.h"
#include "tests/faults/gpu.h"
#include "tests/faults/messages.h"
#include "tests/faults/power.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind {
    MEMORY,   /* malloc, calloc, realloc, aligned_alloc ..., mmap of no file */
    THREAD,   /* pthread_create */
    OPEN,     /* open, openat, fopen, mkstemp, mkostemp, dup, O_TMPFILE */
    STAT,     /* stat, lstat, fstat, fstatat, access */
    READ,     /* read, pread */
    WRITE,    /* write, pwrite */
    STREAM,   /* fread, fgets, getline, fwrite, fflush */
    SYNC,     /* fsync, fdatasync */
    RENAME,   /* rename, link */
    UNLINK,   /* unlink, remove */
    MKDIR,    /* mkdir, mkdtemp */
    RMDIR,    /* rmdir */
    LIST,     /* opendir, fdopendir, readdir */
    LOCK,     /* flock, fcntl */
    TRUNCATE, /* ftruncate, truncate, fallocate, posix_fallocate */
    MAP,      /* mmap of a file */
    CLOSE,    /* close, fclose: done, and then reported as failed */
    MESSAGE,  /* of a cluster (messages.c) */
    GPU,      /* of a GPU's driver (gpu.c) */
    GPU_MEMORY,
    KINDS
};

static const char *const kind_names[KINDS] = {
    "memory", "thread", "open", "stat", "read",     "write", "stream", "sync",    "rename", "unlink",
    "mkdir",  "rmdir",  "list", "lock", "truncate", "map",   "close",  "message", "gpu",    "gpu_memory"};

enum { ERROR_KILL = -1, ERROR_SHORT = -2, ERROR_POWER = -3, ERROR_STOP = -4 };

static _Atomic bool
    begun; /* main() has begun, in the program that is tested; or that program armed the library */
static bool chosen[KINDS], forever;
static uint64_t number;
static int error_value;
static const char *path_part, *traced; /* the file of the functions that are told */
static struct faults_state own, *state = &own;

/* Calls by this file, and by what it calls, are not counted. Without initial-exec the first use could allocate. */
static __thread bool inside __attribute__((tls_model("initial-exec")));
static __thread bool telling
    __attribute__((tls_model("initial-exec"))); /* the same by power.c, which may look functions up */

/* The function that the program would have called without this library. A look-up that allocates gets no memory, which
 * dlsym takes well. */
static void *next(const char *name, void *_Atomic *found)
{
    void *function = *found;
    if (!function && !inside) {
        inside = true;
        *found = function = dlsym(RTLD_NEXT, name);
        inside = false;
    }
    return function;
}

#define NEXT(name) ((__typeof__(&name))next(#name, &next_##name))
#define FIND(name) static void *_Atomic next_##name

/* ---- A power cut ---- */

static pthread_mutex_t power_lock = PTHREAD_MUTEX_INITIALIZER;

/* Tells power.h of a call that is about to be made; false. */
#define TELL(call) \
    (!inside && !telling && begun && error_value == ERROR_POWER && (tell_begin(), call, tell_end()))

static void tell_begin(void)
{
    telling = true;
    pthread_mutex_lock(&power_lock);
}

static bool tell_end(void)
{
    pthread_mutex_unlock(&power_lock);
    telling = false;
    return false;
}

static void cut(void)
{
    const char *const seed = getenv("FAULTS_SEED");
    atomic_fetch_add(&state->faults, 1);
    tell_begin(); /* for ever: nobody else goes on */
    power_cut(number + (seed ? strtoull(seed, NULL, 10) : 1) * 1000003);
}

static void cut_at_the_end(void)
{
    if (error_value == ERROR_POWER && number == atomic_load(&state->calls) + 1)
        cut();
}

/* ---- Which call fails ---- */

static bool path_chosen(const char *path)
{
    return !path_part || (path && strstr(path, path_part));
}

static bool descriptor_chosen(int descriptor)
{
    char link[64], path[PATH_MAX];
    if (!path_part)
        return true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = syscall(SYS_readlink, link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    return path_chosen(path);
}

/* Where the first fault was, for the person who looks for its handling. */
static void trace_keep(void)
{
    void *frames[FAULTS_FRAMES + 3];
    const int count = backtrace(frames, FAULTS_FRAMES + 3);
    for (int f = 3; f < count; f++) {
        Dl_info info;
        if (dladdr(frames[f], &info) && info.dli_fname && strcmp(info.dli_fname, traced) == 0)
            state->frames[state->frame_count++] = (uint64_t)((char *)frames[f] - (char *)info.dli_fbase) - 1;
    }
}

/* Counts a call of a chosen kind. True if it must fail; then errno is set. */
static bool fails(enum kind kind)
{
    if (inside || telling || !begun || !chosen[kind])
        return false;
    const uint64_t call = atomic_fetch_add(&state->calls, 1) + 1;
    if (!number || call < number || (call > number && !forever))
        return false;
    if (error_value == ERROR_KILL) {
        atomic_fetch_add(&state->faults, 1);
        kill(getpid(), SIGKILL);
    }
    if (error_value == ERROR_STOP) {
        atomic_fetch_add(&state->faults, 1);
        kill(getpid(), SIGSTOP);
        return false; /* it was continued */
    }
    if (error_value == ERROR_POWER) {
        cut();
        kill(getpid(), SIGKILL);
    }
    inside = true;
    if (atomic_fetch_add(&state->faults, 1) == 0)
        trace_keep();
    inside = false;
    errno = error_value;
    return error_value != ERROR_SHORT;
}

static bool fails_at(enum kind kind, const char *path)
{
    return !inside && !telling && begun && chosen[kind] && path_chosen(path) && fails(kind);
}

static bool fails_of(enum kind kind, int descriptor)
{
    return !inside && !telling && begun && chosen[kind] && descriptor_chosen(descriptor) && fails(kind);
}

/* The same for reads and writes; a short one has half of the bytes left. */
static bool fails_moving(enum kind kind, int descriptor, size_t *bytes)
{
    const uint64_t before = atomic_load(&state->faults);
    if (fails_of(kind, descriptor))
        return true;
    if (error_value == ERROR_SHORT && atomic_load(&state->faults) > before && *bytes > 1)
        *bytes /= 2;
    return false;
}

bool faults_message(void)
{
    return fails(MESSAGE);
}

bool faults_gpu(bool memory)
{
    return fails(memory ? GPU_MEMORY : GPU);
}

/* ---- Starting ---- */

static const struct {
    const char *name;
    int value;
} errors[] = {{"EIO", EIO},           {"ENOMEM", ENOMEM},     {"EMFILE", EMFILE},  {"ENFILE", ENFILE},
              {"EINTR", EINTR},       {"EACCES", EACCES},     {"ENOSPC", ENOSPC},  {"EAGAIN", EAGAIN},
              {"ENOENT", ENOENT},     {"ESTALE", ESTALE},     {"EPERM", EPERM},    {"EDQUOT", EDQUOT},
              {"EROFS", EROFS},       {"ENOLCK", ENOLCK},     {"EBUSY", EBUSY},    {"kill", ERROR_KILL},
              {"short", ERROR_SHORT}, {"power", ERROR_POWER}, {"stop", ERROR_STOP}};

__attribute__((noreturn)) static void refuse(const char *variable)
{
    fprintf(stderr, "faults: %s is missing or wrong (tests/faults/inject.c says what it is)\n", variable);
    _exit(99);
}

static const char *setting(const char *name)
{
    const char *const text = getenv(name);
    if (!text || !*text)
        refuse(name);
    return text;
}

static void read_kinds(const char *list)
{
    while (*list) {
        const size_t length = strcspn(list, ",");
        bool known = false;
        for (int k = 0; k < KINDS; k++) {
            const bool named = strlen(kind_names[k]) == length && strncmp(list, kind_names[k], length) == 0;
            const bool all =
                length == 5 && strncmp(list, "calls", 5) == 0 && k < MESSAGE && k != MEMORY && k != THREAD;
            chosen[k] |= named || all;
            known |= named || all;
        }
        if (!known)
            refuse("FAULTS_KINDS");
        list += length + (list[length] == ',');
    }
}

static void read_error(const char *name)
{
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        if (strcmp(name, errors[e].name) == 0)
            error_value = errors[e].value;
    if (!error_value)
        refuse("FAULTS_ERROR");
}

static void state_map(const char *path)
{
    const int descriptor = open(path, O_RDWR | O_CLOEXEC);
    void *const shared = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (descriptor < 0 || shared == MAP_FAILED)
        refuse("FAULTS_STATE");
    close(descriptor);
    state = shared;
}

/* Whether this process is the program that is tested. */
static bool is_tested(void)
{
    char own_path[PATH_MAX], tested[PATH_MAX];
    const char *const program = getenv("FAULTS_PROGRAM");
    return program && realpath(program, tested) && realpath("/proc/self/exe", own_path) &&
           strcmp(own_path, tested) == 0;
}

static void begin(void)
{
    void *frame;
    if (!is_tested())
        return;
    read_kinds(setting("FAULTS_KINDS"));
    read_error(setting("FAULTS_ERROR"));
    number = strtoull(setting("FAULTS_NUMBER"), NULL, 10);
    path_part = getenv("FAULTS_PATH");
    forever = getenv("FAULTS_FOREVER") != NULL;
    traced = getenv("FAULTS_PROGRAM");
    state_map(setting("FAULTS_STATE"));
    atomic_store(&state->begun, 1);
    backtrace(&frame, 1); /* the first one loads a library */
    atexit(cut_at_the_end);
    begun = true;
}

/* ---- A program that arms the library itself ---- */

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* The first backtrace() loads a library, whose list of others LeakSanitizer takes for lost. */
static void begin_traces(void)
{
    void *frame;
    if (__lsan_disable)
        __lsan_disable();
    backtrace(&frame, 1);
    if (__lsan_enable)
        __lsan_enable();
}

void faults_arm(const struct faults_wish *wish, struct faults_state *seen)
{
    begin_traces();
    memset(chosen, 0, sizeof chosen);
    error_value = 0;
    read_kinds(wish->kinds);
    read_error(wish->error);
    number = wish->number;
    forever = wish->forever;
    traced = wish->file;
    state = seen;
    atomic_store(&begun, true);
}

void faults_disarm(void)
{
    atomic_store(&begun, false);
}

static int (*program_main)(int, char **, char **);

static int counted_main(int count, char **arguments, char **environment)
{
    begin();
    return program_main(count, arguments, environment);
}

/* Programs start here (crt1.o), so the loader's own calls and those of constructors do not count. */
int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end);
FIND(__libc_start_main);
int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    program_main = main;
    return NEXT(__libc_start_main)(counted_main, count, arguments, init, fini, loader_fini, stack_end);
}

/* ---- Memory ---- */

/* CALL(TYPE, FAILED, FAILS, NAME, PARAMETERS, ARGUMENTS): a function of libc that returns FAILED if FAILS is true. */
#define CALL(type, failed, condition, name, parameters, arguments)       \
    FIND(name);                                                          \
    type name parameters                                                 \
    {                                                                    \
        __typeof__(&name) const function = NEXT(name);                   \
        return !function || (condition) ? (failed) : function arguments; \
    }

CALL(void *, NULL, fails(MEMORY), malloc, (size_t bytes), (bytes))
CALL(void *, NULL, fails(MEMORY), calloc, (size_t count, size_t bytes), (count, bytes))
CALL(void *, NULL, fails(MEMORY), realloc, (void *old, size_t bytes), (old, bytes))
CALL(void *, NULL, fails(MEMORY), reallocarray, (void *old, size_t count, size_t bytes), (old, count, bytes))
CALL(void *, NULL, fails(MEMORY), aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
CALL(void *, NULL, fails(MEMORY), memalign, (size_t alignment, size_t bytes), (alignment, bytes))
CALL(int, ENOMEM, fails(MEMORY), posix_memalign, (void **memory, size_t alignment, size_t bytes),
     (memory, alignment, bytes))
CALL(int, error_value, fails(THREAD), pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument))

#define MAPS(name)                                                                                   \
    CALL(void *, MAP_FAILED, flags &MAP_ANONYMOUS ? fails(MEMORY) : fails_of(MAP, descriptor), name, \
         (void *at, size_t bytes, int protection, int flags, int descriptor, off_t offset),          \
         (at, bytes, protection, flags, descriptor, offset))
MAPS(mmap)
MAPS(mmap64)

/* ---- System calls ---- */

#define OPENS(name)                                                                                         \
    FIND(name);                                                                                             \
    int name(const char *path, int flags, ...)                                                              \
    {                                                                                                       \
        va_list arguments;                                                                                  \
        va_start(arguments, flags);                                                                         \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;                  \
        va_end(arguments);                                                                                  \
        return fails_at(OPEN, path) || TELL(power_opens(path, flags)) ? -1 : NEXT(name)(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                                     \
    FIND(name);                                                                            \
    int name(int directory, const char *path, int flags, ...)                              \
    {                                                                                      \
        va_list arguments;                                                                 \
        va_start(arguments, flags);                                                        \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments);                                                                 \
        return fails_at(OPEN, path) ? -1 : NEXT(name)(directory, path, flags, mode);       \
    }
OPENS_AT(openat)
OPENS_AT(openat64)

CALL(FILE *, NULL, fails_at(OPEN, path), fopen, (const char *path, const char *mode), (path, mode))
CALL(FILE *, NULL, fails_at(OPEN, path), fopen64, (const char *path, const char *mode), (path, mode))
CALL(int, -1, fails_at(OPEN, path), mkstemp, (char *path), (path))
CALL(int, -1, fails_at(OPEN, path), mkostemp, (char *path, int flags), (path, flags))
CALL(int, -1, fails_of(OPEN, old), dup, (int old), (old))

CALL(int, -1, fails_at(STAT, path), stat, (const char *path, struct stat *facts), (path, facts))
CALL(int, -1, fails_at(STAT, path), lstat, (const char *path, struct stat *facts), (path, facts))
CALL(int, -1, fails_of(STAT, descriptor), fstat, (int descriptor, struct stat *facts), (descriptor, facts))
CALL(int, -1, fails_at(STAT, path), fstatat, (int directory, const char *path, struct stat *facts, int flags),
     (directory, path, facts, flags))
CALL(int, -1, fails_at(STAT, path), access, (const char *path, int mode), (path, mode))

CALL(ssize_t, -1, fails_moving(READ, descriptor, &bytes), read, (int descriptor, void *into, size_t bytes),
     (descriptor, into, bytes))
CALL(ssize_t, -1, fails_moving(READ, descriptor, &bytes), pread,
     (int descriptor, void *into, size_t bytes, off_t offset), (descriptor, into, bytes, offset))
CALL(ssize_t, -1, fails_moving(READ, descriptor, &bytes), pread64,
     (int descriptor, void *into, size_t bytes, off_t offset), (descriptor, into, bytes, offset))
CALL(ssize_t, -1, fails_moving(WRITE, descriptor, &bytes) || TELL(power_writes(descriptor, -1, bytes)), write,
     (int descriptor, const void *from, size_t bytes), (descriptor, from, bytes))
CALL(ssize_t, -1, fails_moving(WRITE, descriptor, &bytes) || TELL(power_writes(descriptor, offset, bytes)),
     pwrite, (int descriptor, const void *from, size_t bytes, off_t offset),
     (descriptor, from, bytes, offset))
CALL(ssize_t, -1, fails_moving(WRITE, descriptor, &bytes) || TELL(power_writes(descriptor, offset, bytes)),
     pwrite64, (int descriptor, const void *from, size_t bytes, off_t offset),
     (descriptor, from, bytes, offset))

CALL(int, -1, fails_of(SYNC, descriptor) || TELL(power_syncs(descriptor)), fsync, (int descriptor),
     (descriptor))
CALL(int, -1, fails_of(SYNC, descriptor) || TELL(power_syncs(descriptor)), fdatasync, (int descriptor),
     (descriptor))
CALL(int, -1, fails_at(RENAME, to) || TELL(power_renames(from, to)), rename,
     (const char *from, const char *to), (from, to))
CALL(int, -1, fails_at(RENAME, to) || TELL(power_links(to)), link, (const char *from, const char *to),
     (from, to))
CALL(int, -1, fails_at(UNLINK, path) || TELL(power_unlinks(path)), unlink, (const char *path), (path))
CALL(int, -1, fails_at(UNLINK, path) || TELL(power_unlinks(path)), remove, (const char *path), (path))
CALL(int, -1, fails_at(MKDIR, path) || TELL(power_makes(path)), mkdir, (const char *path, mode_t mode),
     (path, mode))
CALL(char *, NULL, fails_at(MKDIR, path), mkdtemp, (char *path), (path))
CALL(int, -1, fails_at(RMDIR, path) || TELL(power_removes(path)), rmdir, (const char *path), (path))
CALL(DIR *, NULL, fails_at(LIST, path), opendir, (const char *path), (path))
CALL(DIR *, NULL, fails_of(LIST, descriptor), fdopendir, (int descriptor), (descriptor))
CALL(struct dirent *, NULL, fails_of(LIST, dirfd(directory)), readdir, (DIR * directory), (directory))
CALL(int, -1, fails_of(LOCK, descriptor), flock, (int descriptor, int operation), (descriptor, operation))
CALL(int, -1, fails_of(TRUNCATE, descriptor) || TELL(power_truncates(descriptor, bytes)), ftruncate,
     (int descriptor, off_t bytes), (descriptor, bytes))
CALL(int, -1, fails_at(TRUNCATE, path), truncate, (const char *path, off_t bytes), (path, bytes))
CALL(int, -1, fails_of(TRUNCATE, descriptor), fallocate, (int descriptor, int mode, off_t at, off_t bytes),
     (descriptor, mode, at, bytes))
CALL(int, error_value, fails_of(TRUNCATE, descriptor), posix_fallocate,
     (int descriptor, off_t at, off_t bytes), (descriptor, at, bytes))

FIND(fcntl);
int fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *const argument = va_arg(arguments, void *);
    va_end(arguments);
    return fails_of(LOCK, descriptor) ? -1 : NEXT(fcntl)(descriptor, command, argument);
}

/* Linux releases the descriptor whatever close() says. */
FIND(close);
int close(int descriptor)
{
    const bool failing = fails_of(CLOSE, descriptor);
    const int reason = errno, closed = NEXT(close)(descriptor);
    errno = failing ? reason : errno;
    return failing ? -1 : closed;
}

/* ---- Streams ---- */

/* Streams of memory have no descriptor: they are no files, and only their memory fails. */
static bool stream_fails(enum kind kind, FILE *stream)
{
    if (inside || telling || !begun || !chosen[kind] || fileno(stream) < 0 || !fails_of(kind, fileno(stream)))
        return false;
    stream->_flags |= 0x20; /* _IO_ERR_SEEN of glibc: ferror() is true from now on */
    return true;
}

CALL(size_t, 0, stream_fails(STREAM, stream), fread, (void *into, size_t bytes, size_t count, FILE *stream),
     (into, bytes, count, stream))
CALL(char *, NULL, stream_fails(STREAM, stream), fgets, (char *into, int bytes, FILE *stream),
     (into, bytes, stream))
CALL(ssize_t, -1, stream_fails(STREAM, stream), getline, (char **line, size_t *bytes, FILE *stream),
     (line, bytes, stream))
CALL(size_t, 0, stream_fails(STREAM, stream), fwrite,
     (const void *from, size_t bytes, size_t count, FILE *stream), (from, bytes, count, stream))
CALL(int, EOF, stream &&stream_fails(STREAM, stream), fflush, (FILE * stream), (stream))

FIND(fclose);
int fclose(FILE *stream)
{
    const bool failing = stream_fails(CLOSE, stream);
    const int reason = errno, closed = NEXT(fclose)(stream);
    errno = failing ? reason : errno;
    return failing ? EOF : closed;
}
