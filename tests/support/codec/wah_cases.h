/*
 * wah_cases.h: the tests of storage/index/wah.h and wah32.h, written once, against arrays of one byte a row.
 *
 * Before it is included, WORD, WAH(name), GROUP_ROWS, FILL, ONES, LENGTH and FULL are defined, as for wah_body.h, and
 * CASE(name), the name of a function of this file.
 */
#define PIECE (GROUP_ROWS * 1024ull)

static const uint64_t CASE(sizes)[] = {0,
                                       1,
                                       2,
                                       GROUP_ROWS - 1,
                                       GROUP_ROWS,
                                       GROUP_ROWS + 1,
                                       64,
                                       65,
                                       127,
                                       10 * GROUP_ROWS,
                                       1000,
                                       PIECE - 1,
                                       PIECE,
                                       PIECE + 1,
                                       2 * PIECE,
                                       2 * PIECE + 5,
                                       3 * PIECE + GROUP_ROWS};

static struct WAH(vector) CASE(vector_of)(const struct rows *rows, struct WAH(builder) * builder)
{
    *builder = (struct WAH(builder)){.words = NULL};
    for (uint64_t r = 0; r < rows->count; r++)
        if (rows->bits[r])
            assert_int_equal(WAH(append_row)(builder, r, NULL), STATUS_OK);
    assert_int_equal(WAH(finish)(builder, rows->count, NULL), STATUS_OK);
    return WAH(of)(builder);
}

/* The words are canonical and give these rows, by every way of reading them. */
static void CASE(must_be)(struct WAH(vector) vector, const struct rows *rows)
{
    const uint64_t groups = WAH(groups)(rows->count), pieces = WAH(pieces)(rows->count),
                   words = bitset_words(rows->count);
    WORD *const whole = malloc((groups + 1) * sizeof *whole), *const piece = malloc(1024 * sizeof *piece);
    uint64_t *const bits = malloc((words + 1) * sizeof *bits);
    struct wah_start *const starts = malloc((pieces + 1) * sizeof *starts);
    assert_true(WAH(valid)(vector.words, vector.count, rows->count));
    assert_true(vector.count <= groups);
    WAH(to_groups)(vector, whole);
    WAH(to_bits)(vector, rows->count, bits);
    uint64_t ones = 0;
    for (uint64_t r = 0; r < rows->count; r++) {
        if ((whole[r / GROUP_ROWS] >> r % GROUP_ROWS & 1) != rows->bits[r] ||
            (bits[r / 64] >> r % 64 & 1) != rows->bits[r])
            fail_msg("row %" PRIu64 " of %" PRIu64 " is wrong", r, rows->count);
        ones += rows->bits[r];
    }
    assert_int_equal(WAH(count)(vector), ones);
    assert_int_equal(bitset_count(bits, words), ones);

    WAH(directory_build)(vector, rows->count, starts);
    assert_true(WAH(directory_valid)(vector, rows->count, starts));
    for (uint64_t p = 0; p < pieces; p++) {
        const uint64_t count = groups - p * 1024 < 1024 ? groups - p * 1024 : 1024;
        WAH(piece_to_groups)(vector, starts[p], count, piece);
        assert_memory_equal(piece, whole + p * 1024, count * sizeof *piece);
        starts[p].skip++;
        assert_false(WAH(directory_valid)(vector, rows->count, starts));
        starts[p].skip--;
    }
    free(starts);
    free(bits);
    free(piece);
    free(whole);
}

/* Every way of building gives the same words. */
static void CASE(builders_agree)(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(CASE(sizes)); s++)
        for (enum shape shape = 0; shape < SHAPES; shape++) {
            const struct rows rows = make_rows(CASE(sizes)[s], shape);
            struct WAH(builder) by_row, by_run = {.words = NULL}, by_group = {.words = NULL},
                                        by_bits = {.words = NULL},
                                        by_code[2] = {{.words = NULL}, {.words = NULL}};
            const struct WAH(vector) vector = CASE(vector_of)(&rows, &by_row);
            CASE(must_be)(vector, &rows);

            for (uint64_t r = 0, end; r < rows.count; r = end) {
                for (end = r; end < rows.count && rows.bits[end] == rows.bits[r];)
                    end++;
                assert_int_equal(WAH(append_run)(&by_run, rows.bits[r], end - r, NULL), STATUS_OK);
            }
            assert_int_equal(WAH(finish)(&by_run, rows.count, NULL), STATUS_OK);

            uint64_t *const bits = malloc((bitset_words(rows.count) + 1) * sizeof *bits);
            WAH(to_bits)(vector, rows.count, bits);
            const uint64_t half = rows.count / 2 / 64 * 64;
            assert_int_equal(WAH(append_bits)(&by_bits, bits, half, NULL), STATUS_OK);
            assert_int_equal(WAH(append_bits)(&by_bits, bits + half / 64, rows.count - half, NULL),
                             STATUS_OK);
            assert_int_equal(WAH(finish)(&by_bits, rows.count, NULL), STATUS_OK);

            const uint64_t groups = WAH(groups)(rows.count);
            WORD *const whole = malloc((groups + 1) * sizeof *whole);
            WAH(to_groups)(vector, whole);
            for (uint64_t g = 0; g < groups; g++)
                assert_int_equal(WAH(append_group)(&by_group, whole[g], NULL), STATUS_OK);
            assert_int_equal(WAH(finish)(&by_group, rows.count, NULL), STATUS_OK);

            /* Code 1 is vector 1; vector 0 gets the rows of code 0, and some have a code of no vector. */
            uint32_t *const codes = malloc((rows.count + 1) * sizeof *codes);
            for (uint64_t r = 0; r < rows.count; r++)
                codes[r] = rows.bits[r] ? 1 : r % 1000 < 100 ? 7 : 0;
            const uint64_t third = rows.count / 3;
            assert_int_equal(WAH(append_codes)(by_code, 2, 0, codes, third, NULL), STATUS_OK);
            assert_int_equal(WAH(append_codes)(by_code, 2, third, codes + third, rows.count - third, NULL),
                             STATUS_OK);
            for (int v = 0; v < 2; v++)
                assert_int_equal(WAH(finish)(&by_code[v], rows.count, NULL), STATUS_OK);
            struct rows zeros = make_rows(rows.count, EMPTY);
            for (uint64_t r = 0; r < rows.count; r++)
                zeros.bits[r] = codes[r] == 0;
            CASE(must_be)(WAH(of)(&by_code[0]), &zeros);

            struct WAH(builder) *const all[] = {&by_run, &by_bits, &by_group, &by_code[1]};
            for (size_t b = 0; b < COUNT(all); b++) {
                assert_int_equal(all[b]->count, vector.count);
                if (vector.count)
                    assert_memory_equal(all[b]->words, vector.words, vector.count * sizeof(WORD));
                WAH(builder_free)(all[b]);
            }
            WAH(builder_free)(&by_code[0]);
            WAH(builder_free)(&by_row);
            free(codes);
            free(whole);
            free(bits);
            free_rows(&zeros);
            free_rows((struct rows *)&rows);
        }
}

static void CASE(operations_are_those_of_bits)(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(CASE(sizes)); s++)
        for (unsigned pair = 0; pair < SHAPES * SHAPES; pair++) {
            struct rows a = make_rows(CASE(sizes)[s], pair % SHAPES),
                        b = make_rows(CASE(sizes)[s], pair / SHAPES);
            struct rows want = make_rows(CASE(sizes)[s], EMPTY);
            struct WAH(builder) for_a, for_b;
            const struct WAH(vector) x = CASE(vector_of)(&a, &for_a), y = CASE(vector_of)(&b, &for_b);
            const uint64_t bound = WAH(result_bound)(x, y, a.count);
            WORD *const out = malloc((bound + 1) * sizeof *out);

            struct WAH(vector) result = {.words = out, .count = WAH(and)(x, y, out)};
            for (uint64_t r = 0; r < a.count; r++)
                want.bits[r] = a.bits[r] && b.bits[r];
            assert_true(result.count <= bound);
            CASE(must_be)(result, &want);

            result.count = WAH(or)(x, y, out);
            for (uint64_t r = 0; r < a.count; r++)
                want.bits[r] = a.bits[r] || b.bits[r];
            assert_true(result.count <= bound);
            CASE(must_be)(result, &want);

            result.count = WAH(and_not)(x, y, out);
            for (uint64_t r = 0; r < a.count; r++)
                want.bits[r] = a.bits[r] && !b.bits[r];
            assert_true(result.count <= bound);
            CASE(must_be)(result, &want);
            free(out);

            WORD *const not = malloc((x.count + 2) * sizeof *not );
            result = (struct WAH(vector)){.words = not, .count = WAH(not )(x, a.count, not )};
            for (uint64_t r = 0; r < a.count; r++)
                want.bits[r] = !a.bits[r];
            assert_true(result.count <= x.count + 1);
            CASE(must_be)(result, &want);
            free(not );
            WAH(builder_free)(&for_a);
            WAH(builder_free)(&for_b);
            free_rows(&a);
            free_rows(&b);
            free_rows(&want);
        }
}

/* Decompresses the OR of vectors part by part, and ANDs it to what is there. */
static void CASE(must_be_bits)(const struct WAH(vector) * vectors, struct wah_start *const *directories,
                               unsigned count, const struct rows *want)
{
    const uint64_t pieces = WAH(pieces)(want->count), words = (want->count + 1023) / 1024 * 16;
    uint64_t *const bits = malloc((words + 1) * sizeof *bits);
    for (unsigned narrow = 0; narrow < 2; narrow++) {
        for (uint64_t w = 0; w <= words; w++)
            bits[w] = 0xf0f0f0f0f0f0f0f0u;
        for (uint64_t first = 0, here; first < pieces; first += here) {
            here = 1 + next_random() % (pieces - first);
            const uint64_t begin = first * GROUP_ROWS * 16, last = first + here == pieces;
            const struct wah_bits_part part = {.rows = want->count,
                                               .first = first,
                                               .pieces = here,
                                               .narrow = narrow,
                                               .words = last ? words - begin : here * GROUP_ROWS * 16};
            assert_int_equal(WAH(or_bits)(vectors, (const struct wah_start *const *)directories, count, &part,
                                          bits + begin, NULL),
                             STATUS_OK);
        }
        for (uint64_t r = 0; r < words * 64; r++) {
            const bool set = r < want->count && want->bits[r] && (!narrow || r % 8 >= 4);
            if ((bits[r / 64] >> r % 64 & 1) != set)
                fail_msg("row %" PRIu64 " of %" PRIu64 " is wrong", r, want->count);
        }
        assert_int_equal(bits[words], 0xf0f0f0f0f0f0f0f0u);
    }
    free(bits);
}

/* All methods, with directories and without, on one thread and on several. Shape SHAPES mixes the shapes, and lets half
 * of the vectors have rows in a range of their own only. */
static void CASE(must_or)(uint64_t size, unsigned count, enum shape shape)
{
    struct WAH(builder) builders[33], result = {.words = NULL};
    struct WAH(vector) vectors[33];
    struct wah_start *directories[33];
    struct rows want = make_rows(size, EMPTY);
    for (unsigned v = 0; v < count; v++) {
        struct rows rows = make_rows(size, shape < SHAPES ? shape : (enum shape)(next_random() % SHAPES));
        if (shape == SHAPES && v % 2)
            for (uint64_t r = 0; r < size; r++)
                rows.bits[r] &= r * count / size == v;
        vectors[v] = CASE(vector_of)(&rows, &builders[v]);
        directories[v] = malloc((WAH(pieces)(size) + 1) * sizeof **directories);
        WAH(directory_build)(vectors[v], size, directories[v]);
        for (uint64_t r = 0; r < size; r++)
            want.bits[r] |= rows.bits[r];
        free_rows(&rows);
    }
    assert_int_equal(WAH(or_sequential)(vectors, count, size, &result, NULL), STATUS_OK);
    CASE(must_be)(WAH(of)(&result), &want);
    assert_int_equal(WAH(or_levels)(vectors, count, size, &result, NULL), STATUS_OK);
    CASE(must_be)(WAH(of)(&result), &want);
    for (unsigned threads = 1; threads < 4; threads += 2)
        for (int with = 0; with < 2; with++) {
            const struct wah_start *const *given = with ? (const struct wah_start *const *)directories : NULL;
            assert_int_equal(WAH(or_many)(vectors, given, count, size, threads, &result, NULL), STATUS_OK);
            CASE(must_be)(WAH(of)(&result), &want);
        }
    CASE(must_be_bits)(vectors, directories, count, &want);
    for (unsigned v = 0; v < count; v++) { /* as an index does without pieces */
        free(directories[v]);
        directories[v] = NULL;
    }
    CASE(must_be_bits)(vectors, directories, count, &want);
    for (unsigned v = 0; v < count; v++) {
        WAH(builder_free)(&builders[v]);
        free(directories[v]);
    }
    WAH(builder_free)(&result);
    free_rows(&want);
}

static void CASE(or_of_many)(void **state)
{
    (void)state;
    static const unsigned counts[] = {0, 1, 2, 3, 8, 33};
    for (size_t s = 0; s < COUNT(CASE(sizes)); s++)
        for (size_t c = 0; c < COUNT(counts); c++)
            for (enum shape shape = 0; shape <= SHAPES; shape++)
                CASE(must_or)(CASE(sizes)[s], counts[c], shape);
}

/* Three threads have several ranges each, whose ends are within runs and beside them. */
static void CASE(or_of_ranges)(void **state)
{
    (void)state;
    CASE(must_or)(16 * PIECE, 3, SHAPES);
    CASE(must_or)(48 * PIECE + 1, 2, ALL);
    CASE(must_or)(2 * PIECE + 5 * GROUP_ROWS, 2, ALL);
    CASE(must_or)(48 * PIECE + 1, 2, EMPTY);
    CASE(must_or)(49 * PIECE - 1, 2, LAST_ROW);
    CASE(must_or)(60 * PIECE + 70, 5, LONG_RUNS);
    CASE(must_or)(60 * PIECE + 70, 3, RARE);
    for (unsigned round = 0; round < 6; round++)
        CASE(must_or)(33 * PIECE + next_random() % (30 * PIECE), 2 + round, SHAPES);
}

/* Each list of words is wrong for its rows in one way. */
static void CASE(hostile_words_are_refused)(void **state)
{
    (void)state;
    const WORD one = FILL | 1, ones = FILL | ONES;
    const struct {
        const char *what;
        uint64_t rows, count;
        WORD words[3];
    } bad[] = {
        {"words of no rows", 0, 1, {one}},
        {"no words of a row", 1, 0, {0}},
        {"too few groups", 3 * GROUP_ROWS, 2, {5, 5}},
        {"too many literals", GROUP_ROWS, 2, {5, 5}},
        {"a fill that is too long", 2 * GROUP_ROWS, 2, {5, FILL | 2}},
        {"the longest fill", 2 * GROUP_ROWS, 2, {5, FILL | LENGTH}},
        {"lengths that overflow", 2 * GROUP_ROWS, 3, {FILL | LENGTH, ones | LENGTH, FILL | LENGTH}},
        {"a fill of no groups", GROUP_ROWS, 2, {FILL, 5}},
        {"a fill of no groups at the end", GROUP_ROWS, 2, {5, FILL}},
        {"a literal of zeros", GROUP_ROWS, 1, {0}},
        {"a literal of ones", GROUP_ROWS, 1, {FULL}},
        {"two fills of a value", 2 * GROUP_ROWS, 2, {one, one}},
        {"bits after the last row", GROUP_ROWS + 3, 2, {5, 8}},
        {"ones after the last row", GROUP_ROWS + 3, 1, {ones | 2}},
        {"only rows after the last", 3, 1, {one + 1}},
    };
    for (size_t b = 0; b < COUNT(bad); b++)
        if (WAH(valid)(bad[b].words, bad[b].count, bad[b].rows))
            fail_msg("%s: taken for a vector", bad[b].what);
    assert_true(WAH(valid)((const WORD[]){5, 7}, 2, GROUP_ROWS + 3));
    assert_true(WAH(valid)((const WORD[]){ones | 1, one}, 2, GROUP_ROWS + 3));

    /* Random words, most of which are fills of few groups, are read safely when they are valid. */
    for (unsigned round = 0; round < 20000; round++) {
        WORD words[4];
        const uint64_t count = next_random() % 5;
        uint64_t groups = 0;
        for (uint64_t w = 0; w < count; w++) {
            words[w] = (WORD)next_random() & (next_random() % 2 ? FULL : FILL | ONES | 7);
            groups += words[w] & FILL ? words[w] & LENGTH : 1;
        }
        const uint64_t rows =
            groups > 100 ? next_random() % 1000 : groups * GROUP_ROWS - (groups ? next_random() % 3 : 0);
        if (WAH(valid)(words, count, rows)) {
            WORD unpacked[101];
            uint64_t bits[101];
            WAH(to_groups)((struct WAH(vector)){words, count}, unpacked);
            WAH(to_bits)((struct WAH(vector)){words, count}, rows, bits);
        }
    }
}
