/*
 * test_cuda_execute.c: queries prepared in steps (bind all, compile all at once, load one by one) answer as
 * those prepared in one, and loading compiles nothing that was compiled ahead, even where no kernel is kept
 * on disk. On the CPU always; on a GPU where there is one (TESSERA_REQUIRE_GPU insists).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run/engine.h"
#include "ssb/benchmark/answer.h"
#include "ssb/data/load.h"
#include "ssb/queries/queries.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct star_query *const queries[] = {&q11, &q21, &q43};
static const char *const codecs[] = {"plain", "auto"};
enum { QUERIES = 3, CODEC_CHOICES = 2, CELLS = QUERIES * CODEC_CHOICES };

static char directory[256];
static struct database *database;

static void must(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        fail_msg("%s", error->text);
}

static int load(void **state)
{
    const char *temporary = getenv("TMPDIR");
    char path[300];
    struct error error = {0};
    (void)state;
    snprintf(directory, sizeof directory, "%s/test_cuda_execute.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/db", directory);
    struct ssb_load_options options = {.data = {.scale_factor = 0.01}, .directory = path};
    if (ssb_load(&options, NULL, &error) == STATUS_OK && database_open(path, &database, &error) == STATUS_OK)
        return 0;
    print_error("%s\n", error.text);
    return -1;
}

static int unload(void **state)
{
    char command[300];
    (void)state;
    database_close(database);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

/* A new, empty place for kernels. */
static void use_cache(const char *name, char path[300])
{
    snprintf(path, 300, "%s/%s", directory, name);
    assert_int_equal(setenv("TESSERA_KERNEL_CACHE", path, 1), 0);
}

static void hash_of(struct prepared *prepared, char hash[17])
{
    struct query_timing timing;
    struct result answer = {0};
    struct error error = {0};
    must(engine_run(prepared, &timing, &answer, &error), &error);
    must(answer_hash(&answer, hash, &error), &error);
    result_destroy(&answer);
}

/* Counts the calls, which come from all threads. */
static void count_calls(struct progress *progress, const char *what, const char *unit, uint64_t done,
                        uint64_t total)
{
    uint64_t *calls = progress->context;
    assert_string_equal(what, "compiling");
    assert_string_equal(unit, "kernels");
    assert_in_range(done, 1, total);
    __atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
}

static void steps_answer_as_one(const char *device)
{
    struct engine *engine;
    struct prepared *prepared[CELLS];
    struct error error = {0};
    char cache[300], expected[17], got[17];
    uint64_t calls = 0, bytes;
    struct progress progress = {.report = count_calls, .context = &calls};
    must(engine_open(device, 0, &engine, &error), &error);
    setenv("TESSERA_KERNEL_CACHE", "", 1);
    for (int i = 0; i < CELLS; i++)
        must(engine_bind(engine, database, queries[i / CODEC_CHOICES], codecs[i % CODEC_CHOICES], &prepared[i], &error),
             &error);
    must(engine_compile(engine, prepared, CELLS, true, &progress, &error), &error);
    assert_int_equal(calls, engine_is_cuda(engine) ? 2 * CELLS : 0);
    use_cache("ahead", cache); /* where kernels that are compiled from here on would lie */
    for (int i = 0; i < CELLS; i++) {
        must(engine_load(prepared[i], &error), &error);
        assert_int_equal(prepared_info(prepared[i])->compile_ms > 0, engine_is_cuda(engine));
        hash_of(prepared[i], got);
        must(prepared_bytes_read(prepared[i], &bytes, &error), &error);
        assert_true(bytes > 0);
        assert_int_not_equal(access(cache, F_OK), 0);
        prepared_destroy(prepared[i]);

        use_cache("alone", cache);
        must(engine_prepare(engine, database, queries[i / CODEC_CHOICES], codecs[i % CODEC_CHOICES], &prepared[i], &error),
             &error);
        hash_of(prepared[i], expected);
        assert_string_equal(got, expected);
        prepared_destroy(prepared[i]);
        use_cache("ahead", cache);
    }
    engine_close(engine);
}

static void on_the_cpu(void **state)
{
    (void)state;
    steps_answer_as_one("cpu");
}

static void on_a_gpu(void **state)
{
    struct engine *engine;
    struct error error = {0};
    (void)state;
    if (engine_open("cuda", 0, &engine, &error) == STATUS_OK) {
        engine_close(engine);
        steps_answer_as_one("cuda");
    } else if (getenv("TESSERA_REQUIRE_GPU")) {
        fail_msg("%s", error.text);
    } else {
        skip();
    }
}

/* Queries that never run, and compiling that is stopped, leave nothing behind (as the sanitizers see). */
static void what_is_bound_need_not_run(void **state)
{
    struct engine *engine;
    struct prepared *prepared[CELLS];
    struct error error = {0};
    (void)state;
    must(engine_open("auto", 0, &engine, &error), &error);
    for (int i = 0; i < CELLS; i++)
        must(engine_bind(engine, database, queries[i / CODEC_CHOICES], codecs[i % CODEC_CHOICES], &prepared[i], &error),
             &error);
    cancel_request();
    assert_int_equal(engine_compile(engine, prepared, CELLS, true, NULL, &error),
                     engine_is_cuda(engine) ? STATUS_INTERRUPTED : STATUS_OK);
    cancel_reset();
    for (int i = 0; i < CELLS; i++)
        prepared_destroy(prepared[i]);
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_cpu),
        cmocka_unit_test(on_a_gpu),
        cmocka_unit_test(what_is_bound_need_not_run),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
