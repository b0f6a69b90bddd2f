/* codecs.c: see codecs.h. */
#include "ssb/data/codecs.h"

#include "ssb/data/schema.h"
#include "storage/codec/codec_spec.h"

#include <stdio.h>

#define LINEORDER_CODEC "auto"

enum status ssb_codecs_list(const char *text, char list[SSB_CODECS_BYTES], struct error *error)
{
    char column[NAME_BYTES];
    size_t used = 0;
    for (uint32_t i = 0; codec_spec_column(text, i, column, sizeof column); i++) {
        enum ssb_table table;
        uint32_t position;
        RETURN_IF_ERROR(ssb_column_find(column, &table, &position, error));
    }
    for (enum ssb_table table = 0; table < SSB_TABLES; table++)
        for (uint32_t c = 0; c < ssb_table_info(table)->column_count; c++) {
            const char *const own = ssb_table_info(table)->columns[c].name;
            struct codec_choice choice;
            enum codec_spec_part part;
            RETURN_IF_ERROR(codec_spec_find(text, own, &choice, &part, error));
            const char *name = choice.name;
            if (table != SSB_LINEORDER && part != CODEC_SPEC_COLUMN)
                name = codec_array()->name;
            else if (part == CODEC_SPEC_NOTHING)
                name = LINEORDER_CODEC;
            used +=
                (size_t)snprintf(list + used, SSB_CODECS_BYTES - used, "%s%s=%s", used ? "," : "", own, name);
        }
    return STATUS_OK;
}
