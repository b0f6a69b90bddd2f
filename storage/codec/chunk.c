/*
 * chunk.c: opens an encoded chunk. After that, decoding it cannot leave its bytes.
 *
 * It is called once for each chunk of a column that is opened, on bytes that may be damaged or hostile (a
 * checksum finds only accidents). The codec's own check walks over the directory, a few nanoseconds a block.
 */
#include "storage/codec/chunk.h"

static enum status refuse(struct error *error, const char *what)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "not a valid column chunk: %s; the file is damaged: restore it, or load the table again",
                     what);
}

/* Sizes are compared with the remaining bytes and never added up, so that no sum can wrap. */
static bool sections_fit(const struct chunk_header *header, uint64_t size)
{
    const uint64_t sections[] = {header->directory_bytes, header->data_bytes, header->auxiliary_bytes};
    uint64_t left = size - sizeof *header;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (sections[i] > left)
            return false;
        left -= sections[i];
    }
    return header->chunk_bytes == size &&
           chunk_size(header->directory_bytes, header->data_bytes, header->auxiliary_bytes) == size;
}

enum status chunk_open(const uint8_t *bytes, uint64_t size, struct chunk_view *chunk, struct error *error)
{
    struct chunk_header header;
    if (size < sizeof header)
        return refuse(error, "it is shorter than its header of 64 bytes");
    memcpy(&header, bytes, sizeof header);
    const struct codec *const codec = codec_by_id(header.codec);
    if (!codec)
        return error_set(error, STATUS_BAD_INPUT,
                         "not a valid column chunk: it names codec number %u, which this version does not "
                         "know; use a newer version, or restore the file if it is damaged",
                         header.codec);
    if (header.rows < 1 || header.rows > SEGMENT_ROWS)
        return refuse(error, "its row count is not 1 to 16777216");
    if (header.value_bytes != 4 && header.value_bytes != 8)
        return refuse(error, "its values are of neither 4 nor 8 bytes");
    if (!codec_holds(codec, header.value_bytes))
        return refuse(error, "its codec has no 64-bit values");
    if (header.reserved != 0 || header.reserved2 != 0)
        return refuse(error, "reserved fields of its header are not 0");
    if (header.width_low > header.width_high || header.width_high > header.value_bytes * 8)
        return refuse(error, "the widths in its header are not possible");
    if (!sections_fit(&header, size))
        return refuse(error, "the sizes of its sections do not add up to its size");
    struct chunk_view view = {
        .codec = codec,
        .bytes = bytes,
        .directory = bytes + sizeof header,
        .data = bytes + chunk_align(sizeof header + header.directory_bytes),
        .auxiliary =
            bytes + chunk_align(sizeof header + header.directory_bytes) + chunk_align(header.data_bytes),
        .size = size,
        .rows = header.rows,
        .tiles = chunk_tiles(header.rows),
        .value_bytes = header.value_bytes,
        .width_low = header.width_low,
        .width_high = header.width_high,
    };
    if (!codec->valid(&view))
        return error_set(error, STATUS_BAD_INPUT,
                         "not a valid column chunk: a start, width or count of its %s directory lies outside "
                         "it; the file is damaged: restore it, or load the table again",
                         codec->name);
    view.regular = codec->gpu.regular && codec->gpu.regular(&view);
    *chunk = view;
    return STATUS_OK;
}
