/* program.c: see program.h. What it checks first is what the general kernel covers. */
#include "engine/gpu/general/program.h"

#include "engine/gpu/general/code.h"
#include "engine/gpu/kernel_decoder.h"
#include "operators/general/codecs.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(GENERAL_COLUMNS_MAX == KERNEL_COLUMNS_MAX && GENERAL_JOINS_MAX == KERNEL_JOINS_MAX,
               "a general kernel binds what a kernel can have");

#define STAGED_MAX     64u /* general_step.staged has a bit for each */
#define STEPS_OF_JOINS 3u  /* cubes, NULLs, and a bitmap or a range */
#define PLANES_MAX     (32u * POSITION_CUBES_MAX * KERNEL_JOINS_MAX)
#define PLANES_ALIGNED 4u /* of planes that have 16 bytes */

struct writer {
    const struct plan *plan;
    const struct kernel_target *target;
    struct kernel *kernel;
    struct general *general;
    struct error *error;
    struct general_codes codes;
    struct general_program head;
    struct general_column columns[GENERAL_COLUMNS_MAX];
    uint8_t numbers[GENERAL_COLUMNS_MAX];
    struct general_step *steps;
    struct general_match matches[GENERAL_JOINS_MAX];
    struct general_group *groups;
    struct general_aggregate *aggregates;
    uint32_t plane_count;
    struct general_plane planes[PLANES_MAX];
};

static bool covers(const struct writer *writer)
{
    return !writer->general->why[0];
}

#define REFUSE(writer, ...) snprintf((writer)->general->why, KERNEL_WHY_BYTES, __VA_ARGS__)

/* ---- Columns ---- */

static bool decodes(const struct codec *codec)
{
#define IS_CODEC(NAME) || codec->id == CODEC_##NAME
    return codec_needs_levels(codec) GENERAL_CODECS(IS_CODEC);
}

static void write_columns(struct writer *writer)
{
    struct kernel *kernel = writer->kernel;
    struct kernel_layout *layout = &kernel->layout;
    uint32_t staged = 0;
    for (uint32_t c = 0; c < kernel->shape.column_count && covers(writer); c++) {
        struct kernel_column *column = &kernel->shape.columns[c];
        const struct plan_column *of = &writer->plan->columns[kernel->columns[c]];
        const struct codec *const codec = column->data->codec;
        column->fetched =
            true; /* a decoder without random access has its values in shared memory, also for tests */
        const uint32_t staging = kernel_decoder_staging(column);
        if (plan_stages(writer->plan, kernel->columns[c], true))
            REFUSE(writer, "column %s is decoded before the scan", of->column->schema.name);
        else if (!decodes(codec))
            REFUSE(writer, "column %s is in %s", of->column->schema.name, codec->name);
        else if (staging && staged == STAGED_MAX)
            REFUSE(writer, "it reads too many columns");
        layout->staging[c] = layout->staging_bytes;
        layout->staging_bytes += staging;
        writer->numbers[c] = staging ? (uint8_t)++staged : 0;
        writer->columns[c] = (struct general_column){.codec = (uint8_t)codec->id,
                                                     .wide = column->value_bytes == 8,
                                                     .nullable = column->nullable,
                                                     .staged = writer->numbers[c],
                                                     .bits = (uint8_t)column->width_high,
                                                     .planes = (uint8_t)column->planes,
                                                     .needed = column->needed};
    }
    writer->head.column_count = kernel->shape.column_count;
}

/* Lays out shared memory, when the rest of the program is written (operators/general/scan_cuda.h). */
static void write_layout(struct writer *writer)
{
    struct general_program *const head = &writer->head;
    struct kernel_layout *layout = &writer->kernel->layout;
    const uint64_t states = kernel_layout_bytes(writer->kernel->shape.sums_bytes);
    const bool copied = head->bytes <= GENERAL_COPIED_BYTES;
    head->copy_at = copied ? (uint32_t)states : GENERAL_NOT_COPIED;
    head->chunks_at = layout->staging_bytes;
    head->slots_at =
        (uint32_t)(head->chunks_at + kernel_layout_bytes(head->column_count * sizeof(struct bound_chunk)));
    layout->staging_bytes =
        head->slots_at + writer->codes.slot_count * GENERAL_ITEMS * TILE_LANES * (uint32_t)sizeof(int64_t);
    layout->threads = KERNEL_GENERAL_THREADS;
    layout->wait_first = true;
    layout->staging_offset = (uint32_t)(states + (copied ? kernel_layout_bytes(head->bytes) : 0));
    layout->shared_bytes = layout->staging_offset + layout->threads / 32 * (uint64_t)layout->staging_bytes;
    if (layout->shared_bytes > writer->target->shared_block && covers(writer))
        REFUSE(writer, "it needs %llu bytes of shared memory", (unsigned long long)layout->shared_bytes);
}

/* ---- Steps ---- */

static struct general_step *add_step(struct writer *writer, enum general_step_kind kind, uint32_t column)
{
    struct general_step *const step = &writer->steps[writer->head.step_count++];
    *step = (struct general_step){.kind = (uint8_t)kind, .column = (uint8_t)column};
    return step;
}

static uint32_t column_place(const struct writer *writer, uint32_t column)
{
    uint32_t place = 0;
    while (writer->kernel->columns[place] != column)
        place++;
    return place;
}

static void add_valid(struct writer *writer, uint32_t column)
{
    if (writer->columns[column].nullable)
        add_step(writer, GENERAL_STEP_VALID, column);
}

static void add_range(struct writer *writer, uint32_t column, int32_t low, int32_t high)
{
    struct general_step *const step = add_step(writer, GENERAL_STEP_RANGE, column);
    step->low = low;
    step->high = high;
}

static void add_plane(struct writer *writer, const struct kernel_join *join, uint32_t bit, bool wanted)
{
    const uint32_t bits = writer->kernel->shape.columns[join->column].width_high;
    writer->planes[writer->plane_count++] = (struct general_plane){.column = (uint8_t)join->column,
                                                                   .bits = (uint8_t)bits,
                                                                   .line = (uint8_t)(bits - 1 - bit),
                                                                   .wanted = wanted};
}

/* The planes of a cube, at least so many: the last one is repeated. Where there are several cubes, each has one. */
static void add_cube(struct writer *writer, const struct kernel_join *join, const struct position_cube *cube,
                     uint32_t least)
{
    uint32_t last = 0, count = 0;
    for (uint32_t bit = 32; bit-- > 0;)
        if (cube->care >> bit & 1) {
            add_plane(writer, join, bit, cube->value_bits >> bit & 1);
            last = bit;
            count++;
        }
    for (; count < least; count++)
        add_plane(writer, join, last, cube->value_bits >> last & 1);
}

/* All tests of a single cube are one step, the first: all planes must match, in whatever order. */
static void write_single_cubes(struct writer *writer)
{
    const struct kernel *kernel = writer->kernel;
    struct general_step *const step = add_step(writer, GENERAL_STEP_CUBES, 0);
    for (uint32_t k = 0; k < kernel->shape.join_count; k++) {
        const struct kernel_join *const join = &kernel->shape.joins[k];
        if (join->test && join->test->cube_count == 1)
            add_cube(writer, join, &join->test->cubes[0], 0);
    }
    step->cubes = 1;
    step->each = writer->plane_count;
}

/* As many planes for each cube. */
static void write_cubes(struct writer *writer, const struct kernel_join *join)
{
    const struct position_test *const test = join->test;
    struct general_step *const step = add_step(writer, GENERAL_STEP_CUBES, 0);
    uint32_t most = 0;
    for (uint32_t c = 0; c < test->cube_count; c++) {
        const uint32_t planes = (uint32_t)__builtin_popcount(test->cubes[c].care);
        most = planes > most ? planes : most;
    }
    step->first = writer->plane_count;
    step->cubes = test->cube_count;
    step->each = most;
    for (uint32_t c = 0; c < test->cube_count; c++)
        add_cube(writer, join, &test->cubes[c], most);
}

static void write_semi_join(struct writer *writer, const struct plan_join *join, uint32_t j)
{
    const struct kernel *kernel = writer->kernel;
    uint32_t k = 0;
    while (kernel->joins[k] != j)
        k++;
    const struct kernel_join *const of = &kernel->shape.joins[k];
    if (of->test && of->test->cube_count > 1)
        write_cubes(writer, of);
    add_valid(writer, of->column);
    if (!of->filtered)
        return;
    if (kernel->layout.bitmap[k] == BITMAP_RANGE)
        add_range(writer, of->column, join->passing ? (int32_t)join->first : 0,
                  join->passing ? (int32_t)join->last : -1);
    else
        add_step(writer, GENERAL_STEP_BITMAP, of->column)->dimension = (uint8_t)k;
}

static enum status write_condition(struct writer *writer, uint32_t node)
{
    struct general_codes *codes = &writer->codes;
    general_body_begin(codes, false);
    RETURN_IF_ERROR(general_body_write(codes, node, writer->error));
    general_body_keep(codes, node);
    general_body_end(codes);
    struct general_step *const step = add_step(writer, GENERAL_STEP_CONDITION, 0);
    step->slot = (uint8_t)general_body_slot(codes, node);
    step->first = codes->first;
    step->end = codes->count;
    step->staged = codes->staged;
    return STATUS_OK;
}

static enum status write_steps(struct writer *writer)
{
    const struct plan *plan = writer->plan;
    write_single_cubes(writer);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        if (step->kind == STEP_INDEX) {
            add_step(writer, GENERAL_STEP_INDEX, 0);
        } else if (step->kind == STEP_RANGE) {
            const uint32_t column = column_place(writer, step->column);
            add_valid(writer, column);
            add_range(writer, column, step->low, step->high);
        } else if (step->kind == STEP_PROBE) {
            RETURN_IF_ERROR(write_condition(writer, step->expression));
        } else if (step->kind == STEP_SEMI_JOIN) {
            write_semi_join(writer, &plan->joins[step->join], step->join);
        }
    }
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION)
            RETURN_IF_ERROR(write_condition(writer, plan->steps[s].expression));
    return STATUS_OK;
}

/* ---- Groups and aggregates ---- */

static enum status write_state(struct writer *writer, uint32_t a)
{
    const struct plan *plan = writer->plan;
    const struct plan_aggregate *aggregate = &plan->aggregates[a];
    const struct general_code code = {.operation = GENERAL_STATE,
                                      .index = (uint16_t)a,
                                      .c = (uint8_t)plan_aggregate_of(plan, a)->device.value,
                                      .flags = (uint8_t)writer->kernel->distinct[a]};
    if (writer->aggregates[a].by_mask)
        return STATUS_OK;
    if (aggregate->argument != EXPRESSION_NONE)
        RETURN_IF_ERROR(general_body_write(&writer->codes, aggregate->argument, writer->error));
    return general_body_add(&writer->codes, &code, aggregate->argument, writer->error);
}

static enum status write_rows(struct writer *writer)
{
    const struct plan *plan = writer->plan;
    struct general_codes *codes = &writer->codes;
    const uint32_t groups = plan->shape == PLAN_TOTAL ? 0 : plan->group_count;
    general_body_begin(codes, false);
    for (uint32_t g = 0; g < groups; g++)
        RETURN_IF_ERROR(general_body_write(codes, plan->groups[g].expression, writer->error));
    for (uint32_t g = 0; g < groups; g++)
        general_body_keep(codes, plan->groups[g].expression);
    RETURN_IF_ERROR(general_body_add(codes, &(struct general_code){.operation = GENERAL_SLOT},
                                     EXPRESSION_NONE, writer->error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        RETURN_IF_ERROR(write_state(writer, a));
    general_body_end(codes);
    for (uint32_t g = 0; g < groups; g++)
        writer->groups[g] = (struct general_group){
            .slot = general_body_slot(codes, plan->groups[g].expression), .word = plan->groups[g].word};
    struct general_step *const step = add_step(writer, GENERAL_STEP_ADD, 0);
    step->first = codes->first;
    step->end = codes->count;
    step->staged = codes->staged;
    writer->head.group_count = groups;
    writer->head.key_words = plan->key_words;
    return STATUS_OK;
}

/* Lays the states out as kernel.c does. */
static bool write_aggregates(struct writer *writer)
{
    const struct plan *plan = writer->plan;
    uint32_t words = 0, shared = 0;
    bool any = plan->group_count > 0;
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const struct aggregate *const of = plan_aggregate_of(plan, a);
        const bool by_mask = plan->shape == PLAN_TOTAL && plan_is_row_count(plan, a);
        writer->aggregates[a] =
            (struct general_aggregate){.merge = (uint8_t)of->device.merge,
                                       .words = (uint8_t)of->words,
                                       .by_mask = by_mask,
                                       .first = writer->kernel->place == STATES_SHARED ? shared : words};
        words += of->words;
        shared += kernel_shared_words(of);
        any |= !by_mask;
    }
    if (plan->shape == PLAN_TOTAL && (writer->kernel->place != STATES_SINGLE || words > GENERAL_SINGLE_WORDS))
        REFUSE(writer, "it has %u aggregates of one group", plan->aggregate_count);
    if (plan->key_words > GENERAL_KEY_WORDS)
        REFUSE(writer, "its groups have numbers of %u words", plan->key_words);
    writer->head.aggregate_count = plan->aggregate_count;
    writer->head.present_first = shared;
    writer->head.shared_words = shared + 1;
    return any;
}

static enum status write_matches(struct writer *writer)
{
    const struct kernel *kernel = writer->kernel;
    struct general_codes *codes = &writer->codes;
    for (uint32_t k = 0; k < kernel->shape.join_count; k++) {
        const uint32_t match = writer->plan->joins[kernel->joins[k]].match;
        if (!kernel->layout.bitmap_words[k])
            continue;
        general_body_begin(codes, true);
        RETURN_IF_ERROR(general_body_write(codes, match, writer->error));
        general_body_keep(codes, match);
        general_body_end(codes);
        writer->matches[writer->head.match_count++] =
            (struct general_match){.join = kernel->joins[k],
                                   .first = codes->first,
                                   .end = codes->count,
                                   .slot = general_body_slot(codes, match)};
    }
    return STATUS_OK;
}

/* ---- Outputs of rows that are taken ---- */

/* The kernel's column that an output is, or at whose positions it is an array that has no NULLs; else GENERAL_COMPUTED. Narrow
 * values are copied as they are (take_cuda.h). */
static uint8_t output_column(const struct writer *writer, uint32_t node)
{
    const struct plan *const plan = writer->plan;
    const struct expression *const of = &plan->expressions.nodes[node];
    if (of->operation != EXPRESSION_COLUMN)
        return GENERAL_COMPUTED;
    const struct plan_source *const source = &plan->sources[of->index];
    const struct plan_join *const join = source->join >= 0 ? &plan->joins[source->join] : NULL;
    const uint32_t place = column_place(writer, join ? join->column : source->column);
    const bool narrow = device_column_bytes(of->type, of->low, of->high) == sizeof(int32_t);
    const bool is_column = !join && (narrow || writer->columns[place].wide),
               is_array = join && narrow && !source->bits && !plan->arrays[source->column].valid &&
                          (join->inner || join->match == EXPRESSION_NONE);
    return is_column || is_array ? (uint8_t)place : GENERAL_COMPUTED;
}

/* Notes which kind of output it is. */
static bool is_computed(struct general_outputs *outputs, uint32_t o)
{
    const bool computed = outputs->column[o] == GENERAL_COMPUTED;
    outputs->computed |= computed;
    outputs->columns |= !computed;
    return computed;
}

static enum status write_outputs(struct writer *writer)
{
    const struct plan *const plan = writer->plan;
    struct general_outputs *const outputs = &writer->general->outputs;
    struct general_codes *const codes = &writer->codes;
    if (plan->output_count > GENERAL_SLOTS) {
        REFUSE(writer, "it has %u columns of rows", plan->output_count);
        return STATUS_OK;
    }
    general_body_begin(codes, false);
    for (uint32_t o = 0; o < plan->output_count; o++) {
        outputs->column[o] = output_column(writer, plan->outputs[o].expression);
        if (is_computed(outputs, o))
            RETURN_IF_ERROR(general_body_write(codes, plan->outputs[o].expression, writer->error));
    }
    for (uint32_t o = 0; o < plan->output_count; o++)
        if (is_computed(outputs, o))
            general_body_keep(codes, plan->outputs[o].expression);
    general_body_end(codes);
    for (uint32_t o = 0; o < plan->output_count; o++)
        if (is_computed(outputs, o))
            outputs->slots[o] = (uint8_t)general_body_slot(codes, plan->outputs[o].expression);
    outputs->first = codes->first;
    outputs->end = codes->count;
    outputs->staged = codes->staged;
    return STATUS_OK;
}

/* ---- The whole ---- */

static const char *kernel_name(const struct plan *plan, const struct kernel *kernel)
{
    return plan->shape == PLAN_ROWS         ? "general_rows"
           : plan->shape == PLAN_HASH       ? "general_hash"
           : kernel->place == STATES_SINGLE ? "general_single"
           : kernel->place == STATES_SHARED ? "general_shared"
                                            : "general_dense";
}

static void append(uint8_t **to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(*to, from, bytes);
    *to += bytes;
}

static size_t program_bytes(const struct writer *writer)
{
    const struct general_program *const head = &writer->head;
    const uint32_t planes = (writer->plane_count + PLANES_ALIGNED - 1) / PLANES_ALIGNED * PLANES_ALIGNED;
    return sizeof *head + head->column_count * sizeof *writer->columns +
           head->step_count * sizeof *writer->steps + head->match_count * sizeof *writer->matches +
           head->group_count * sizeof *writer->groups + head->aggregate_count * sizeof *writer->aggregates +
           head->code_count * sizeof *writer->codes.list + planes * sizeof *writer->planes;
}

static enum status assemble(struct writer *writer)
{
    const struct general_program *const head = &writer->head;
    struct general *const general = writer->general;
    RETURN_IF_ERROR(memory_zeros(&general->program, head->bytes, "a program", writer->error));
    uint8_t *to = general->program;
    append(&to, head, sizeof *head);
    append(&to, writer->columns, head->column_count * sizeof *writer->columns);
    append(&to, writer->steps, head->step_count * sizeof *writer->steps);
    append(&to, writer->matches, head->match_count * sizeof *writer->matches);
    append(&to, writer->groups, head->group_count * sizeof *writer->groups);
    append(&to, writer->aggregates, head->aggregate_count * sizeof *writer->aggregates);
    append(&to, writer->codes.list, head->code_count * sizeof *writer->codes.list);
    append(&to, writer->planes, writer->plane_count * sizeof *writer->planes);
    general->bytes = head->bytes;
    general->kernel = kernel_name(writer->plan, writer->kernel);
    general->covered = true;
    return STATUS_OK;
}

static enum status write_all(struct writer *writer)
{
    const struct plan *plan = writer->plan;
    kernel_layout_bitmaps(&writer->kernel->shape, &writer->kernel->layout);
    write_columns(writer);
    if (!covers(writer))
        return STATUS_OK;
    RETURN_IF_ERROR(general_codes_open(&writer->codes, plan, writer->kernel, writer->numbers,
                                       writer->general->why, writer->error));
    RETURN_IF_ERROR(write_matches(writer));
    RETURN_IF_ERROR(write_steps(writer));
    if (plan->shape != PLAN_ROWS && write_aggregates(writer))
        RETURN_IF_ERROR(write_rows(writer));
    if (plan->taken)
        RETURN_IF_ERROR(write_outputs(writer));
    writer->head.code_count = writer->codes.count;
    writer->head.bytes = (uint32_t)program_bytes(writer);
    write_layout(writer);
    return covers(writer) ? assemble(writer) : STATUS_OK;
}

static enum status take_lists(struct writer *writer)
{
    const struct plan *plan = writer->plan;
    const size_t steps =
        STEPS_OF_JOINS * (size_t)plan->step_count + 2; /* with the planes, and what is added */
    RETURN_IF_ERROR(memory_zeros(&writer->steps, steps * sizeof *writer->steps, "a program", writer->error));
    RETURN_IF_ERROR(memory_zeros(&writer->groups, (plan->group_count + 1ull) * sizeof *writer->groups,
                                 "a program", writer->error));
    return memory_zeros(&writer->aggregates, (plan->aggregate_count + 1ull) * sizeof *writer->aggregates,
                        "a program", writer->error);
}

static void writer_free(struct writer *writer)
{
    general_codes_free(&writer->codes);
    free(writer->steps);
    free(writer->groups);
    free(writer->aggregates);
    free(writer);
}

enum status general_make(const struct plan *plan, const struct kernel_target *target, struct kernel *kernel,
                         struct general *general, struct error *error)
{
    struct writer *writer;
    *general = (struct general){0};
    if (plan->kernel.kernel) {
        snprintf(general->why, sizeof general->why, "a kernel written by hand answers it");
        return STATUS_OK;
    }
    RETURN_IF_ERROR(memory_zeros(&writer, sizeof *writer, "a program", error));
    writer->plan = plan;
    writer->target = target;
    writer->kernel = kernel;
    writer->general = general;
    writer->error = error;
    enum status status = take_lists(writer);
    status = AND_THEN(status, kernel_shape_make(plan, KERNEL_ANSWERS, target, kernel, error));
    if (status == STATUS_OK) {
        kernel->list = (struct kernel_list){0};
        kernel->joint = (struct kernel_joint){0};
        kernel->bound_columns = GENERAL_COLUMNS_MAX;
        kernel->bound_dimensions = GENERAL_JOINS_MAX;
        status = write_all(writer);
    }
    writer_free(writer);
    if (!general->covered)
        kernel_free(kernel);
    return status;
}

void general_free(struct general *general)
{
    free(general->program);
    general->program = NULL;
}
