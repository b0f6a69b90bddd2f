/*
 * test_cuda_bytes.c: damaged streams of every codec that decodes blocks, on the GPU: the first one that the host refuses
 * is named, and all that the host accepts have the host's values, so nothing else was written. Needs a GPU; without one
 * it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cuda.h"
#include "lab/bench/chunk_decode.h"
#include "storage/codec/chunk.h"
#include "tests/support/codec/codec_cases.h"
#include "tests/support/not_run.h"

#define CHUNKS 192u
#define ROUNDS 12
#define ROWS   (9 * TILE_ROWS + 300) /* one block */

static struct cuda *cuda;

/* A chunk of one block whose stream may be damaged, and what the host makes of it. */
struct sample {
    uint8_t *bytes;
    void *values; /* NULL: the host refuses it */
};

static void must(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        fail_msg("%s", error->text);
}

static int open_gpu(void **state)
{
    struct error error = {0};
    (void)state;
    if (cuda_open(0, &cuda, &error) != STATUS_OK) {
        printf("skipped: %s\n", error.text);
        cuda = NULL;
        return getenv("TESSERA_REQUIRE_GPU") != NULL;
    }
    return 0;
}

static int close_gpu(void **state)
{
    (void)state;
    cuda_close(cuda);
    return 0;
}

/* Flips bits, writes other bytes, or moves the stream's end. */
static void damage(uint8_t *chunk, uint64_t *random)
{
    struct chunk_header header;
    memcpy(&header, chunk, sizeof header);
    uint8_t *const stream = chunk_data(chunk, header.directory_bytes);
    uint32_t *const end = (uint32_t *)(void *)(chunk_directory(chunk) + 3 * sizeof(uint32_t));
    for (uint64_t hits = 1 + random_bits(random, 2); hits; hits--) {
        uint8_t *const place = stream + random_next(random) % (random_bits(random, 1) ? *end : *end / 32 + 1);
        if (random_bits(random, 1))
            *place ^= (uint8_t)(1u << random_bits(random, 3));
        else
            *place = (uint8_t)random_next(random);
    }
    if (random_bits(random, 3) == 0) { /* the data's spare bytes follow, so the section shrinks with it */
        const uint32_t cut = (uint32_t)(random_next(random) % *end);
        memset(stream + cut, 0, (size_t)(header.data_bytes - cut));
    }
}

static void make_sample(const struct codec *codec, uint32_t value_bytes, uint64_t *random,
                        struct sample *sample, struct segment_data *segment)
{
    void *values = cases_allocate(ROWS * sizeof(int64_t));
    struct error error = {0};
    sample->bytes = cases_allocate(codec->bound(ROWS, value_bytes));
    fills[random_next(random) % (sizeof fills / sizeof *fills)](values, ROWS, value_bytes, random);
    const size_t size = codec_encode(codec, values, ROWS, value_bytes, sample->bytes);
    if (random_bits(random, 2))
        damage(sample->bytes, random);
    must(chunk_open(sample->bytes, size, &segment->chunk, &error), &error);
    sample->values = cases_allocate((size_t)segment->chunk.tiles * TILE_ROWS * value_bytes);
    if (codec->decode_block(&segment->chunk, 0, sample->values) != STATUS_OK) {
        free(sample->values);
        sample->values = NULL;
    }
    free(values);
}

static void check_samples(const struct column_data *data, const struct sample *samples, uint32_t value_bytes)
{
    struct cuda_decode *decode;
    struct error error = {0};
    const size_t bytes = (size_t)data->segments->chunk.tiles * TILE_ROWS * value_bytes;
    void *decoded = cases_allocate(bytes);
    uint32_t first = 0;
    while (first < CHUNKS && samples[first].values)
        first++;
    must(cuda_decode_open(cuda, data, &decode, &error), &error);
    must(cuda_decode_run(decode, &error), &error);
    const enum status status = cuda_decode_check(decode, &error);
    assert_int_equal(status, first < CHUNKS ? STATUS_BAD_INPUT : STATUS_OK);
    char text[64];
    snprintf(text, sizeof text, "segment %u: block 0", first);
    if (first < CHUNKS && !strstr(error.text, text))
        fail_msg("%s, but the host refuses segment %u first", error.text, first);
    for (uint32_t s = 0; s < CHUNKS; s++) {
        if (!samples[s].values)
            continue;
        must(cuda_copy_to_host(cuda, decoded, cuda_decode_values(decode, s), bytes, &error), &error);
        must(cuda_synchronize(cuda, &error), &error);
        if (memcmp(decoded, samples[s].values, bytes) != 0)
            fail_msg("segment %u has other values than on the host", s);
    }
    cuda_decode_close(decode);
    free(decoded);
}

static void damaged_streams_are_refused_as_on_the_host(void **state)
{
    const struct codec *codec = codec_by_id(cases_codec(state));
    uint64_t random = CODEC_CASES_SEED;
    need_gpu(cuda);
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t value_bytes = round % 2 ? 8 : 4;
        struct sample samples[CHUNKS];
        struct segment_data segments[CHUNKS] = {{.validity = NULL}};
        for (uint32_t s = 0; s < CHUNKS; s++) {
            make_sample(codec, value_bytes, &random, &samples[s], &segments[s]);
            segments[s].chunk.segment = s;
        }
        const struct column_data data = {.codec = codec, .segment_count = CHUNKS, .segments = segments};
        check_samples(&data, samples, value_bytes);
        for (uint32_t s = 0; s < CHUNKS; s++) {
            free(samples[s].bytes);
            free(samples[s].values);
        }
    }
}

int main(void)
{
    static enum codec_id ids[CODEC_COUNT];
    struct CMUnitTest tests[CODEC_COUNT];
    size_t count = 0;
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        ids[id] = (enum codec_id)id;
        if (codec_by_id(id)->decode_block)
            tests[count++] = (struct CMUnitTest){.name = codec_by_id(id)->name,
                                                 .test_func = damaged_streams_are_refused_as_on_the_host,
                                                 .initial_state = &ids[id]};
    }
    return _cmocka_run_group_tests("damaged streams", tests, count, open_gpu, close_gpu);
}
