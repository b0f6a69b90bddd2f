/*
 * bench_users.c: how many statements a second one open database answers when threads of one program ask them.
 *
 *     bench_users DIR DEVICE SECONDS THREADS USERS...
 *
 * Each user is a thread that asks the 13 queries of the Star Schema Benchmark as texts, one after the other, for so many
 * seconds, and frees the rows. Users begin with different queries. THREADS are those of the engine (0: all processors). For
 * each number of USERS it prints a line: the number, and the statements a second.
 */
#include "engine/library/tessera.h"
#include "ssb/queries/queries.h"
#include "storage/base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define USERS_MAX 1024u

struct user {
    struct tessera_database *database;
    double until;
    unsigned number;
    unsigned long answered;
};

static void require(enum tessera_status status, const struct tessera_error *error)
{
    if (status == TESSERA_OK)
        return;
    fprintf(stderr, "bench_users: %s\n", error->text);
    exit((int)status);
}

static void ask(struct tessera_database *database, const char *text)
{
    struct tessera_error error;
    struct tessera_statement *statement;
    struct tessera_result *result;
    require(tessera_prepare(database, text, &statement, &error), &error);
    require(tessera_run(statement, &result, &error), &error);
    tessera_result_free(result);
    tessera_finalize(statement);
}

static void *work(void *argument)
{
    struct user *const user = argument;
    for (unsigned q = user->number; clock_ms() < user->until; q++, user->answered++)
        ask(user->database, ssb_queries[q % SSB_QUERIES]->sql);
    return NULL;
}

static double per_second(struct tessera_database *database, unsigned users, double seconds)
{
    static struct user all[USERS_MAX];
    static pthread_t threads[USERS_MAX];
    unsigned long answered = 0;
    const double begin = clock_ms();
    for (unsigned u = 0; u < users; u++) {
        all[u] = (struct user){.database = database, .until = begin + seconds * 1e3, .number = u};
        if (pthread_create(&threads[u], NULL, work, &all[u]) != 0) {
            fprintf(stderr, "bench_users: %u threads cannot be started\n", users);
            exit(3);
        }
    }
    for (unsigned u = 0; u < users; u++) {
        pthread_join(threads[u], NULL);
        answered += all[u].answered;
    }
    return (double)answered / (clock_ms() - begin) * 1e3;
}

int main(int argc, char **argv)
{
    struct tessera_database *database;
    struct tessera_error error;
    if (argc < 6) {
        fprintf(stderr, "usage: bench_users DIR DEVICE SECONDS THREADS USERS...\n");
        return 2;
    }
    const struct tessera_options options = {.size = sizeof options,
                                            .device = argv[2],
                                            .threads = (unsigned)atoi(argv[4]),
                                            .kernel = "specialised"};
    require(tessera_open_with(argv[1], &options, &database, &error), &error);
    for (unsigned q = 0; q < SSB_QUERIES; q++)
        ask(database, ssb_queries[q]->sql);
    for (int u = 5; u < argc; u++) {
        const unsigned users = (unsigned)atoi(argv[u]);
        if (users == 0 || users > USERS_MAX) {
            fprintf(stderr, "bench_users: from 1 to %u users\n", USERS_MAX);
            return 2;
        }
        printf("%u %.1f\n", users, per_second(database, users, atof(argv[3])));
        fflush(stdout);
    }
    tessera_close(database);
    return 0;
}
