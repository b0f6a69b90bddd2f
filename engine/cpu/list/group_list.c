/* group_list.c: see group_list.h. Making a word takes about 1 ns a row, and putting it aside 2. */
#include "engine/cpu/list/group_list.h"

#include "engine/cpu/list/list_loops.h"
#include "storage/base/execution/execution.h"

/* A list has 8 bytes for each row, as parts of entries have for each group that is found again: with more rows a group it
 * would be larger than a table, which then also finds more of its groups. */
#define ROWS_A_GROUP 8u

/* Rows that follow each other with the same group are one entry of a table. */
#define ROWS_A_RUN 3u

/* A list may have this share of the memory of a statement; its groups may need as much again. */
#define MEMORY_SHARE 4u

static bool has_memory(uint64_t rows)
{
    const struct memory_account *const account = execution_memory();
    return !account || rows * sizeof(uint64_t) <= account->limit / MEMORY_SHARE;
}

bool group_list_suits(const struct plan *plan, const struct group_layout *entry, struct row_words *words,
                      struct group_layout *parts)
{
    const double rows = row_words_rows(plan), groups = row_words_groups(plan);
    const uint64_t runs = row_words_runs(plan).most;
    row_words_find(plan, words);
    if (!words->fit || plan->in_order || groups <= (double)group_hash_most(entry) ||
        rows > ROWS_A_GROUP * groups || (runs && plan->fact->rows / runs >= ROWS_A_RUN) ||
        !has_memory((uint64_t)rows))
        return false;
    group_layout_make(parts, NULL, 0, 1, 0);
    parts->part_shift = words->number_shift + 5; /* parts have whole words of marks (merge_list.c) */
    while ((words->numbers - 1) >> (parts->part_shift - words->number_shift) >= GROUP_PARTS)
        parts->part_shift++;
    return true;
}

enum status group_list_add(const struct plan *plan, const struct row_words *of, struct group_parts *parts,
                           uint32_t count, const uint64_t *numbers, const struct row_vector *arguments,
                           struct error *error)
{
    list_words_loop *const add_codes = ISA_CHOICE(list_words);
    uint64_t words[VECTOR_ROWS];
    for (uint32_t i = 0; i < count; i++)
        words[i] = numbers[i] << of->number_shift;
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const bool nullable = plan_argument_is_nullable(plan, a);
        const struct row_vector *const from = &arguments[a];
        const uint64_t low = (uint64_t)plan->aggregates[a].low - nullable;
        if (of->code_of[a] == a) /* the catalogue's ranges promise as many bits, but it may be damaged */
            add_codes(from->narrow, from->values, nullable ? from->nulls : NULL, low, row_words_mask(of, a),
                      of->shifts[a], count, words);
    }
    return group_parts_append(parts, count, words, error);
}
