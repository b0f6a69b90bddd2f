/* string_pieces.c: see string_pieces.h. */
#include "engine/plan/functions/string_pieces.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum status dictionary_of_pieces(struct piece *pieces, uint64_t count, unsigned threads, int64_t *codes,
                                 struct dictionary **dictionary, struct error *error)
{
    uint64_t bytes = 0, *starts;
    uint32_t distinct = 0;
    char *text;
    RETURN_IF_ERROR(pieces_sort(pieces, count, threads, error));
    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || piece_compare(&pieces[i - 1], &pieces[i]) != 0) {
            distinct++;
            bytes += pieces[i].length;
        }
        codes[pieces[i].number] = distinct - 1;
    }
    *dictionary = dictionary_new(distinct, bytes, &starts, &text);
    if (!*dictionary)
        return error_out_of_memory(error, bytes, "a dictionary");
    for (uint64_t i = 0, next = 0; i < count; i++) {
        const uint64_t code = (uint64_t)codes[pieces[i].number];
        if (code != next)
            continue;
        if (pieces[i].length)
            memcpy(text + starts[code], pieces[i].text, pieces[i].length);
        starts[++next] = starts[code] + pieces[i].length;
    }
    return STATUS_OK;
}

static void take_pieces(const struct dictionary *dictionary, uint32_t first, struct piece *pieces)
{
    for (uint32_t code = 0; code < dictionary->count; code++) {
        struct piece *const piece = &pieces[first + code];
        piece->text = dictionary_string(dictionary, code, &piece->length);
        piece->number = first + code;
    }
}

enum status dictionaries_merge(const struct dictionary *a, const struct dictionary *b, unsigned threads,
                               int64_t **codes, struct dictionary **made, struct error *error)
{
    const uint64_t count = (uint64_t)a->count + b->count;
    struct piece *pieces;
    if (count > INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "two columns have more than %d strings together, too many to compare", INT32_MAX);
    RETURN_IF_ERROR(memory_take(&pieces, (count + 1) * sizeof *pieces, "a dictionary", error));
    enum status status = memory_take(codes, (count + 1) * sizeof **codes, "a dictionary", error);
    if (status == STATUS_OK) {
        take_pieces(a, 0, pieces);
        take_pieces(b, a->count, pieces);
        status = dictionary_of_pieces(pieces, count, threads, *codes, made, error);
        if (status != STATUS_OK)
            free(*codes);
    }
    free(pieces);
    return status;
}
