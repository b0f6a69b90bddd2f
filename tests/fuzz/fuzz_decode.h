/* fuzz_decode.h: reads columns whose bytes may say anything. */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_DECODE_H
#define TESSERA_TESTS_FUZZ_FUZZ_DECODE_H

#include "storage/codec/chunk_reader.h"
#include "storage/database/database.h"

/* Reads the dictionary, all tiles, and one value for itself. Whatever a file says that is sealed rightly, reading it stays
 * inside of it; its values may be any. */
static inline void decode_anything(struct database *database, const struct column *column)
{
    static int64_t sink[TILE_ROWS];
    const struct dictionary *dictionary;
    struct column_data *data;
    const bool loaded = column_dictionary(column, 1, &dictionary, NULL) == STATUS_OK && dictionary;
    for (uint32_t code = 0; loaded && code < dictionary->count; code++) {
        uint32_t length;
        const char *string = dictionary_string(dictionary, code, &length);
        (void)dictionary_find(dictionary, string, length);
    }
    if (column_data_open(database, column, column->own, 1, &data, NULL) != STATUS_OK)
        return;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct chunk_view *chunk = &data->segments[s].chunk;
        struct chunk_reader reader = {0};
        const void *values;
        for (uint32_t tile = 0; tile < chunk->tiles; tile++)
            if (chunk_reader_tile(&reader, chunk, tile, &values, NULL) == STATUS_OK)
                memcpy(sink, values, TILE_ROWS * chunk->value_bytes);
        chunk_reader_close(&reader);
        if (chunk->codec->value)
            sink[0] ^= chunk->codec->value(chunk, chunk->rows - 1); /* no sum: damaged values are any */
    }
}

#endif
