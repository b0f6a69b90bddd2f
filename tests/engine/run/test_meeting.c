/*
 * test_meeting.c: three processes meet (engine/run/cluster.h): they agree, fail together wherever one of them fails, and
 * get texts and bytes of each other. The test starts itself under mpirun, with the word `process`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/run/cluster/cluster_internal.h"
#include "tests/support/mpirun.h"

#include <string.h>

#define PROCESSES 3u

static const char *program;
static struct cluster *cluster;

static uint32_t rank_of(void)
{
    return cluster_rank(cluster);
}

/* Fails the test unless all processes come to the end of a statement, this one with `status`. */
static void end_statement(enum status status, struct error *error)
{
    assert_int_equal(cluster_agree(cluster, CLUSTER_STATEMENT, status, error), status);
}

static void all_agree(void **state)
{
    struct error error = {0};
    (void)state;
    assert_int_equal(cluster_size(cluster), PROCESSES);
    assert_int_equal(cluster_local_rank(cluster), rank_of());
    assert_int_equal(cluster_agree(cluster, CLUSTER_PREPARE, STATUS_OK, &error), STATUS_OK);
    assert_int_equal(cluster_alike(cluster, CLUSTER_PREPARE, STATUS_OK, 7, "plan", &error), STATUS_OK);
    assert_int_equal(cluster_alike(cluster, CLUSTER_PREPARE, STATUS_OK, rank_of() / 2, "plan", &error),
                     STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "process 2 of 3 has another plan than process 0"));
    uint64_t decision = rank_of() == 0;
    assert_int_equal(cluster_decide(cluster, CLUSTER_COUNT, &decision, &error), STATUS_OK);
    assert_true(decision);
    end_statement(STATUS_OK, &error);
}

/* The first process that fails is heard, with its own status; process 0 needs no introduction. */
static void a_failure_of_one_is_that_of_all(void **state)
{
    (void)state;
    for (uint32_t failed = 0; failed < PROCESSES; failed++) {
        struct error error = {0};
        char expected[64];
        enum status status = STATUS_OK;
        if (rank_of() >= failed)
            status =
                error_set(&error, failed ? STATUS_MACHINE : STATUS_BAD_INPUT, "sentence of %u", rank_of());
        assert_int_equal(cluster_agree(cluster, CLUSTER_RUN, status, &error),
                         failed ? STATUS_MACHINE : STATUS_BAD_INPUT);
        snprintf(expected, sizeof expected, failed ? "process %u of 3, on " : "sentence of %u", failed);
        assert_memory_equal(error.text, expected, strlen(expected));
        snprintf(expected, sizeof expected, ": sentence of %u", failed);
        if (failed)
            assert_non_null(strstr(error.text, expected));
        end_statement(failed ? STATUS_MACHINE : STATUS_BAD_INPUT, &error);
    }
}

/* A process that fails before a point goes on to the end of its statement; the others learn of it at their point. */
static void a_process_that_is_elsewhere_is_met(void **state)
{
    (void)state;
    for (uint32_t absent = 0; absent < PROCESSES; absent++) {
        struct error error = {0};
        enum status status = STATUS_OK;
        if (rank_of() == absent)
            status = error_set(&error, STATUS_INTERRUPTED, "stopped");
        else
            status = cluster_agree(cluster, CLUSTER_PREPARE, STATUS_OK, &error);
        assert_int_equal(status, STATUS_INTERRUPTED);
        end_statement(STATUS_INTERRUPTED, &error);
        assert_non_null(strstr(error.text, "stopped"));
    }
}

static void different_points_without_a_failure_are_one(void **state)
{
    struct error error = {0};
    (void)state;
    const enum status status =
        cluster_agree(cluster, rank_of() == 1 ? CLUSTER_COUNT : CLUSTER_PREPARE, STATUS_OK, &error);
    assert_int_equal(status, STATUS_MACHINE);
    assert_non_null(strstr(error.text, "do not run the same statements"));
    end_statement(STATUS_MACHINE, &error);
}

/* Messages come in pieces of a few bytes. */
static void texts_and_bytes_arrive(void **state)
{
    (void)state;
    cluster->piece_bytes = 7;
    for (size_t length = 0; length < 60; length += 13) {
        struct error error = {0};
        char written[64], *text = rank_of() == 0 ? written : NULL, *all;
        size_t got = length;
        uint64_t sizes[PROCESSES];
        memset(written, 'a' + (int)(length % 20), sizeof written);
        assert_int_equal(cluster_text(cluster, &text, &got, true, &error), STATUS_OK);
        assert_int_equal(got, length);
        assert_memory_equal(text, written, length);
        assert_int_equal(
            cluster_collect(cluster, STATUS_OK, text, length * rank_of() / 2, &all, sizes, &error),
            STATUS_OK);
        assert_int_equal(sizes[1], length / 2);
        assert_int_equal(all != NULL, rank_of() == 0);
        if (all)
            assert_memory_equal(all, written, length / 2);
        free(all);
        if (rank_of() > 0)
            free(text);
    }
    cluster->piece_bytes = CLUSTER_PIECE_BYTES;
    struct error error = {0};
    char *none = NULL;
    size_t length = 0;
    assert_int_equal(cluster_text(cluster, &none, &length, false, &error), STATUS_OK);
    assert_null(none);
}

/* Process 0 does its part before the others do theirs; if it fails, they do nothing. */
static void process_0_takes_its_turn_first(void **state)
{
    struct error error = {0};
    (void)state;
    assert_int_equal(cluster_turn_begin(cluster, &error), STATUS_OK);
    assert_int_equal(cluster_turn_end(cluster, STATUS_OK, &error), STATUS_OK);
    enum status status = cluster_turn_begin(cluster, &error);
    assert_int_equal(status, rank_of() ? STATUS_MACHINE : STATUS_OK);
    if (rank_of() == 0)
        status = error_set(&error, STATUS_MACHINE, "no room");
    status = cluster_turn_end(cluster, status, &error);
    assert_int_equal(status, STATUS_MACHINE);
    assert_string_equal(error.text, "no room");
    end_statement(STATUS_MACHINE, &error);
}

static int open_cluster(void **state)
{
    struct error error = {0};
    (void)state;
    return cluster_open("mpi", &cluster, &error) == STATUS_OK ? 0 : -1;
}

static int close_cluster(void **state)
{
    struct error error = {0};
    (void)state;
    const enum status status = cluster_agree(cluster, CLUSTER_LEAVE, STATUS_OK, &error);
    cluster_close(cluster);
    return status == STATUS_OK ? 0 : -1;
}

/* Without a cluster nothing happens, and nothing changes. */
static void alone_there_is_nobody_to_meet(void **state)
{
    struct error error = {0};
    uint64_t decision = 7;
    (void)state;
    assert_int_equal(cluster_agree(NULL, CLUSTER_RUN, STATUS_MACHINE, &error), STATUS_MACHINE);
    assert_int_equal(cluster_alike(NULL, CLUSTER_RUN, STATUS_OK, 1, "plan", &error), STATUS_OK);
    assert_int_equal(cluster_decide(NULL, CLUSTER_COUNT, &decision, &error), STATUS_OK);
    assert_int_equal(cluster_rank(NULL) + cluster_size(NULL), 1);
    assert_true(decision == 7 && cluster_speaks(NULL));
    assert_int_equal(cluster_open("pvm", &cluster, &error), STATUS_BAD_INPUT);
    cluster_close(NULL);
}

static void three_processes_meet(void **state)
{
    char command[1024];
    (void)state;
    need_mpirun();
    snprintf(command, sizeof command, MPIRUN "-n 3 %s process > /dev/null", program);
    fflush(NULL);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alone_there_is_nobody_to_meet),
                                       cmocka_unit_test(three_processes_meet)},
                            process[] = {cmocka_unit_test(all_agree),
                                         cmocka_unit_test(a_failure_of_one_is_that_of_all),
                                         cmocka_unit_test(a_process_that_is_elsewhere_is_met),
                                         cmocka_unit_test(different_points_without_a_failure_are_one),
                                         cmocka_unit_test(texts_and_bytes_arrive),
                                         cmocka_unit_test(process_0_takes_its_turn_first)};
    program = argv[0];
    return argc > 1 && strcmp(argv[1], "process") == 0
               ? cmocka_run_group_tests(process, open_cluster, close_cluster)
               : cmocka_run_group_tests(tests, NULL, NULL);
}
