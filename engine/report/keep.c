/* keep.c: see keep.h. */
#include "engine/report/keep.h"

#include <stdlib.h>
#include <string.h>

struct keep_block {
    struct keep_block *next;
    char text[];
};

void keep_free(struct keep *keep)
{
    while (keep->blocks) {
        struct keep_block *const block = keep->blocks;
        keep->blocks = block->next;
        free(block);
    }
}

const char *keep_text(struct keep *keep, const char *text)
{
    if (!text)
        return NULL;
    const size_t bytes = strlen(text) + 1;
    struct keep_block *const block = malloc(sizeof *block + bytes);
    if (!block) {
        keep->failed = true;
        return NULL;
    }
    memcpy(block->text, text, bytes);
    block->next = keep->blocks;
    keep->blocks = block;
    return block->text;
}

bool keep_grow(struct keep *keep, void **array, uint32_t count, size_t item_bytes)
{
    if (count & (count - 1)) /* the array is made longer at 0, 1, 2, 4, 8, ... items */
        return true;
    void *const longer = realloc(*array, (count ? 2 * (size_t)count : 1) * item_bytes);
    if (!longer) {
        keep->failed = true;
        return false;
    }
    *array = longer;
    return true;
}
