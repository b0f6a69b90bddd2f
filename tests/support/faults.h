/*
 * faults.h: runs an operation of the program with its first call failing, then its second, and so on until it completes
 * without a fault, and checks what must hold after each run. The calls are made to fail by a preloaded library
 * (tests/faults/inject.c). docs/trust.md says what is tested with it.
 *
 * A test makes its files beside the database $D (one_directory.h), describes the operation, and calls faults_campaign
 * once for each kind of fault:
 *
 *     static const struct fault_operation append = {
 *         .prepare = "$T load --db $D --schema star.sql sales=first.csv",
 *         .run = "$T load --db $D --schema star.sql --append sales=second.csv",
 *         .observe = "$T check --db $D && $T sql --db $D --format csv 'SELECT count(*) FROM sales'"};
 *     faults_campaign(&append, &faults_of_memory);
 *
 * After each run:
 *
 *   * the exit code is 0, 2 or 3; 3 if the fault was the machine's (all but EACCES, ENOENT ...); with memory the sentence
 *     says so; no such sentence advises to restore or to load data; errors are never silent;
 *   * with exit code 0 the state is the new one and the output is that of a run without a fault; also if the power is cut then;
 *   * with exit code 4 (the directory could not be synced) the state is the new one;
 *   * otherwise the state, which is what `observe` prints, is the old one (after a kill or a power cut: or the new one), and the operation
 *     run again completes, unless it has been done, and leaves as many files as without a fault;
 *   * if it has been done before the kill, the next writer (NEXT_WRITER) leaves as many files as without one;
 *   * readers that opened the old state before a kill (fault_readers.h) answer rightly after it, and after the next writer.
 *
 * `make check` tries one call of each campaign. TESSERA_FAULTS=all tries every call, TESSERA_FAULTS=each:9 each ninth,
 * each:9:1 to each:9:8 each ninth of the others, TESSERA_FAULTS=n the n-th one alone, TESSERA_FAULTS=random:40 or
 * random:40:7 so many calls of each campaign at random, from a seed. Failures are printed, each with the functions that
 * made the call, and those of one place once; then the test fails.
 */
#ifndef TESSERA_TESTS_SUPPORT_FAULTS_H
#define TESSERA_TESTS_SUPPORT_FAULTS_H

#include "tests/faults/faults_state.h"
#include "tests/support/fault_readers.h"
#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <xxhash.h>

/* More places of one campaign are counted, not printed. */
#define FAULTS_PRINTED 25

/* A writer that changes as little as one can. */
#define NEXT_WRITER "$T sql --device cpu --db $D 'CREATE OR REPLACE VIEW next_writer AS SELECT 1 AS one'"

struct fault_operation {
    const char *prepare;  /* a shell command that makes the state before it; "": there is none */
    const char *run;      /* the operation; the program is started by it once */
    const char *observe;  /* a shell command that prints the state; NULL: the operation changes nothing */
    const char *ask;      /* what readers of the old state are asked; NULL: there is no such state */
    bool output_may_vary; /* the run prints times, for example */
    bool slow;            /* it takes seconds: a sample leaves it out */
};

/* What fails: inject.c says what the words are. */
struct fault {
    const char *kinds, *error;
    bool forever;
    const char *path;    /* NULL: all paths */
    bool of_changes;     /* it tells nothing of operations that change nothing */
    bool must_be_mended; /* the program must repeat the call, so that nobody sees the fault */
    bool readers;        /* others have the database open */
    bool must_be_made;   /* each operation makes such calls */
};

static const struct fault faults_of_memory = {.kinds = "memory", .error = "ENOMEM"};
static const struct fault faults_of_memory_forever = {.kinds = "memory", .error = "ENOMEM", .forever = true};
static const struct fault faults_of_gpu = {.kinds = "gpu", .error = "EIO", .must_be_made = true};
static const struct fault faults_of_gpu_forever = {
    .kinds = "gpu", .error = "EIO", .forever = true, .must_be_made = true};
static const struct fault faults_of_gpu_memory = {
    .kinds = "gpu_memory", .error = "ENOMEM", .must_be_made = true};
static const struct fault faults_of_gpu_memory_forever = {
    .kinds = "gpu_memory", .error = "ENOMEM", .forever = true, .must_be_made = true};
static const struct fault faults_of_threads = {.kinds = "thread", .error = "EAGAIN", .forever = true};
static const struct fault faults_of_calls = {.kinds = "calls", .error = "EIO"};
static const struct fault faults_of_calls_forever = {.kinds = "calls", .error = "EIO", .forever = true};
static const struct fault faults_of_descriptors = {.kinds = "open,list", .error = "EMFILE", .forever = true};
static const struct fault faults_of_access = {.kinds = "open,stat,list,unlink,rename,mkdir",
                                              .error = "EACCES"};
static const struct fault faults_of_space = {
    .kinds = "write,stream,truncate,mkdir", .error = "ENOSPC", .forever = true, .of_changes = true};
static const struct fault faults_of_signals = {
    .kinds = "open,read,write,sync,lock,truncate", .error = "EINTR", .must_be_mended = true};
static const struct fault faults_of_short_moves = {
    .kinds = "read,write", .error = "short", .forever = true, .must_be_mended = true};
static const struct fault faults_that_kill = {.kinds = "calls", .error = "kill", .of_changes = true};
/* All calls that change files: after the ones between them the files are the same. */
static const struct fault faults_that_kill_beside_readers = {
    .kinds = "open,write,stream,sync,rename,unlink,mkdir,rmdir,truncate,lock",
    .error = "kill",
    .of_changes = true,
    .readers = true};
static const struct fault faults_of_power = {
    .kinds = "open,write,sync,rename,unlink,mkdir,rmdir,truncate", .error = "power", .of_changes = true};

/* What campaigns know. $D.saved is a copy of the database before the operation. */
struct faults {
    const struct fault_operation *operation;
    const struct fault *fault;
    struct faults_state *state;
    char state_path[PATH_BYTES];
    uint64_t tree_before, files_after, files_after_next; /* the last: after NEXT_WRITER, too */
    char *before, *after, *output; /* what observe printed, and the operation, both without a fault */
    struct fault_readers readers;
    char *asked; /* what readers of the old state answer */
    uint64_t runs, failures;
    uint64_t printed[FAULTS_PRINTED]; /* hashes of what was printed, so that each is printed once */
    uint32_t printed_count;
};

static struct program_run faults_run, faults_seen;

/* ---- The state ---- */

static uint64_t faults_tree;

static inline int faults_hash_one(const char *file, const struct stat *facts, int type, struct FTW *walk)
{
    (void)walk;
    uint64_t hash = XXH3_64bits(file, strlen(file)) + (uint64_t)type;
    if (type == FTW_F && facts->st_size > 0) {
        const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
        void *const bytes = mmap(NULL, (size_t)facts->st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (bytes != MAP_FAILED) {
            hash ^= XXH3_64bits_withSeed(bytes, (size_t)facts->st_size, hash);
            munmap(bytes, (size_t)facts->st_size);
        }
        close(descriptor);
    }
    faults_tree += XXH3_64bits(&hash, sizeof hash); /* in any order */
    return 0;
}

/* A number that depends on all names and bytes of the database. */
static inline uint64_t faults_tree_hash(void)
{
    faults_tree = 0;
    nftw(path, faults_hash_one, 16, FTW_PHYS);
    return faults_tree;
}

static inline void faults_shell(const char *shell, struct program_run *run)
{
    char text[8 * PATH_BYTES];
    assert_true((size_t)snprintf(text, sizeof text, "cd $D/.. && %s", shell) < sizeof text);
    run_shell(text, run);
}

static inline void faults_restore(const struct faults *faults)
{
    if (faults_tree_hash() != faults->tree_before)
        faults_shell("rm -rf $D && if test -e $D.saved; then cp -a $D.saved $D; fi", &faults_seen);
    assert_true(faults_tree_hash() == faults->tree_before);
}

static inline char *faults_observe(const struct faults *faults)
{
    char *text;
    if (!faults->operation->observe)
        return strdup("");
    faults_shell(faults->operation->observe, &faults_seen);
    assert_true(asprintf(&text, "%sexit code %d\n", faults_seen.output, faults_seen.exit_code) > 0);
    return text;
}

/* ---- One run ---- */

static inline void faults_environment(const struct faults *faults, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    setenv("FAULTS_NUMBER", text, 1);
    setenv("FAULTS_KINDS", faults->fault->kinds, 1);
    setenv("FAULTS_ERROR", faults->fault->error, 1);
    setenv("FAULTS_STATE", faults->state_path, 1);
    setenv("FAULTS_PROGRAM", TESSERA_PROGRAM, 1);
    unsetenv("FAULTS_FOREVER");
    unsetenv("FAULTS_PATH");
    if (faults->fault->forever)
        setenv("FAULTS_FOREVER", "1", 1);
    if (faults->fault->path)
        setenv("FAULTS_PATH", faults->fault->path, 1);
}

/* Runs the operation with its call `number` failing; 0: none. */
static inline void faults_try(struct faults *faults, uint64_t number)
{
    memset(faults->state, 0, sizeof *faults->state);
    faults_environment(faults, number);
    setenv("LD_PRELOAD", TESSERA_FAULTS_LIBRARY, 1);
    faults_shell(faults->operation->run, &faults_run);
    unsetenv("LD_PRELOAD");
    if (!atomic_load(&faults->state->begun))
        fail_msg("%s is not what was started: no call was counted", TESSERA_PROGRAM);
}

/* Prints the functions of the file that made the call that failed first. */
static inline void faults_print_frames(const struct faults_state *state, const char *file)
{
    char command[4 * PATH_BYTES];
    int used = snprintf(command, sizeof command, "addr2line -fspe '%s'", file);
    for (uint32_t f = 0; f < state->frame_count && used < (int)sizeof command - 32; f++)
        used += snprintf(command + used, sizeof command - (size_t)used, " 0x%" PRIx64, state->frames[f]);
    snprintf(command + used, sizeof command - (size_t)used, " 2>&1 | sed 's/ at ??:.*//; s/^/    /' >&2");
    fflush(NULL);
    if (system(command) != 0)
        fprintf(stderr, "    (addr2line names the functions)\n");
}

/* Whether this failure differs from those that were printed: in what is wrong, or in who made the call. */
static inline bool faults_is_new(struct faults *faults, const char *what)
{
    const size_t size = faults->state->frame_count * sizeof *faults->state->frames;
    const uint64_t hash = XXH3_64bits_withSeed(faults->state->frames, size, XXH3_64bits(what, strlen(what)));
    for (uint32_t p = 0; p < faults->printed_count; p++)
        if (faults->printed[p] == hash)
            return false;
    if (faults->printed_count == FAULTS_PRINTED)
        return false;
    faults->printed[faults->printed_count++] = hash;
    return true;
}

static inline void faults_wrong(struct faults *faults, uint64_t number, const char *what)
{
    faults->failures++;
    if (!faults_is_new(faults, what))
        return;
    const char *const seed = getenv("FAULTS_SEED");
    fprintf(stderr,
            "%s\n  FAULTS_KINDS=%s FAULTS_ERROR=%s FAULTS_NUMBER=%" PRIu64
            "%s%s%s\n  %s; exit code %d\n  %.1000s",
            faults->operation->run, faults->fault->kinds, faults->fault->error, number,
            faults->fault->forever ? " FAULTS_FOREVER=1" : "", seed ? " FAULTS_SEED=" : "", seed ? seed : "",
            what, faults_run.exit_code, faults_run.errors);
    faults_print_frames(faults->state, TESSERA_PROGRAM);
}

/* ---- What must hold ---- */

static inline bool faults_is_machines(const char *error)
{
    static const char *const machines[] = {"EIO",    "ENOMEM", "EMFILE", "ENFILE",
                                           "ENOSPC", "EDQUOT", "EINTR",  "EAGAIN"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        if (strcmp(error, machines[m]) == 0)
            return true;
    return false;
}

/* What is wrong with a failure's code, which is an exit code and a tessera_status, and with its sentence, or NULL. */
static inline const char *faults_failure_wrong(const struct fault *fault, int code, const char *sentence)
{
    if (code != 2 && code != 3)
        return "the codes of failures are 2 and 3";
    if (fault->must_be_mended)
        return "the call must be repeated";
    if (!sentence[strspn(sentence, " \n")])
        return "it says nothing";
    if (code != 3 && faults_is_machines(fault->error))
        return "the machine failed, not the input";
    if (strstr(fault->kinds, "memory") && !strstr(sentence, "memory"))
        return "it does not say that memory was missing";
    if (strstr(sentence, "estore the") || strstr(sentence, "oad the database again"))
        return "the advice is for damaged files";
    return NULL;
}

/* What is wrong with the run's end, or NULL. */
static inline const char *faults_end_wrong(const struct faults *faults)
{
    const int code = faults_run.exit_code;
    if (strstr(faults_run.errors, "AddressSanitizer: CHECK failed"))
        return NULL; /* the sanitizer itself does not live without memory */
    if (code == STATUS_NOT_DURABLE)
        return strstr(faults_run.errors, "do not repeat it") ? NULL : "it does not say that it was done";
    const bool power = strcmp(faults->fault->error, "power") == 0; /* which may come after the end */
    if (strcmp(faults->fault->error, "kill") == 0 || (power && code != 0))
        return code == -1 || code == 128 + SIGKILL ? NULL : "it was not killed";
    if (code != 0)
        return faults_failure_wrong(faults->fault, code, faults_run.errors);
    if (!faults->operation->output_may_vary && strcmp(faults_run.output, faults->output) != 0)
        return "the output is not that of a run without a fault";
    return NULL;
}

/* Whether the run says that it made its change. */
static inline bool faults_done(void)
{
    return faults_run.exit_code == 0 || faults_run.exit_code == STATUS_NOT_DURABLE;
}

/* The end of the next writer, after which no file is left that would not be there without a fault. */
static inline const char *faults_cleaning_wrong(struct faults *faults, uint64_t files)
{
    const bool right = fault_reader_is_right(&faults->readers, 1, faults->operation->ask, faults->asked);
    fault_readers_close(&faults->readers); /* the last one removes what it kept */
    return !right                           ? "the next writer takes files of readers"
           : directory_files(path) != files ? "the next writer leaves other files"
                                            : NULL;
}

/* What is wrong after the operation is run again, or NULL. */
static inline const char *faults_again_wrong(struct faults *faults)
{
    faults_shell(faults->operation->run, &faults_seen);
    if (faults_seen.exit_code != 0)
        fprintf(stderr, "%s", faults_seen.errors);
    char *const now = faults_observe(faults);
    const bool completed = strcmp(now, faults->after) == 0;
    free(now);
    return completed ? faults_cleaning_wrong(faults, faults->files_after) : "run again, it does not complete";
}

static inline const char *faults_next_wrong(struct faults *faults)
{
    faults_shell(NEXT_WRITER, &faults_seen);
    if (faults_seen.exit_code == 0)
        return faults_cleaning_wrong(faults, faults->files_after_next);
    fprintf(stderr, "%s", faults_seen.errors);
    return "the next writer fails";
}

/* What is wrong with the state that the run left, or NULL. */
static inline const char *faults_state_wrong(struct faults *faults)
{
    if (faults_tree_hash() == faults->tree_before)
        return faults_done() && strcmp(faults->before, faults->after) != 0 ? "it was not done" : NULL;
    /* Only one load has a step after the commit, and says what it is (ssb/data/load.c). */
    const bool done = faults_done() || strstr(faults_run.errors, "the tables are loaded, and it remains to");
    const bool killed = faults_run.exit_code < 0 || faults_run.exit_code >= 128;
    const struct program_run run = faults_run; /* so that its failure can be printed */
    const char *wrong = NULL;
    char *const now = faults_observe(faults);
    const bool is_old = strcmp(now, faults->before) == 0, is_new = strcmp(now, faults->after) == 0;
    if (!is_new && (done || !is_old)) {
        fprintf(stderr, "%s%s", now, faults_seen.errors);
        wrong = "the state is neither the old one nor the new one";
    } else if (!done && is_old) {
        wrong = faults_again_wrong(faults);
    } else if (!done && !killed) {
        wrong = "it failed, but the change was made";
    } else if (killed) {
        wrong = faults_next_wrong(faults);
    }
    free(now);
    faults_run = run;
    return wrong;
}

/* Tries one call; false: there is no such call. */
static inline bool faults_try_call(struct faults *faults, uint64_t number)
{
    if (faults->fault->readers && faults->operation->ask)
        fault_readers_open(&faults->readers, path);
    faults_try(faults, number);
    const bool tried = atomic_load(&faults->state->faults) || faults_run.exit_code != 0;
    const char *wrong = tried ? faults_end_wrong(faults) : NULL;
    if (tried && !wrong && !fault_reader_is_right(&faults->readers, 0, faults->operation->ask, faults->asked))
        wrong = "a reader that had the database open fails";
    if (tried && !wrong)
        wrong = faults_state_wrong(faults);
    if (wrong)
        faults_wrong(faults, number, wrong);
    faults->runs += tried;
    fault_readers_close(&faults->readers);
    faults_restore(faults);
    return tried;
}

/* ---- A campaign ---- */

static inline void faults_map_state(struct faults *faults)
{
    assert_true((size_t)snprintf(faults->state_path, PATH_BYTES, "%s.calls", path) < PATH_BYTES);
    const int descriptor = open(faults->state_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(descriptor, sizeof *faults->state), 0);
    faults->state = mmap(NULL, sizeof *faults->state, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_true(faults->state != MAP_FAILED);
    close(descriptor);
}

/* AddressSanitizer wants to be the first library; the injector stands before it and calls it. */
static inline void faults_allow_sanitizer(void)
{
    static bool done;
    char text[PATH_BYTES];
    const char *const options = getenv("ASAN_OPTIONS");
    snprintf(text, sizeof text, "%s%sverify_asan_link_order=0", options ? options : "", options ? ":" : "");
    if (!done)
        setenv("ASAN_OPTIONS", text, 1);
    done = true;
}

/* Makes the state before the operation. */
static inline void faults_prepare(struct faults *faults)
{
    faults_shell("rm -rf $D $D.saved", &faults_seen);
    if (*faults->operation->prepare) {
        faults_shell(faults->operation->prepare, &faults_seen);
        if (faults_seen.exit_code != 0)
            fail_msg("%s: %s", faults->operation->prepare, faults_seen.errors);
    }
    faults_shell("if test -e $D; then cp -a $D $D.saved; fi", &faults_seen);
    faults->tree_before = faults_tree_hash();
    faults->before = faults_observe(faults);
    if (faults->operation->ask) {
        fault_readers_open(&faults->readers, path);
        faults->asked =
            fault_reader_answer(&faults->readers, faults->readers.opened[0], faults->operation->ask);
        fault_readers_close(&faults->readers);
    }
    faults_restore(faults);
}

/* Runs the operation without a fault; the calls are counted. */
static inline void faults_count(struct faults *faults)
{
    faults_try(faults, 0);
    if (faults_run.exit_code != 0)
        fail_msg("%s: exit code %d, %s", faults->operation->run, faults_run.exit_code, faults_run.errors);
    if (!faults->output) {
        faults->output = strdup(faults_run.output);
        faults->after = faults_observe(faults);
        faults->files_after = directory_files(path);
        faults_shell(NEXT_WRITER, &faults_seen);
        faults->files_after_next = directory_files(path);
    }
    faults_restore(faults);
}

/* What is kept of the last operation, so that its campaigns prepare it once. */
static inline struct faults *faults_of(const struct fault_operation *operation)
{
    static struct faults kept;
    static char kept_path[PATH_BYTES];
    if (kept.operation == operation && strcmp(kept_path, path) == 0)
        return &kept;
    if (kept.state)
        munmap(kept.state, sizeof *kept.state);
    free(kept.before);
    free(kept.after);
    free(kept.output);
    free(kept.asked);
    engine_close(kept.readers.engine);
    kept = (struct faults){.operation = operation};
    memcpy(kept_path, path, sizeof kept_path);
    faults_allow_sanitizer();
    faults_map_state(&kept);
    faults_prepare(&kept);
    return &kept;
}

/* Tries calls at random, of which there are about `calls`. A power cut takes something else away each time. */
static inline void faults_at_random(struct faults *faults, uint64_t calls, const char *wanted)
{
    char text[32], *after;
    uint64_t left = strtoull(wanted, &after, 10);
    uint64_t random = XXH3_64bits_withSeed(faults->operation->run, strlen(faults->operation->run),
                                           *after == ':' ? strtoull(after + 1, NULL, 10) : 1);
    const uint64_t tries = 10 * left + 10; /* a call that is not made this time is not counted */
    for (uint64_t t = 0; left && calls && t < tries; t++) {
        random = XXH3_64bits(&random, sizeof random);
        snprintf(text, sizeof text, "%" PRIu64, random >> 40);
        setenv("FAULTS_SEED", text, 1);
        left -= faults_try_call(faults, 1 + random % (calls + 1));
    }
    unsetenv("FAULTS_SEED");
}

/* Of "each:9", "each:9:4" or "all" (TESSERA_FAULTS): the step, and the first number to try; 0 for what says something else.
 * `hash` of the campaign chooses the first one, so that each:9 is other places of each; each:9:1 begins one later. */
static inline uint64_t faults_step(const char *which, uint64_t hash, uint64_t *first)
{
    char *after = "";
    uint64_t step = 1;
    if (!which || (strcmp(which, "all") != 0 && strncmp(which, "each:", 5) != 0))
        return 0;
    if (*which == 'e')
        step = strtoull(which + 5, &after, 10);
    step += step == 0;
    *first = 1 + (hash % step + (*after == ':' ? strtoull(after + 1, NULL, 10) : 0)) % step;
    return step;
}

static inline void faults_sample(struct faults *faults, uint64_t calls)
{
    const char *const which = getenv("TESSERA_FAULTS");
    /* One call, at another place in each campaign, and always the same one. */
    const uint64_t hash = XXH3_64bits(faults->operation->run, strlen(faults->operation->run)) +
                          XXH3_64bits(faults->fault->kinds, strlen(faults->fault->kinds));
    uint64_t n;
    const uint64_t step = faults_step(which, hash, &n);
    if (which && strncmp(which, "random:", 7) == 0) {
        faults_at_random(faults, calls, which + 7);
    } else if (step) {
        for (; faults_try_call(faults, n); n += step)
            ;
    } else if (which && *which) {
        faults_try_call(faults, strtoull(which, NULL, 10));
    } else {
        if (calls)
            faults_try_call(faults, 1 + hash % calls);
        if (calls && strcmp(faults->fault->error, "power") == 0)
            faults_try_call(faults, calls + 1); /* what was done is synced */
    }
}

static inline void faults_campaign(const struct fault_operation *operation, const struct fault *fault)
{
    struct faults *const faults = faults_of(operation);
    faults->fault = fault;
    faults->runs = faults->failures = faults->printed_count = 0;
    faults_count(faults);
    const uint64_t calls = atomic_load(&faults->state->calls);
    if (fault->must_be_made && calls == 0)
        fail_msg("%s makes no calls of %s", operation->run, fault->kinds);
    faults_sample(faults, calls);
    printf("%s%s%s: %" PRIu64 " calls, %" PRIu64 " faults tried, %" PRIu64 " wrong\n", fault->kinds,
           fault->forever ? " from then on " : " ", fault->error, calls, faults->runs, faults->failures);
    if (faults->failures)
        fail_msg("%" PRIu64 " of %" PRIu64 " faults are not handled", faults->failures, faults->runs);
}

#endif
