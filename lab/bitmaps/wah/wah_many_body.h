/*
 * wah_many_body.h: the ORs of many vectors of wah_many.h, written once. wah_many.c and wah_many32.c include it after
 * wah_operations_body.h, and have defined OR_RANGE, too: the function of wah_packed.c for this machine.
 */
#include "storage/base/parallel.h"

/* The ranges of wah_or_many(): several for each thread, as some take longer, but no smaller than a million rows. */
#define RANGES_OF_THREAD   4u
#define RANGE_PIECES_LEAST 16u

/* ---- The OR of many, as the operations stand ---- */

/* Makes room for the OR of two vectors and writes it to the builder. */
static enum status or_into(struct WAH(builder) * into, struct WAH(vector) a, struct WAH(vector) b,
                           uint64_t rows, struct error *error)
{
    into->count = 0;
    RETURN_IF_ERROR(need_room(into, WAH(result_bound)(a, b, rows), error));
    into->count = WAH(or)(a, b, into->words);
    return STATUS_OK;
}

static enum status copy_into(struct WAH(builder) * into, struct WAH(vector) vector, struct error *error)
{
    into->count = 0;
    RETURN_IF_ERROR(need_room(into, vector.count, error));
    if (vector.count)
        memcpy(into->words, vector.words, vector.count * sizeof *vector.words);
    into->count = vector.count;
    return STATUS_OK;
}

/* The result for fewer than two vectors. */
static enum status or_of_few(const struct WAH(vector) * vectors, uint64_t count, uint64_t rows,
                             struct WAH(builder) * result, struct error *error)
{
    if (count)
        return copy_into(result, vectors[0], error);
    result->count = result->group = 0;
    result->bits = 0;
    return WAH(finish)(result, rows, error);
}

static void mark_finished(struct WAH(builder) * builder, uint64_t rows)
{
    builder->rows = rows;
    builder->group = WAH(groups)(rows);
    builder->bits = 0;
}

enum status WAH(or_sequential)(const struct WAH(vector) * vectors, uint64_t count, uint64_t rows,
                               struct WAH(builder) * result, struct error *error)
{
    struct WAH(builder) other = {.words = NULL};
    enum status status = or_of_few(vectors, count, rows, result, error);
    for (uint64_t v = 1; v < count && status == STATUS_OK; v++) {
        const struct WAH(builder) swapped = *result;
        *result = other;
        other = swapped;
        status = or_into(result, WAH(of)(&other), vectors[v], rows, error);
    }
    mark_finished(result, rows);
    WAH(builder_free)(&other);
    return status;
}

/* At each level vector i is combined with vector i + half, as in the paper's figure 4a; with an odd number, the one in
 * the middle waits. */
static enum status reduce(struct WAH(builder) * sums, const struct WAH(vector) * vectors, uint64_t count,
                          uint64_t rows, struct error *error)
{
    struct WAH(builder) spare = {.words = NULL};
    enum status status = STATUS_OK;
    for (uint64_t half = 0; count > 1 && status == STATUS_OK; count = half, vectors = NULL) {
        half = (count + 1) / 2;
        for (uint64_t i = 0; i < half && status == STATUS_OK; i++) {
            const struct WAH(vector) low = vectors ? vectors[i] : WAH(of)(&sums[i]);
            if (i + half >= count) {
                if (vectors)
                    status = copy_into(&sums[i], low, error);
                continue;
            }
            const struct WAH(vector) high = vectors ? vectors[i + half] : WAH(of)(&sums[i + half]);
            status = or_into(&spare, low, high, rows, error);
            const struct WAH(builder) swapped = sums[i];
            sums[i] = spare;
            spare = swapped;
        }
        for (uint64_t i = half; !vectors && i < count; i++)
            WAH(builder_free)(&sums[i]);
    }
    WAH(builder_free)(&spare);
    return status;
}

enum status WAH(or_levels)(const struct WAH(vector) * vectors, uint64_t count, uint64_t rows,
                           struct WAH(builder) * result, struct error *error)
{
    struct WAH(builder) * sums;
    if (count < 2) {
        RETURN_IF_ERROR(or_of_few(vectors, count, rows, result, error));
        mark_finished(result, rows);
        return STATUS_OK;
    }
    const uint64_t half = (count + 1) / 2;
    RETURN_IF_ERROR(memory_zeros(&sums, half * sizeof *sums, "the sums of vectors", error));
    const enum status status = reduce(sums, vectors, count, rows, error);
    if (status == STATUS_OK) {
        WAH(builder_free)(result);
        *result = sums[0];
        sums[0] = (struct WAH(builder)){.words = NULL};
        mark_finished(result, rows);
    }
    for (uint64_t i = 0; i < half; i++)
        WAH(builder_free)(&sums[i]);
    free(sums);
    return status;
}

/* ---- The OR of many, by pieces ---- */

struct many {
    const struct WAH(vector) * vectors;
    const struct wah_start *const *directories;
    uint64_t count, groups, ranges, range_pieces;
    struct wah_start *starts; /* of each vector: one for each range */
    struct part {
        uint64_t at, words; /* its words are out[at .. at + words - 1] */
    } * parts;              /* of each range */
    WORD *out;
};

static enum status find_starts(void *context, uint64_t v, unsigned thread, struct error *error)
{
    const struct many *const many = context;
    struct wah_start *const starts = many->starts + v * many->ranges;
    (void)thread;
    for (uint64_t r = 0; many->directories && many->directories[v] && r < many->ranges; r++)
        starts[r] = many->directories[v][r * many->range_pieces];
    if (many->directories && many->directories[v])
        return STATUS_OK;
    const uint64_t range_groups = many->range_pieces * WAH_PIECE_GROUPS;
    for (uint64_t r = 0, w = 0, done = 0; r < many->ranges; w++) {
        const WORD word = many->vectors[v].words[w];
        const uint64_t next = done + (word & FILL ? word & LENGTH : 1);
        for (; r < many->ranges && r * range_groups < next; r++)
            starts[r] = (struct wah_start){(uint32_t)w, (uint32_t)(r * range_groups - done)};
        done = next;
    }
    return cancel_check(error);
}

static enum status or_one_range(void *context, uint64_t r, unsigned thread, struct error *error)
{
    const struct many *const many = context;
    const uint64_t first = r * many->range_pieces * WAH_PIECE_GROUPS;
    const uint64_t groups = min_of(many->range_pieces * WAH_PIECE_GROUPS, many->groups - first);
    struct WAH(cursor) *cursors = NULL;
    uint32_t *heads = NULL;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    enum status status =
        memory_take(&cursors, many->count * sizeof *cursors, "the vectors of a range", error);
    if (status == STATUS_OK)
        status = memory_take(&heads, many->range_pieces * sizeof *heads, "the pieces of a range", error);
    for (uint64_t v = 0; v < many->count && status == STATUS_OK; v++) {
        const struct WAH(vector) *const vector = &many->vectors[v];
        const struct wah_start start = many->starts[v * many->ranges + r];
        cursors[v] = (struct WAH(cursor)){.next = vector->words + start.word,
                                          .end = vector->words + vector->count,
                                          .at = -(int64_t)start.skip};
    }
    if (status == STATUS_OK)
        many->parts[r].words = OR_RANGE(cursors, many->count, groups, heads, many->out + many->parts[r].at);
    free(heads);
    free(cursors);
    return status;
}

/* Gives each range room for its result, which has no more words than the vectors have there, and no more than groups.
 * Returns the room of all. */
static uint64_t place_parts(const struct many *many)
{
    const uint64_t range_groups = many->range_pieces * WAH_PIECE_GROUPS;
    uint64_t at = 0;
    for (uint64_t r = 0; r < many->ranges; r++) {
        uint64_t words = 0;
        for (uint64_t v = 0; v < many->count; v++) {
            const struct wah_start *const start = &many->starts[v * many->ranges + r];
            words += (r + 1 < many->ranges ? start[1].word + 1u : many->vectors[v].count) - start->word;
        }
        many->parts[r].at = at;
        at += min_of(words, min_of(range_groups, many->groups - r * range_groups));
    }
    return at;
}

/* Moves the parts together. Runs that continue from one range into the next become one fill. */
static uint64_t join_parts(const struct many *many)
{
    uint64_t count = many->parts[0].words;
    for (uint64_t r = 1; r < many->ranges; r++) {
        const struct part part = many->parts[r];
        const WORD *const words = many->out + part.at;
        uint64_t w = 0;
        for (; w < part.words && words[w] & FILL && (words[w] & ~LENGTH) == (many->out[count - 1] & ~LENGTH);
             w++)
            count = put_run(many->out, count, words[w] & ONES ? FULL : 0, words[w] & LENGTH);
        memmove(many->out + count, words + w, (part.words - w) * sizeof *words);
        count += part.words - w;
    }
    return count;
}

static enum status or_ranges(struct many *many, unsigned threads, struct WAH(builder) * result,
                             struct error *error)
{
    RETURN_IF_ERROR(memory_take(&many->starts, many->count * many->ranges * sizeof *many->starts,
                                "the begins of ranges", error));
    RETURN_IF_ERROR(
        memory_take(&many->parts, many->ranges * sizeof *many->parts, "the results of ranges", error));
    RETURN_IF_ERROR(parallel_for(threads, many->count, find_starts, many, error));
    RETURN_IF_ERROR(need_room(result, place_parts(many), error));
    many->out = result->words;
    return parallel_for(threads, many->ranges, or_one_range, many, error);
}

/* Gives back what the result does not need, if that is most of it. */
static void trim(struct WAH(builder) * builder)
{
    if (builder->count > builder->room / 2)
        return;
    WORD *const words = realloc(builder->words, (builder->count + 1) * sizeof *words);
    if (words) {
        builder->words = words;
        builder->room = builder->count + 1;
    }
}

enum status WAH(or_many)(const struct WAH(vector) * vectors, const struct wah_start *const *directories,
                         uint64_t count, uint64_t rows, unsigned threads, struct WAH(builder) * result,
                         struct error *error)
{
    const uint64_t groups = WAH(groups)(rows), pieces = WAH(pieces)(rows);
    const unsigned team = threads ? threads : parallel_threads_available();
    if (count < 2 || rows == 0) {
        RETURN_IF_ERROR(or_of_few(vectors, rows ? count : 0, rows, result, error));
        mark_finished(result, rows);
        return STATUS_OK;
    }
    struct many many = {.vectors = vectors, .directories = directories, .count = count, .groups = groups};
    many.range_pieces = team == 1 ? pieces : pieces / (RANGES_OF_THREAD * team) + 1;
    if (many.range_pieces < RANGE_PIECES_LEAST)
        many.range_pieces = RANGE_PIECES_LEAST;
    many.ranges = (pieces + many.range_pieces - 1) / many.range_pieces;
    result->count = 0;
    const enum status status = or_ranges(&many, team, result, error);
    if (status == STATUS_OK) {
        result->count = join_parts(&many);
        mark_finished(result, rows);
        trim(result);
    }
    free(many.parts);
    free(many.starts);
    return status;
}
