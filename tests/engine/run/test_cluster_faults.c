/*
 * test_cluster_faults.c: a cluster of processes loses one at each of its messages. The process is killed there, or the call of
 * MPI fails (tests/faults/messages.c); the statements are two questions and a COPY. Then:
 *
 *   * all others end. Once they have met, they do so by themselves, with exit code 3, and one of them says which process has
 *     died; before, while they do not know each other, by the launcher or by MPI; and with 0, or 3, where the lost process had
 *     nothing more to do than to leave.
 *   * a process whose call fails says so itself;
 *   * the first process has printed whole answers, and no other has printed anything; the file of COPY is whole, or there is none.
 *
 * Or the process is stopped there, and goes on 0.3 s later: then nothing is lost, and all answers are right.
 *
 * `make check` tries some calls of 3 processes. TESSERA_CLUSTER_FAULTS=all tries each, 5 tries 5 of each process and fault;
 * TESSERA_CLUSTER_PROCESSES=4 has 4. Skipped where OpenMPI is not installed.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/faults/faults_state.h"
#include "tests/support/mpirun.h"
#include "tests/support/one_directory.h"
#include "tests/support/run_program.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>

#define PROCESSES_MAX 4u
#define AT_ONCE       4u /* runs */
#define ERRORS        3u

/* A run that takes longer hangs. */
#define HANGS "180"

#define FIRST                                                                                \
    "select c_nation, sum(lo_revenue), count(distinct lo_suppkey) from lineorder, customer " \
    "where lo_custkey = c_custkey group by 1 order by 1"
#define SECOND "select count(*) from lineorder where lo_tax > (select avg(lo_tax) from lineorder)"
#define COPIED "select lo_custkey, sum(lo_revenue) from lineorder group by 1 order by 1"

/* Each process is in a session of its own, which the launcher does not end, and leaves its exit code in a file. The launcher
 * learns of a death only with $EARLY: when others have ended by themselves, it must not be what ended them. */
static const char shell[] =
    "cd $W && export OMPI_MCA_btl_vader_backing_directory=$W; timeout " HANGS " " MPIRUN
    "-n $PROCESSES setsid -w sh -c '"
    "R=$OMPI_COMM_WORLD_RANK; if [ $R = $LOST ]; then export LD_PRELOAD=$FAULTS FAULTS_PROGRAM=$T "
    "FAULTS_KINDS=message FAULTS_NUMBER=$NUMBER FAULTS_ERROR=$ERROR FAULTS_STATE=$W/state; fi; "
    "$T sql --db $D --device cpu --threads 1 --cluster mpi --format csv "
    "\"" FIRST "; copy (" COPIED ") to '\\''$W/copy.csv'\\''; " SECOND "\" >out.$R 2>said.$R & P=$!; "
    "unset LD_PRELOAD; [ $ERROR$R != stop$LOST ] || { while sleep 0.3; do kill -CONT $P || break; done 2>&1; "
    "} & wait $P; C=$?; echo $C >code.$R; [ -z $EARLY ] || exit $C' >launcher 2>&1; "
    "for i in $(seq " HANGS "0); do "
    "[ $(find . -name \"code.*\" -size +0 | wc -l) = $PROCESSES ] && exit 0; sleep 0.1; done; exit 9";

static unsigned processes = 3;

static char *answers[2], *copied; /* whole ones: of the first question, and of both */
static struct program_run run;

static char *output_of(const char *command)
{
    run_shell(command, &run);
    if (run.exit_code != 0)
        fail_msg("%s: %s", command, run.errors);
    return strdup(run.output);
}

/* One run with a fault. */
struct loss {
    unsigned process;
    uint64_t number; /* of the call; 0: none fails */
    const char *error;
    pid_t runs;
    char folder[PATH_BYTES];
    struct faults_state *state;
};

static void begin_loss(struct loss *loss, unsigned slot, bool early)
{
    char text[32], name[PATH_BYTES + 8];
    snprintf(loss->folder, sizeof loss->folder, "%.*s/run.%u", (int)(strlen(path) - strlen("/db")), path,
             slot);
    setenv("W", loss->folder, 1);
    run_shell("rm -rf $W && mkdir $W && truncate -s 4096 $W/state", &run);
    assert_int_equal(run.exit_code, 0);
    snprintf(name, sizeof name, "%s/state", loss->folder);
    const int file = open(name, O_RDWR | O_CLOEXEC);
    loss->state = mmap(NULL, sizeof *loss->state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(file >= 0 && loss->state != MAP_FAILED);
    close(file);
    snprintf(text, sizeof text, "%u", processes);
    setenv("PROCESSES", text, 1);
    setenv("T", TESSERA_PROGRAM, 1);
    setenv("FAULTS", TESSERA_FAULTS_LIBRARY, 1);
    setenv("ERROR", loss->error, 1);
    setenv("EARLY", early ? "1" : "", 1);
    snprintf(text, sizeof text, "%u", loss->process);
    setenv("LOST", text, 1);
    snprintf(text, sizeof text, "%" PRIu64, loss->number);
    setenv("NUMBER", text, 1);
    fflush(NULL);
    loss->runs = fork();
    if (loss->runs == 0) {
        execl("/bin/sh", "sh", "-c", shell, (char *)NULL);
        _exit(127);
    }
    assert_true(loss->runs > 0);
}

/* The bytes of a file of the run; "" if there is none. */
static const char *file_of(const struct loss *loss, const char *name, unsigned process)
{
    static char texts[4][1 << 16];
    static unsigned next;
    char *const text = texts[next++ % 4], file[PATH_BYTES + 32];
    snprintf(file, sizeof file, process < processes ? "%s/%s.%u" : "%s/%s", loss->folder, name, process);
    FILE *const in = fopen(file, "r");
    text[in ? fread(text, 1, sizeof texts[0] - 1, in) : 0] = '\0';
    if (in)
        fclose(in);
    return text;
}

static void fail_loss(const struct loss *loss, const char *what)
{
    char said[4096];
    int used = 0;
    for (unsigned p = 0; p < processes; p++)
        used += snprintf(said + used, sizeof said - (size_t)used, "process %u: code %.4s, %.300s\n", p,
                         file_of(loss, "code", p), file_of(loss, "said", p));
    fail_msg("%s: process %u, call %" PRIu64 ", %s\n%s%.1000s", what, loss->process, loss->number,
             loss->error, said, file_of(loss, "launcher", processes));
}

static bool is_whole(const char *output)
{
    return !*output || strcmp(output, answers[0]) == 0 || strcmp(output, answers[1]) == 0;
}

/* Messages of a process in the meeting of all others: it receives and sends each. */
#define MEETING_CALLS (4u * (processes - 1))

/* The process was stopped, and went on. */
static void end_stop(struct loss *loss)
{
    for (unsigned p = 0; p < processes; p++)
        if (strcmp(file_of(loss, "code", p), "0\n") != 0 ||
            strcmp(file_of(loss, "out", p), p == 0 ? answers[1] : "") != 0)
            fail_loss(loss, "the answers are not those of a process that never stopped");
    if (strcmp(file_of(loss, "copy.csv", processes), copied) != 0)
        fail_loss(loss, "another file was written");
    munmap(loss->state, sizeof *loss->state);
}

/* `calls` are those of the process when nothing fails. */
static void end_loss(struct loss *loss, uint64_t calls, bool early)
{
    const bool late = loss->number + MEETING_CALLS + 1 > calls, killed = strcmp(loss->error, "kill") == 0;
    unsigned told = 0, failed = 0;
    int ended;
    assert_int_equal(waitpid(loss->runs, &ended, 0), loss->runs);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
        fail_loss(loss, "it hangs");
    if (loss->state->faults != 1)
        fail_loss(loss, "no call failed");
    if (strcmp(loss->error, "stop") == 0) {
        end_stop(loss);
        return;
    }
    for (unsigned p = 0; p < processes; p++) {
        const int code = atoi(file_of(loss, "code", p));
        const char *const said = file_of(loss, "said", p);
        if (!is_whole(file_of(loss, "out", p)) || (p > 0 && *file_of(loss, "out", p)))
            fail_loss(loss, "half of an answer was printed");
        if (p == loss->process) {
            if (killed ? code != 128 + SIGKILL : code != 3 && !late && !early)
                fail_loss(loss, "the lost process ends in another way");
            if (!killed && !late && !early && !strstr(said, "MPI_ERR_OTHER"))
                fail_loss(loss, "the process whose call fails does not say so");
            continue;
        }
        told += strstr(said, "has died, so the statement has no answer") != NULL;
        failed += code != 0;
        if (!early && code != 3 && !(late && code == 0))
            fail_loss(loss, "another process does not end with exit code 3");
        if (code == 0 && p == 0 && strcmp(file_of(loss, "out", p), answers[1]) != 0)
            fail_loss(loss, "exit code 0 without the answers");
    }
    if (early ? failed != processes - 1 : !late && told != 1)
        fail_loss(loss, "the loss was not told once");
    const char *const copy = file_of(loss, "copy.csv", processes);
    if (*copy && strcmp(copy, copied) != 0)
        fail_loss(loss, "half of a file was written");
    munmap(loss->state, sizeof *loss->state);
}

/* Before its messages have come to all others, which are the first ones, they cannot know when it dies. */
static bool is_early(uint64_t number)
{
    return number <= 1 + MEETING_CALLS;
}

/* How many calls each process makes. */
static void count_calls(uint64_t calls[PROCESSES_MAX])
{
    struct loss none[PROCESSES_MAX];
    for (unsigned p = 0; p < processes; p++) {
        none[p] = (struct loss){.process = p, .error = "kill"};
        begin_loss(&none[p], p, false);
    }
    for (unsigned p = 0; p < processes; p++) {
        int ended;
        assert_int_equal(waitpid(none[p].runs, &ended, 0), none[p].runs);
        if (strcmp(file_of(&none[p], "out", 0), answers[1]) != 0 ||
            strcmp(file_of(&none[p], "copy.csv", processes), copied) != 0)
            fail_loss(&none[p], "another answer");
        calls[p] = none[p].state->calls;
        munmap(none[p].state, sizeof *none[p].state);
    }
}

static void a_process_is_lost_at_each_message(void **state)
{
    static const char *const errors[ERRORS] = {"kill", "EIO", "stop"};
    const char *const wish = getenv("TESSERA_CLUSTER_FAULTS");
    struct loss losses[AT_ONCE];
    uint64_t calls[PROCESSES_MAX], begun = 0, ended = 0;
    (void)state;
    need_mpirun();
    run_shell("$T ssb load --sf 0.005 --db $D", &run);
    assert_int_equal(run.exit_code, 0);
    answers[0] = output_of("$T sql --db $D --device cpu --format csv \"" FIRST "\"");
    answers[1] = output_of("$T sql --db $D --device cpu --format csv \"" FIRST "; " SECOND "\"");
    copied = output_of("$T sql --db $D --device cpu --format csv \"" COPIED "\"");
    count_calls(calls);
    for (unsigned e = 0; e < ERRORS; e++)
        for (unsigned p = 0; p < processes; p++) {
            const uint64_t all = calls[p], tries = !wish                      ? 1
                                                   : strcmp(wish, "all") == 0 ? all
                                                                              : strtoull(wish, NULL, 10);
            for (uint64_t t = 0; t < tries; t++) {
                const uint64_t number = tries == 1
                                            ? 20 + (all - 40) * (processes * e + p) / (ERRORS * processes)
                                            : 1 + t * (all - 1) / (tries - 1);
                if (begun >= AT_ONCE) {
                    struct loss *const oldest = &losses[ended++ % AT_ONCE];
                    end_loss(oldest, calls[oldest->process], is_early(oldest->number));
                }
                losses[begun % AT_ONCE] = (struct loss){.process = p, .number = number, .error = errors[e]};
                begin_loss(&losses[begun % AT_ONCE], (unsigned)(begun % AT_ONCE), is_early(number));
                begun++;
            }
        }
    for (; ended < begun; ended++)
        end_loss(&losses[ended % AT_ONCE], calls[losses[ended % AT_ONCE].process],
                 is_early(losses[ended % AT_ONCE].number));
    printf("%" PRIu64 " losses; the processes make", begun);
    for (unsigned p = 0; p < processes; p++)
        printf(" %" PRIu64, calls[p]);
    printf(" calls\n");
    run_shell("$T check --db $D", &run);
    assert_int_equal(run.exit_code, 0);
    free(answers[0]);
    free(answers[1]);
    free(copied);
}

int main(void)
{
    const char *const wish = getenv("TESSERA_CLUSTER_PROCESSES");
    if (wish)
        processes = (unsigned)strtoul(wish, NULL, 10);
    if (processes < 2 || processes > PROCESSES_MAX) {
        fprintf(stderr, "TESSERA_CLUSTER_PROCESSES=%s: give 2 to %u\n", wish, PROCESSES_MAX);
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_process_is_lost_at_each_message, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
