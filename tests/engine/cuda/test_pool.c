/* test_pool.c: pieces of chunks: what is freed is found again, neighbours become one, the source is asked for little and gets
 * back what is free, and nothing overlaps. The source is made of numbers, so this needs no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define KB (UINT64_C(1) << 10)
#define MB (UINT64_C(1) << 20)

/* Chunks are at one address after the other, and never at the same one again. */
struct source {
    uint64_t next, limit, taken; /* bytes */
    unsigned takes, gives;
    uint64_t sizes[4096]; /* of the chunk at each number of MB */
};

static int take(void *context, uint64_t bytes, uint64_t *address)
{
    struct source *source = context;
    if (source->taken + bytes > source->limit)
        return 2;
    *address = source->next;
    source->sizes[source->next / MB] = bytes;
    source->next += bytes;
    source->taken += bytes;
    source->takes++;
    return 0;
}

static void give(void *context, uint64_t address)
{
    struct source *source = context;
    source->taken -= source->sizes[address / MB];
    source->gives++;
}

static struct pool *open_pool(struct source *source, uint64_t limit, uint64_t kept)
{
    *source = (struct source){.next = MB, .limit = limit};
    struct pool *pool = pool_create(&(struct pool_source){.take = take,
                                                          .give = give,
                                                          .context = source,
                                                          .small_bytes = MB,
                                                          .chunk_bytes = 4 * MB,
                                                          .unit_bytes = MB,
                                                          .kept_bytes = kept});
    assert_non_null(pool);
    return pool;
}

static uint64_t taken(struct pool *pool, uint64_t bytes)
{
    uint64_t address = 0;
    assert_int_equal(pool_take(pool, bytes, &address), 0);
    assert_int_equal(address % POOL_ALIGNMENT, 0);
    return address;
}

static void small_pieces_share_a_chunk(void **state)
{
    struct source source;
    struct pool *pool = open_pool(&source, 64 * MB, UINT64_MAX);
    uint64_t address[64];
    (void)state;
    for (int i = 0; i < 64; i++)
        address[i] = taken(pool, 60 * KB);
    assert_int_equal(source.takes, 1);
    assert_int_equal(pool_use(pool).used, 64 * 60 * KB);
    assert_int_equal(pool_use(pool).reserved, 4 * MB);
    for (int i = 0; i < 64; i += 2)
        pool_give(pool, address[i]);
    for (int i = 1; i < 64; i += 2)
        pool_give(pool, address[i]);
    assert_int_equal(pool_use(pool).used, 0);
    for (int i = 0; i < 4; i++) /* all have become one again */
        taken(pool, MB);
    assert_int_equal(source.takes, 1);
    assert_int_equal(pool_use(pool).used, 4 * MB);
    pool_destroy(pool);
    assert_int_equal(source.taken, 0);
}

static void a_repetition_takes_nothing_from_the_source(void **state)
{
    static const uint64_t sizes[] = {0, 1, 4000, 100 * KB, 3 * MB, 300 * KB, 17 * MB, 5 * MB, MB, 70};
    struct source source;
    struct pool *pool = open_pool(&source, 200 * MB, UINT64_MAX);
    uint64_t address[10];
    unsigned takes = 0;
    (void)state;
    for (int run = 0; run < 20; run++) {
        for (int i = 0; i < 10; i++)
            address[i] = taken(pool, sizes[(i + run) % 10]);
        for (int i = 0; i < 10; i++)
            pool_give(pool, address[(i * 7 + run) % 10]);
        if (run == 9)
            takes = source.takes;
    }
    assert_int_equal(source.takes, takes);
    assert_int_equal(source.gives, 0);
    pool_destroy(pool);
}

static void a_large_piece_is_the_best_chunk_and_is_not_cut(void **state)
{
    struct source source;
    struct pool *pool = open_pool(&source, 200 * MB, UINT64_MAX);
    (void)state;
    const uint64_t forty = taken(pool, 40 * MB), between = taken(pool, 2 * MB), ten = taken(pool, 10 * MB);
    pool_give(pool, forty);
    pool_give(pool, ten);
    assert_int_equal(taken(pool, 9 * MB), ten);
    assert_int_equal(pool_use(pool).used, 12 * MB);
    assert_int_equal(source.takes, 3);
    taken(pool, 20 * MB); /* half of forty would be wasted */
    assert_int_equal(source.takes, 4);
    assert_int_equal(taken(pool, 36 * MB), forty);
    pool_give(pool, between);
    taken(pool, 100 * KB);
    assert_int_equal(source.takes, 5);
    pool_destroy(pool);
}

static void free_chunks_go_before_the_bound_is_passed(void **state)
{
    struct source source;
    struct pool *pool = open_pool(&source, 500 * MB, UINT64_MAX);
    (void)state;
    pool_bound(pool, 50 * MB);
    pool_give(pool, taken(pool, 30 * MB));
    assert_int_equal(pool_use(pool).reserved, 30 * MB);
    taken(pool, 31 * MB);
    assert_int_equal(pool_use(pool).reserved, 31 * MB);
    assert_int_equal(source.gives, 1);
    taken(pool, 30 * MB); /* used memory does not go: whoever takes it is to ask before */
    assert_int_equal(pool_use(pool).reserved, 61 * MB);
    pool_destroy(pool);
}

static void an_empty_source_gets_back_what_is_free(void **state)
{
    struct source source;
    struct pool *pool = open_pool(&source, 20 * MB, UINT64_MAX);
    uint64_t address;
    (void)state;
    const uint64_t large = taken(pool, 19 * MB);
    assert_int_equal(pool_take(pool, 2 * MB, &address), 2);
    const uint64_t small = taken(pool, 100); /* a chunk of 4 MB is more than there is; one of a unit is not */
    pool_give(pool, small);
    assert_int_equal(taken(pool, MB), small);
    pool_give(pool, large);
    taken(pool, 3 * MB);
    taken(pool, 16 * MB);
    assert_int_equal(pool_take(pool, 1, &address), 2);
    assert_int_equal(source.taken, 20 * MB);
    pool_destroy(pool);
}

static void large_chunks_may_go_at_once(void **state)
{
    struct source source;
    struct pool *pool = open_pool(&source, 200 * MB, 16 * MB);
    (void)state;
    pool_give(pool, taken(pool, 17 * MB));
    assert_int_equal(source.taken, 0);
    pool_give(pool, taken(pool, 16 * MB));
    assert_int_equal(source.taken, 16 * MB);
    pool_destroy(pool);
}

/* ---- Random pieces on several threads: what a thread writes into its own stays ---- */

#define THREADS 4
#define ROUNDS  4000
#define HELD    32

static uint8_t memory[64 * MB];
static struct pool *shared;

static void *work(void *argument)
{
    uint64_t random = (uintptr_t)argument * 0x9e3779b97f4a7c15ull, held[HELD] = {0}, sizes[HELD];
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const unsigned at = random >> 33 & (HELD - 1);
        if (held[at]) {
            for (uint64_t b = 0; b < sizes[at]; b += 64)
                if (memory[held[at] + b] != (uint8_t)(uintptr_t)argument)
                    return argument;
            pool_give(shared, held[at]);
            held[at] = 0;
            continue;
        }
        sizes[at] = random >> 20 & (random >> 40 & 15 ? 8191 : 131071);
        if (pool_take(shared, sizes[at], &held[at]) != 0)
            return argument;
        for (uint64_t b = 0; b < sizes[at]; b += 64)
            memory[held[at] + b] = (uint8_t)(uintptr_t)argument;
    }
    for (unsigned at = 0; at < HELD; at++)
        if (held[at])
            pool_give(shared, held[at]);
    return NULL;
}

static void threads_have_pieces_of_their_own(void **state)
{
    struct source source;
    pthread_t threads[THREADS];
    (void)state;
    shared = open_pool(&source, 63 * MB, UINT64_MAX);
    for (uintptr_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, work, (void *)(t + 1)), 0);
    for (unsigned t = 0; t < THREADS; t++) {
        void *failed;
        pthread_join(threads[t], &failed);
        assert_null(failed);
    }
    assert_int_equal(pool_use(shared).used, 0);
    pool_destroy(shared);
    assert_int_equal(source.taken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pieces_share_a_chunk),
        cmocka_unit_test(a_repetition_takes_nothing_from_the_source),
        cmocka_unit_test(a_large_piece_is_the_best_chunk_and_is_not_cut),
        cmocka_unit_test(free_chunks_go_before_the_bound_is_passed),
        cmocka_unit_test(an_empty_source_gets_back_what_is_free),
        cmocka_unit_test(large_chunks_may_go_at_once),
        cmocka_unit_test(threads_have_pieces_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
