/* codecs.c: see codecs.h. */
#include "ssb/codecs.h"

#include "ssb/schema.h"
#include "storage/codec.h"

#include <stdio.h>
#include <string.h>

#define DIMENSION_CODEC "nsf"
#define LINEORDER_CODEC "auto"

/* One item of the list, "CODEC" or "COLUMN=CODEC", of `length` bytes. */
static enum status parse_item(const char *item, size_t length, struct ssb_codecs *named,
                              char all[SSB_CODEC_NAME_BYTES], struct error *error)
{
    char column[NAME_BYTES] = "", choice[SSB_CODEC_NAME_BYTES] = "";
    const char *equals = memchr(item, '=', length);
    size_t column_length = equals ? (size_t)(equals - item) : 0;
    const char *codec = equals ? equals + 1 : item;
    size_t codec_length = length - (size_t)(codec - item);
    if (column_length >= sizeof column || codec_length >= sizeof choice || (equals && column_length == 0))
        return error_set(error, STATUS_BAD_INPUT,
                         "'%.*s' in the list of codecs is neither CODEC nor COLUMN=CODEC", (int)length, item);
    memcpy(column, item, column_length);
    memcpy(choice, codec, codec_length);
    struct codec_choice parsed;
    RETURN_IF_ERROR(codec_choice_parse(choice, &parsed, error));
    char *place = all;
    if (equals) {
        enum ssb_table table;
        uint32_t position;
        RETURN_IF_ERROR(ssb_column_find(column, &table, &position, error));
        place = named->choice[table][position];
    }
    if (place[0])
        return error_set(error, STATUS_BAD_INPUT, "the list of codecs names %s twice, %s and %s; keep one",
                         equals ? column : "the codec of all columns", place, choice);
    memcpy(place, choice, sizeof choice);
    return STATUS_OK;
}

enum status ssb_codecs_parse(const char *text, struct ssb_codecs *codecs, struct error *error)
{
    *codecs = (struct ssb_codecs){.choice = {{""}}};
    char all[SSB_CODEC_NAME_BYTES] = "";
    for (const char *item = text; item;) {
        size_t length = strcspn(item, ",");
        RETURN_IF_ERROR(parse_item(item, length, codecs, all, error));
        item = item[length] ? item + length + 1 : NULL;
    }
    for (enum ssb_table table = 0; table < SSB_TABLES; table++)
        for (uint32_t c = 0; c < ssb_table_info(table)->column_count; c++)
            if (!codecs->choice[table][c][0])
                snprintf(codecs->choice[table][c], SSB_CODEC_NAME_BYTES, "%s",
                         table != SSB_LINEORDER ? DIMENSION_CODEC
                         : all[0]               ? all
                                                : LINEORDER_CODEC);
    return STATUS_OK;
}
