/*
 * order.c: the order of window functions on a GPU; see windows_internal.h and operators/window/order_cuda.h. What adjacent rows
 * tell decides how it is made:
 *
 *     as they are    the rows stand in it
 *     by ranks       they ascend by the first terms, and few rows are equal in those
 *     by keys        a radix sort of keys that have the row's number in lower bits and the columns that are wanted, if they fit,
 *                    or these columns alone
 *     by pairs       a radix sort of a key and the row's number, once for each word of the codes
 *
 * Terms by which all rows ascend up to the last term are not sorted by: a sort keeps the order of rows.
 */
#include "engine/gpu/windows/windows_internal.h"

#include "engine/gpu/device.h"
#include "engine/gpu/run_internal.h"

#define WORD_BITS   64u
#define NARROW_BITS 32u

enum order_way { AS_THEY_ARE, BY_RANKS, BY_KEYS, BY_PAIRS };

struct order {
    struct windows *windows;
    const struct window_wishes *wishes;
    enum order_way way;
    uint32_t sorted_terms; /* the first ones; by the others all rows ascend */
    uint32_t run_terms; /* by the first ones all rows ascend, and few are equal in them; 0: there are none */
    bool distinct;      /* no rows are equal in all terms */
    uint32_t bits[WINDOW_TERMS_MAX], words; /* of each word that is sorted by */
    struct cuda_pairs pairs;
    cuda_address scratch, begins, lists; /* the last is the memory of a column that is not needed any more */
    uint64_t list_bytes, begins_bytes;
};

/* ---- What the rows tell ---- */

static struct window_code code_of(const struct windows *windows, uint32_t c)
{
    const struct device_column *const column = &windows->rows->columns[c];
    uint64_t last = 0;
    cuda_window_code_of(column, &last);
    return (struct window_code){.column = cuda_window_column_of(column),
                                .low = column->low,
                                .span = last - (column->validity != 0),
                                .mask = last ? UINT64_MAX >> __builtin_clzll(last) : 0,
                                .word = WINDOW_NO_WORD};
}

void cuda_window_set_terms(struct windows *windows)
{
    struct window_work *const work = &windows->work;
    work->term_count = windows->of->term_count;
    work->partition_terms = windows->of->partition_terms;
    for (uint32_t t = 0; t < work->term_count; t++) {
        const struct device_window_term *const term = &windows->of->terms[t];
        work->terms[t] = code_of(windows, term->column);
        work->terms[t].descending = term->descending;
        work->terms[t].nulls_first = term->nulls_first;
    }
}

static enum status find_flags(struct windows *windows, uint32_t flags[WINDOW_FLAGS], struct error *error)
{
    RETURN_IF_ERROR(cuda_set_words(windows->cuda, windows->work.flags, 0, WINDOW_FLAGS, error));
    RETURN_IF_ERROR(cuda_window_launch_work(windows, windows->kernels.orders, error));
    RETURN_IF_ERROR(
        cuda_copy_to_host(windows->cuda, flags, windows->work.flags, WINDOW_FLAGS * sizeof *flags, error));
    return cuda_synchronize(windows->cuda, error);
}

static enum status look_at_rows(struct order *order, struct error *error)
{
    const uint32_t terms = order->windows->work.term_count;
    uint32_t flags[WINDOW_FLAGS] = {0};
    if (terms)
        RETURN_IF_ERROR(find_flags(order->windows, flags, error));
    order->sorted_terms = 0;
    while (order->sorted_terms < terms && flags[WINDOW_SUFFIXES] >> order->sorted_terms & 1)
        order->sorted_terms++;
    order->distinct =
        order->sorted_terms < terms && !(flags[WINDOW_SUFFIXES] >> (16 + order->sorted_terms) & 1);
    for (uint32_t t = 0; t < order->sorted_terms; t++)
        if (!((flags[WINDOW_PREFIXES] | flags[WINDOW_PREFIXES] >> 16) >> t & 1))
            order->run_terms = t + 1;
    return STATUS_OK;
}

/* ---- Which way ---- */

static uint32_t bits_of(uint64_t last)
{
    return last ? WORD_BITS - (uint32_t)__builtin_clzll(last) : 0;
}

static uint32_t term_bits(const struct window_code *term)
{
    return bits_of(term->mask);
}

static uint32_t bits_of_terms(const struct window_work *work, uint32_t begin, uint32_t end)
{
    uint32_t bits = 0;
    for (uint32_t t = begin; t < end; t++)
        bits += term_bits(&work->terms[t]);
    return bits;
}

static bool is_sorted_by(const struct order *order, uint32_t column)
{
    bool found = false;
    for (uint32_t t = 0; t < order->sorted_terms; t++)
        found |= order->windows->of->terms[t].column == column;
    return found;
}

/* Whether the key has to have the column beside the terms. */
static bool is_to_carry(const struct order *order, uint32_t column)
{
    return order->wishes->columns[column] && !is_sorted_by(order, column);
}

/* The bits of all columns that are wanted beside the terms; more than a word if that cannot have them. */
static uint32_t bits_to_carry(const struct order *order)
{
    uint32_t bits = 0, count = 0;
    uint64_t last;
    for (uint32_t c = 0; c < order->windows->rows->column_count; c++)
        if (is_to_carry(order, c)) {
            const bool possible = cuda_window_code_of(&order->windows->rows->columns[c], &last);
            bits += possible ? bits_of(last) : WORD_BITS + 1;
            count++;
        }
    return count > WINDOW_CARRIED_MAX ? WORD_BITS + 1 : bits;
}

/* Chooses columns that are wanted and fit so many bits; returns those that they take, the lowest. */
static uint32_t carry(struct order *order, uint32_t most)
{
    struct windows *const windows = order->windows;
    struct window_work *const work = &windows->work;
    uint32_t used = 0;
    for (uint32_t c = 0; c < windows->rows->column_count; c++) {
        struct window_code code = code_of(windows, c);
        uint64_t last;
        if (!is_to_carry(order, c) || work->carried_count == WINDOW_CARRIED_MAX ||
            !cuda_window_code_of(&windows->rows->columns[c], &last) || used + term_bits(&code) > most)
            continue;
        code.word = 0;
        code.shift = term_bits(&code) ? used : 0;
        used += term_bits(&code);
        windows->carried[work->carried_count] = c;
        work->terms[work->term_count + work->carried_count++] = code;
    }
    return used;
}

const struct window_code *cuda_window_code_at(const struct windows *windows, uint32_t column)
{
    const struct window_work *const work = &windows->work;
    for (uint32_t t = 0; windows->has_words && t < work->term_count; t++)
        if (windows->of->terms[t].column == column && work->terms[t].word == 0)
            return &work->terms[t];
    for (uint32_t i = 0; windows->has_words && i < work->carried_count; i++)
        if (windows->carried[i] == column)
            return &work->terms[work->term_count + i];
    return NULL;
}

/* Groups of peers are not partitions, nor rows. */
static bool has_own_groups(const struct order *order)
{
    const struct window_work *const work = &order->windows->work;
    return order->wishes->groups && work->partition_terms < work->term_count && !order->distinct;
}

/* The terms in which rows of a group are equal, or of a partition if there are no groups. */
static uint32_t compared_terms(const struct order *order)
{
    const struct window_work *const work = &order->windows->work;
    return has_own_groups(order) ? work->term_count : work->partition_terms;
}

/* Whether nobody needs a row's number, and only without it a key has room for all that is wanted, or 32 bits. */
static bool is_rowless(const struct order *order, uint32_t bits, uint32_t row_bits)
{
    const uint32_t carried = bits_to_carry(order);
    return order->wishes->in_place && compared_terms(order) <= order->sorted_terms &&
           (bits + carried <= NARROW_BITS ||
            (bits + carried <= WORD_BITS && bits + carried + row_bits > WORD_BITS));
}

static void choose_way(struct order *order)
{
    struct window_work *const work = &order->windows->work;
    const uint32_t bits = bits_of_terms(work, 0, order->sorted_terms), all_row_bits = bits_of(work->rows - 1);
    const bool rowless = is_rowless(order, bits, all_row_bits);
    const uint32_t row_bits = rowless ? 0 : all_row_bits;
    order->way = order->sorted_terms == 0                ? AS_THEY_ARE
                 : order->run_terms && bits <= WORD_BITS ? BY_RANKS
                 : bits + row_bits <= WORD_BITS          ? BY_KEYS
                                                         : BY_PAIRS;
    work->has_row = order->way == BY_KEYS && !rowless;
    work->row_shift = work->key_shift = work->carried_count = 0;
    work->row_mask = order->way == BY_KEYS ? (UINT64_C(1) << row_bits) - 1 : UINT64_MAX;
    if (order->way == BY_KEYS) {
        work->row_shift = carry(order, WORD_BITS - bits - row_bits);
        work->key_shift = work->row_shift + row_bits;
    }
    work->narrow = order->way == BY_KEYS && work->key_shift + bits <= NARROW_BITS;
    work->run_bits = bits_of_terms(work, order->run_terms, order->sorted_terms);
    work->partition_shift = work->key_shift + bits_of_terms(work, work->partition_terms, order->sorted_terms);
}

/* Packs the terms that are sorted by into words, the last one lowest. */
static void pack_terms(struct order *order)
{
    struct window_work *const work = &order->windows->work;
    uint32_t word = 0, used = work->key_shift;
    for (uint32_t t = order->sorted_terms; t-- > 0;) {
        const uint32_t bits = term_bits(&work->terms[t]);
        if (used + bits > WORD_BITS) {
            word++;
            used = 0;
        }
        work->terms[t].shift = bits ? used : 0;
        work->terms[t].word = word;
        used += bits;
        order->bits[word] = used;
    }
    order->words = order->sorted_terms ? word + 1 : 0;
}

/* ---- Memory ---- */

static enum status make_memory(struct order *order, struct error *error)
{
    static const uint32_t columns[] = {[AS_THEY_ARE] = 1, [BY_RANKS] = 2, [BY_KEYS] = 2, [BY_PAIRS] = 4};
    struct windows *const windows = order->windows;
    const uint64_t rows = windows->work.rows;
    order->list_bytes = cuda_aligned((rows + 1) * sizeof(uint32_t));
    order->begins_bytes = cuda_aligned((rows + 31) / 32 * sizeof(uint32_t));
    const uint64_t column = 2 * order->list_bytes, count = columns[order->way],
                   scratch = order->way >= BY_KEYS ? cuda_aligned(cuda_radix_sort_scratch(rows)) : 0;
    RETURN_IF_ERROR(cuda_columns_allocate(windows->device->columns,
                                          count * column + scratch +
                                              (has_own_groups(order) ? 4 : 2) * order->begins_bytes,
                                          "a window's order", &windows->order, error));
    const cuda_address base = windows->order;
    order->pairs = order->way == BY_PAIRS ? (struct cuda_pairs){.keys = base,
                                                                .values = base + column,
                                                                .other_keys = base + 2 * column,
                                                                .other_values = base + 3 * column}
                                          : (struct cuda_pairs){.keys = base, .other_keys = base + column};
    order->pairs.narrow = windows->work.narrow;
    order->scratch = base + count * column;
    order->begins = order->scratch + scratch;
    return STATUS_OK;
}

/* ---- Order ---- */

static enum status make_keys(struct order *order, uint32_t word, struct error *error)
{
    struct windows *const windows = order->windows;
    cuda_address rows_out = word == 0 ? order->pairs.values : 0;
    void *arguments[] = {&windows->work, &rows_out};
    windows->work.word = word;
    windows->work.keys = order->pairs.keys;
    windows->work.places = word == 0 ? 0 : order->pairs.values;
    return cuda_window_launch(windows, windows->kernels.keys, windows->work.rows, arguments, error);
}

static enum status sort_word(struct order *order, uint32_t word, struct error *error)
{
    struct windows *const windows = order->windows;
    RETURN_IF_ERROR(make_keys(order, word, error));
    RETURN_IF_ERROR(cuda_radix_sort(windows->cuda, &windows->sort, &order->pairs, windows->work.rows,
                                    windows->work.key_shift, order->bits[word], order->scratch, error));
    return cancel_check(error);
}

static enum status sort_rows(struct order *order, struct error *error)
{
    struct windows *const windows = order->windows;
    struct window_work *const work = &windows->work;
    for (uint32_t word = 0; order->way >= BY_KEYS && word < order->words; word++)
        RETURN_IF_ERROR(sort_word(order, word, error));
    order->lists = order->way >= BY_KEYS ? order->pairs.other_keys : order->pairs.keys;
    work->places = 0;
    if (order->way >= BY_KEYS) {
        work->keys = order->pairs.keys;
        work->places = order->way == BY_KEYS ? order->pairs.keys : order->pairs.values;
    } else if (order->way == BY_RANKS) {
        RETURN_IF_ERROR(make_keys(order, 0, error));
        work->places = order->pairs.other_keys;
        RETURN_IF_ERROR(cuda_window_launch_work(windows, windows->kernels.ranks, error));
    }
    return cancel_check(error);
}

/* ---- Partitions and groups ---- */

static struct window_begins begins_at(const struct order *order, uint32_t number)
{
    return (struct window_begins){.bits = order->begins + 2 * number * order->begins_bytes,
                                  .before = order->begins + (2 * number + 1) * order->begins_bytes,
                                  .list = order->lists + number * order->list_bytes};
}

static enum status find_begins(struct order *order, struct error *error)
{
    struct windows *const windows = order->windows;
    struct window_work *const work = &windows->work;
    work->partitions = begins_at(order, 0);
    work->groups = has_own_groups(order) ? begins_at(order, 1) : (struct window_begins){0};
    work->compared_terms = compared_terms(order);
    work->by_keys = order->way >= BY_KEYS && order->words == 1 && work->compared_terms <= order->sorted_terms;
    RETURN_IF_ERROR(cuda_window_launch_work(windows, windows->kernels.marks, error));
    RETURN_IF_ERROR(cuda_window_sum_pieces(windows, error));
    RETURN_IF_ERROR(cuda_window_launch_work(windows, windows->kernels.lists, error));
    if (order->wishes->groups && work->partition_terms == work->term_count)
        work->groups = work->partitions;
    return STATUS_OK;
}

enum status cuda_window_order_make(struct windows *windows, const struct window_wishes *wishes, bool *done,
                                   struct error *error)
{
    struct order order = {.windows = windows, .wishes = wishes};
    cuda_free(windows->cuda, windows->order);
    windows->order = 0;
    cuda_window_set_terms(windows);
    RETURN_IF_ERROR(look_at_rows(&order, error));
    choose_way(&order);
    pack_terms(&order);
    *done = make_memory(&order, NULL) == STATUS_OK;
    if (!*done)
        return STATUS_OK;
    windows->scattered = order.way >= BY_KEYS;
    windows->has_words = order.way == BY_KEYS;
    RETURN_IF_ERROR(sort_rows(&order, error));
    return find_begins(&order, error);
}
