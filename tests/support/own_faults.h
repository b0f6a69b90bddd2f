/*
 * own_faults.h: faults.h for calls of the library: they are made by this process, which is loaded with the injector and
 * arms it (tests/faults/inject.h). So thousands of calls are tried in a minute, and what a call leaves behind in the
 * process can be seen. The calls run in a child process, so that a crash ends one try and not the test.
 *
 * An operation is a function that does, each time that it is called, all of this: it makes what the calls need, arms
 * (own_arm), calls, disarms (own_disarm), notes how the calls ended in *outcome, does the same again without faults and
 * notes what is wrong with that, and frees all. It is called with its first call failing, then its second, and so on until
 * none fails. After each:
 *
 *   * a failure has the code 2 or 3, and 3 if the fault was the machine's, and a sentence, as faults.h says; if the operation
 *     fails without faults, it may fail in the same way, without a hint at the end;
 *   * without a failure the answer is that of a call without faults;
 *   * no descriptor is open that was not open before, and nothing was lost (LeakSanitizer, in the preset `sanitize`);
 *   * it takes less than OWN_SECONDS.
 *
 * `make check` tries one allocation and one system call. TESSERA_FAULTS=all tries all, TESSERA_FAULTS=each:9 or each:9:4
 * each ninth (faults.h), and TESSERA_FAULTS=n the n-th. TESSERA_FAULTS_KIND=memory tries the faults of this name alone.
 */
#ifndef TESSERA_TESTS_SUPPORT_OWN_FAULTS_H
#define TESSERA_TESTS_SUPPORT_OWN_FAULTS_H

#include "tests/faults/inject.h"
#include "tests/support/faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>

/* After this a call hangs. */
#define OWN_SECONDS 240

/* So many crashes end a campaign. */
#define OWN_CRASHES 20

/* Leaks are looked for after so many tries, and at the end, because that takes long. */
#define OWN_LEAKS_EACH 64

struct own_outcome {
    int code;               /* 0, or that of the first call that failed */
    char text[1024];        /* its sentence */
    uint64_t answer;        /* a hash of what calls gave */
    const char *afterwards; /* what is wrong after the faults, or NULL */
};

struct own_operation {
    const char *name;
    void (*run)(const void *argument, struct own_outcome *outcome);
    const void *argument;
    bool answer_may_vary; /* times, for example */
};

static const struct own_fault {
    const char *name;
    const struct fault *fault;
} own_kinds[] = {
    {"memory", &faults_of_memory},
    {"calls", &faults_of_calls},
    {"memory_forever", &faults_of_memory_forever},
    {"threads", &faults_of_threads},
    {"calls_forever", &faults_of_calls_forever},
    {"descriptors", &faults_of_descriptors},
    {"signals", &faults_of_signals},
    {"short", &faults_of_short_moves},
};

#define OWN_KINDS (sizeof own_kinds / sizeof *own_kinds)

/* The first ones, of which `make check` tries a call. */
#define OWN_KINDS_SAMPLED 2

/* What the processes share. */
static struct own_shared {
    struct faults_state state;
    uint64_t number; /* of the call that fails, in this try */
    uint64_t runs, failures;
    bool done;                        /* the campaign has ended */
    uint64_t printed[FAULTS_PRINTED]; /* as in struct faults */
    uint32_t printed_count;
    struct own_outcome right;  /* without faults */
    uint64_t kept, kept_files; /* what an operation notes without faults, for itself */
} * own_shared;

static const struct fault *own_fault;
static bool own_armed;
static char own_file[PATH_BYTES];
static void (*own_faults_arm)(const struct faults_wish *, struct faults_state *);
static void (*own_faults_disarm)(void);

extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* ---- For operations ---- */

static inline void own_arm(void)
{
    own_faults_arm(&(struct faults_wish){.kinds = own_fault->kinds,
                                         .error = own_fault->error,
                                         .number = own_shared->number,
                                         .forever = own_fault->forever,
                                         .file = own_file},
                   &own_shared->state);
    own_armed = true;
}

static inline void own_disarm(void)
{
    own_faults_disarm();
    own_armed = false;
}

/* Between these two, calls are not counted. */
static inline bool own_pause(void)
{
    const bool armed = own_armed;
    own_disarm();
    return armed;
}

static inline void own_resume(bool armed)
{
    if (armed)
        own_arm();
}

/* Whether a call has failed in this try. */
static inline bool own_failed(void)
{
    return atomic_load(&own_shared->state.faults) != 0;
}

static inline void own_note(struct own_outcome *outcome, const void *bytes, size_t length)
{
    outcome->answer = XXH3_64bits_withSeed(bytes, length, outcome->answer);
}

static inline unsigned own_folder_entries(const char *folder)
{
    unsigned count = 0;
    DIR *const directory = opendir(folder);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Notes how a call ended; returns whether it succeeded. */
static inline bool own_ended(struct own_outcome *outcome, int code, const char *text)
{
    if (code && !outcome->code) {
        outcome->code = code;
        snprintf(outcome->text, sizeof outcome->text, "%s", text ? text : "");
    }
    return code == 0;
}

/* ---- One try ---- */

static inline void own_wrong(const struct own_operation *operation, const struct own_outcome *outcome,
                             const char *what)
{
    const struct faults_state *const state = &own_shared->state;
    const uint64_t hash = XXH3_64bits_withSeed(state->frames, state->frame_count * sizeof *state->frames,
                                               XXH3_64bits(what, strlen(what)));
    own_shared->failures++;
    for (uint32_t p = 0; p < own_shared->printed_count; p++)
        if (own_shared->printed[p] == hash)
            return;
    if (own_shared->printed_count == FAULTS_PRINTED)
        return;
    own_shared->printed[own_shared->printed_count++] = hash;
    fprintf(stderr, "%s\n  kinds %s, error %s, TESSERA_FAULTS=%" PRIu64 "%s\n  %s; code %d\n  %.1000s\n",
            operation->name, own_fault->kinds, own_fault->error, own_shared->number,
            own_fault->forever ? ", from then on" : "", what, outcome->code, outcome->text);
    faults_print_frames(state, own_file);
}

/* A sentence may lack its end: "did you mean ...?" of what cannot be listed. */
static inline bool own_begins(const char *right, const char *sentence)
{
    return *sentence && strncmp(right, sentence, strlen(sentence)) == 0;
}

static inline const char *own_end_wrong(const struct own_operation *operation,
                                        const struct own_outcome *outcome)
{
    const struct own_outcome *const right = &own_shared->right;
    if (outcome->afterwards)
        return outcome->afterwards;
    if (outcome->code == right->code && outcome->code != 0)
        return own_begins(right->text, outcome->text) ? NULL
               : outcome->code == 3                   ? faults_failure_wrong(own_fault, 3, outcome->text)
                                                      : "the sentence is not that of a call without faults";
    if (outcome->code != 0)
        return faults_failure_wrong(own_fault, outcome->code, outcome->text);
    return right->code != 0 ? "it must fail"
           : outcome->answer != right->answer && !operation->answer_may_vary
               ? "the answer is not that of a call without a fault"
               : NULL;
}

/* Runs the operation with its call `number` failing; 0: none. */
static inline void own_run(const struct own_operation *operation, uint64_t number,
                           struct own_outcome *outcome)
{
    own_shared->number = number;
    memset(&own_shared->state, 0, sizeof own_shared->state);
    memset(outcome, 0, sizeof *outcome);
    alarm(OWN_SECONDS);
    operation->run(operation->argument, outcome);
    alarm(0);
}

/* False: there is no such call. */
static inline bool own_try(const struct own_operation *operation, uint64_t number)
{
    struct own_outcome outcome;
    const unsigned descriptors = own_folder_entries("/proc/self/fd");
    own_run(operation, number, &outcome);
    const char *wrong = own_end_wrong(operation, &outcome);
    if (!wrong && own_folder_entries("/proc/self/fd") != descriptors)
        wrong = "a descriptor is left open";
    if (!own_failed() && !wrong)
        return false;
    own_shared->runs++;
    if (!wrong && (own_shared->runs % OWN_LEAKS_EACH == 0) && __lsan_do_recoverable_leak_check &&
        __lsan_do_recoverable_leak_check())
        wrong = "memory was lost, in one of the last tries";
    if (wrong)
        own_wrong(operation, &outcome, wrong);
    return own_failed();
}

/* ---- A campaign ---- */

/* What a child process does. It ends with exit(), so that LeakSanitizer looks for what is lost. */
typedef void own_work(const struct own_operation *operation, uint64_t first, uint64_t step);

static inline void own_tries(const struct own_operation *operation, uint64_t first, uint64_t step)
{
    for (uint64_t n = first; own_try(operation, n) && step; n += step)
        ;
}

/* Notes the answer without faults. */
static inline void own_look(const struct own_operation *operation, uint64_t first, uint64_t step)
{
    struct own_outcome outcome;
    (void)first, (void)step;
    own_run(operation, 0, &own_shared->right);
    outcome = own_shared->right;
    const char *const wrong = own_end_wrong(operation, &outcome);
    if (wrong)
        own_wrong(operation, &outcome, wrong);
}

/* Tries a call of each of the first kinds, or of the first alone: always the same one, at other places of other operations. */
static inline void own_sample(const struct own_operation *operation, uint64_t first, uint64_t step)
{
    const uint64_t hash = XXH3_64bits(operation->name, strlen(operation->name));
    (void)first, (void)step;
    for (size_t k = 0; k < OWN_KINDS_SAMPLED; k++) {
        if (k > 0 && hash % 2)
            break;
        own_fault = own_kinds[k].fault;
        own_look(operation, 0, 0);
        const uint64_t calls = atomic_load(&own_shared->state.calls);
        if (calls)
            (void)own_try(operation, 1 + (hash >> k) % calls);
    }
}

/* What a child has written to standard error; it is printed, unless the sanitizer itself died of missing memory. */
static inline bool own_is_sanitizers(FILE *errors, bool crashed)
{
    static char text[1 << 16];
    rewind(errors);
    text[fread(text, 1, sizeof text - 1, errors)] = '\0';
    fclose(errors);
    if (crashed && (strstr(text, "AddressSanitizer: CHECK failed") ||
                    strstr(text, "LeakSanitizer has encountered a fatal error")))
        return true;
    fputs(text, stderr);
    return false;
}

/* Runs `work` in a child process, whose standard error goes to a file; false: it crashed or lost memory. */
static inline bool own_child(const struct own_operation *operation, own_work *work, uint64_t first,
                             uint64_t step)
{
    FILE *const errors = tmpfile();
    assert_non_null(errors);
    fflush(NULL);
    own_shared->done = false;
    const pid_t child = fork();
    if (child == 0) {
        static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
        for (size_t c = 0; c < sizeof crashes / sizeof *crashes; c++)
            signal(crashes[c], SIG_DFL); /* cmocka's handlers would go on with the next test, here */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(fileno(errors), STDERR_FILENO);
        work(operation, first, step);
        own_shared->done = true;
        exit(0);
    }
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    const bool crashed = status != 0;
    if (own_is_sanitizers(errors, crashed))
        return true;
    if (crashed) {
        char what[96];
        snprintf(what, sizeof what, "%s %d",
                 WIFSIGNALED(status) ? "a crash by signal" : "the process ended with",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        own_wrong(operation, &(struct own_outcome){.code = -1}, own_shared->done ? "memory was lost" : what);
    }
    return !crashed;
}

/* Tries each step-th call; goes on after a crash. */
static inline void own_all(const struct own_operation *operation, uint64_t first, uint64_t step)
{
    for (unsigned crashes = 0; crashes < OWN_CRASHES;) {
        crashes += !own_child(operation, own_tries, first, step);
        if (own_shared->done)
            return;
        own_shared->runs++;
        first = own_shared->number + step;
    }
}

static inline void own_begin_counts(void)
{
    own_shared->runs = own_shared->failures = own_shared->printed_count = 0;
}

/* Prints what was tried; returns how many faults are not handled. */
static inline uint64_t own_tell(const char *kind)
{
    printf(" %" PRIu64 " of %s", own_shared->runs, kind);
    if (own_shared->failures)
        printf(" (%" PRIu64 " wrong)", own_shared->failures);
    fflush(stdout);
    return own_shared->failures;
}

/* All faults of an operation, or what TESSERA_FAULTS and TESSERA_FAULTS_KIND say. */
static inline void own_campaigns(const struct own_operation *operation)
{
    const char *const which = getenv("TESSERA_FAULTS"), *const only = getenv("TESSERA_FAULTS_KIND");
    uint64_t wrong = 0, first;
    const uint64_t hash = XXH3_64bits(operation->name, strlen(operation->name));
    const uint64_t step = faults_step(which, hash, &first);
    own_fault = own_kinds[0].fault;
    own_begin_counts();
    printf("%s:", operation->name);
    if (!own_child(operation, which ? own_look : own_sample, 0, 0) || own_shared->failures || !which)
        wrong += own_tell("first");
    const bool fit = wrong == 0;
    for (size_t k = 0; which && fit && k < OWN_KINDS; k++) {
        if (only && strcmp(only, own_kinds[k].name) != 0)
            continue;
        own_fault = own_kinds[k].fault;
        own_begin_counts();
        if (step)
            own_all(operation, first, step);
        else
            (void)own_child(operation, own_tries, strtoull(which, NULL, 10), 0);
        wrong += own_tell(own_kinds[k].name);
    }
    printf("\n");
    if (wrong)
        fail_msg("%" PRIu64 " faults are not handled", wrong);
}

/* ---- Beginning ---- */

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* Opens a library whose calls are tried. LeakSanitizer would take what the loader keeps of it for lost. */
static inline void *own_open(const char *library)
{
    if (__lsan_disable)
        __lsan_disable();
    void *const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (__lsan_enable)
        __lsan_enable();
    snprintf(own_file, sizeof own_file, "%s", library); /* whose functions a failure tells */
    return opened;
}

/* Loads the injector into this program, which begins anew for that. With `stacks` the sanitizer notes them whole, which takes
 * longer: so it knows what the loader allocates for the threads of a library that is opened. */
static inline void own_begin(char **arguments, bool stacks)
{
    const ssize_t length = readlink("/proc/self/exe", own_file, sizeof own_file - 1);
    own_file[length < 0 ? 0 : length] = '\0';
    *(void **)&own_faults_arm = dlsym(RTLD_DEFAULT, "faults_arm");
    *(void **)&own_faults_disarm = dlsym(RTLD_DEFAULT, "faults_disarm");
    if (!own_faults_arm && !getenv("LD_PRELOAD")) {
        char options[PATH_BYTES];
        faults_allow_sanitizer();
        snprintf(options, sizeof options, "%s:fast_unwind_on_malloc=%d:print_suppressions=0",
                 getenv("ASAN_OPTIONS"), !stacks);
        setenv("ASAN_OPTIONS", options, 1);
        setenv("LD_PRELOAD", TESSERA_FAULTS_LIBRARY, 1);
        arguments[0] = own_file;
        execv(own_file, arguments);
    }
    if (!own_faults_arm || !own_faults_disarm) {
        fprintf(stderr, "%s is not loaded\n", TESSERA_FAULTS_LIBRARY);
        exit(1);
    }
    unsetenv("LD_PRELOAD"); /* other programs have it not */
    own_shared = mmap(NULL, sizeof *own_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (own_shared == MAP_FAILED)
        exit(1);
}

#endif
