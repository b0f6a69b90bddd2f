/* source.c: what both kinds of source share (source.h). */
#include "ssb/data/source.h"

#include "loader/table/dictionary_builder.h"

enum status ssb_source_words_create(struct ssb_source *source, uint32_t column, struct error *error)
{
    return dictionary_builder_create(&source->words[column], error);
}

enum status ssb_source_words_sort(struct ssb_source *source, uint32_t column, struct error *error)
{
    const int32_t *sorted;
    return dictionary_builder_sort(source->words[column], &source->dictionaries[column], &sorted, error);
}

void ssb_source_close(struct ssb_source *source)
{
    if (!source)
        return;
    for (uint32_t c = 0; c < SSB_COLUMNS_MAX; c++)
        dictionary_builder_destroy(source->words[c]);
    source->methods->close(source);
}
