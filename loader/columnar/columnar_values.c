/* columnar_values.c: see columnar_values.h. */
#include "loader/columnar/columnar_values.h"

#include "loader/columnar/columnar_streams.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

static void free_blocks(struct columnar_values *values)
{
    for (struct columnar_block *block = values->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    values->blocks = NULL;
}

void columnar_values_free(struct columnar_values *values)
{
    free_blocks(values);
    for (uint32_t r = 0; r < COLUMNAR_ROOMS; r++)
        free(values->rooms[r].memory);
    *values = (struct columnar_values){0};
}

void columnar_values_begin(struct columnar_values *values, uint32_t rows)
{
    struct columnar_values fresh = {.rows = rows, .count = rows};
    free_blocks(values);
    memcpy(fresh.rooms, values->rooms, sizeof fresh.rooms);
    *values = fresh;
}

enum status columnar_values_take(struct columnar_values *values, uint32_t which, uint64_t bytes,
                                 void *pointer, struct error *error)
{
    struct columnar_room *const room = &values->rooms[which];
    if (bytes > room->bytes || !room->memory) {
        free(room->memory);
        *room = (struct columnar_room){0};
        RETURN_IF_ERROR(memory_take(&room->memory, bytes + COLUMNAR_SPARE_BYTES, "values of a file", error));
        huge_pages_prefer(room->memory, bytes);
        room->bytes = bytes;
    }
    memcpy(pointer, &room->memory, sizeof room->memory);
    return STATUS_OK;
}

enum status columnar_values_block(struct columnar_values *values, uint64_t bytes, char **memory,
                                  struct error *error)
{
    struct columnar_block *block;
    RETURN_IF_ERROR(memory_take(&block, sizeof *block + bytes + COLUMNAR_SPARE_BYTES, "texts", error));
    block->next = values->blocks;
    values->blocks = block;
    values->block_bytes += bytes;
    *memory = block->bytes;
    return STATUS_OK;
}
