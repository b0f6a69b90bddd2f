/* kernel_levels.c: see kernel_levels.h. Called a few times for each join of a kernel. */
#include "engine/gpu/kernel_levels.h"

#include "engine/gpu/kernel_decoder.h"

/* ---- Tests ---- */

uint32_t kernel_level_planes(const struct plan_column *column, bool staged)
{
    const struct codec *const codec = column->data->codec;
    return codec->planes && !staged && column->data->segment_count
               ? codec->planes(&column->data->segments[0].chunk)
               : 0;
}

static uint32_t words_of(const struct position_test *test)
{
    return (uint32_t)__builtin_popcount(test->care) * test->cube_count * (test->cube_count > 1 ? 2 : 1);
}

/* As struct tile_test reads them. */
static void add_words(struct kernel *kernel, const struct position_test *test)
{
    for (uint32_t c = 0; c < test->cube_count; c++)
        for (uint32_t bit = 32; bit-- > 0;) {
            if (!(test->care >> bit & 1))
                continue;
            kernel->test_words[kernel->test_word_count++] =
                test->cubes[c].value_bits >> bit & 1 ? 0 : UINT32_MAX;
            if (test->cube_count > 1)
                kernel->test_words[kernel->test_word_count++] =
                    test->cubes[c].care >> bit & 1 ? 0 : UINT32_MAX;
        }
}

void kernel_level_join(const struct plan *plan, bool looked_up, uint32_t k, struct kernel *kernel)
{
    struct kernel_join *join = &kernel->shape.joins[k];
    struct kernel_column *column = &kernel->shape.columns[join->column];
    const struct position_test *test = &plan->joins[kernel->joins[k]].test;
    if (looked_up)
        column->needed = UINT32_MAX;
    if (!test->used || !column->planes || looked_up ||
        kernel->test_word_count + words_of(test) > ARGUMENT_TEST_WORDS_MAX)
        return;
    join->test = test;
    join->test_word = kernel->test_word_count;
    join->filtered = !test->exact;
    add_words(kernel, test);
    if (!column->test) {
        column->test = test;
        column->test_word = join->test_word;
    }
}

void kernel_level_codes(const struct plan_kernel *hand, uint32_t place, struct kernel_join *join)
{
    join->coded = hand->codes[place] >= 0;
    join->code_shift = hand->code_shift[place];
    join->code_mask = hand->code_mask[place];
}

/* ---- Types ---- */

static void write_test(FILE *out, const struct position_test *test, uint32_t word)
{
    if (test)
        fprintf(out, "tile_test<0x%xu, %u, %u>", test->care, test->cube_count, word);
    else
        fputs("tile_no_test", out);
}

void kernel_level_column_write(FILE *out, const struct kernel_shape *shape,
                               const struct kernel_layout *layout, uint32_t c)
{
    const struct kernel_column *column = &shape->columns[c];
    fputs("typedef tile_level_column<", out);
    kernel_decoder_write(out, column);
    fputs(", ", out);
    write_test(out, column->test, column->test_word);
    fprintf(out, ", 0x%xu, 0x%xu, %s", layout->first[c], column->needed, column->fetched ? "true" : "false");
}

/* Whether the join tests planes, or its codes are at prefixes of positions. */
static bool uses_levels(const struct kernel_shape *shape, uint32_t j)
{
    const struct kernel_join *join = &shape->joins[j];
    return join->test || shape->columns[join->column].planes || !join->coded || join->code_shift;
}

void kernel_level_join_begin(FILE *out, const struct kernel_shape *shape, uint32_t j)
{
    if (uses_levels(shape, j))
        fputs("tile_level_dimension<", out);
}

void kernel_level_join_end(FILE *out, const struct kernel_shape *shape, uint32_t j)
{
    const struct kernel_join *join = &shape->joins[j];
    if (!uses_levels(shape, j))
        return;
    fputs(", ", out);
    write_test(out, join->test, join->test_word);
    fprintf(out, ", %s, %u, 0x%xu>", join->coded ? "true" : "false", join->code_shift, join->code_mask);
}
