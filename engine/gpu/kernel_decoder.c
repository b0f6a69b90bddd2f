/* kernel_decoder.c: see kernel_decoder.h. */
#include "engine/gpu/kernel_decoder.h"

#include <string.h>

static const char *unsigned_type(uint32_t bytes)
{
    return bytes == 1 ? "unsigned char" : bytes == 2 ? "unsigned short" : "unsigned int";
}

/* Whether a lane-for or lane-slice column's directory says nothing that one width does not: each tile right
 * behind the one before, all references 0. An entry is two words: start in units of 32 bytes | width << 26,
 * reference (docs/codecs.md). */
static bool is_regular(const struct kernel_column *column)
{
    if (column->width_low != column->width_high)
        return false;
    for (uint32_t s = 0; s < column->data->segment_count; s++) {
        const struct chunk_view *chunk = &column->data->segments[s].chunk;
        for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
            uint32_t entry[2];
            memcpy(entry, chunk->directory + sizeof entry * tile, sizeof entry);
            if ((entry[0] & 0x3ffffffu) != tile * column->width_low * (128 / CODEC_START_BYTES) ||
                entry[1] != 0)
                return false;
        }
    }
    return true;
}

void kernel_decoder_write(FILE *out, const struct kernel_column *column)
{
    static const char *const fixed[CODEC_COUNT] = {
        [CODEC_PLAIN] = "decode_plain",           [CODEC_GPU_FOR] = "decode_gpu_for",
        [CODEC_GPU_DFOR] = "decode_gpu_dfor",     [CODEC_GPU_RFOR] = "decode_gpu_rfor",
        [CODEC_LANE_DELTA] = "decode_lane_delta", [CODEC_RANK_RLE] = "decode_rank_rle",
    };
    const uint32_t low = column->width_low, high = column->width_high;
    if (column->value_bytes == 8) {
        fputs(column->data->codec->id == CODEC_PLAIN ? "decode_wide_plain" : "decode_wide_lane_for", out);
        return;
    }
    switch (column->data->codec->id) {
    case CODEC_NSF:
        if (low == high)
            fprintf(out, "decode_nsf<%s>", unsigned_type(high / 8));
        else
            fputs("decode_nsf_mixed", out);
        break;
    case CODEC_LANE_FOR:
        fprintf(out, "decode_lane_for<%u, %u, %s>", low, high, is_regular(column) ? "true" : "false");
        break;
    case CODEC_LANE_SLICE:
        fprintf(out, "decode_lane_slice<%u, %u, %s>", low, high, is_regular(column) ? "true" : "false");
        break;
    default:
        fputs(fixed[column->data->codec->id], out);
    }
}

static uint32_t scratch_bytes(enum codec_id codec)
{
    return codec == CODEC_RANK_RLE ? 256 : codec == CODEC_GPU_RFOR ? 128 : 0;
}

uint32_t kernel_decoder_staging(const struct kernel_column *column)
{
    if (column->value_bytes == 8)
        return 0; /* 64-bit values are asked for one by one */
    bool staged =
        column->fetched && column->data->codec->id != CODEC_LANE_SLICE && !column->data->codec->random_access;
    return scratch_bytes(column->data->codec->id) + (staged ? TILE_ROWS * (uint32_t)sizeof(uint32_t) : 0);
}

uint32_t kernel_decoder_lines(const struct kernel_column *column)
{
    if (column->value_bytes == 8)
        return 0;
    switch (column->data->codec->id) {
    case CODEC_PLAIN:
        return 32;
    case CODEC_LANE_SLICE:
        return column->width_high;
    case CODEC_LANE_FOR:
        return column->width_high - column->width_low < TILE_WIDTHS_MAX ? column->width_high : 0;
    default:
        return 0;
    }
}
