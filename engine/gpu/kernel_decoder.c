/* kernel_decoder.c: see kernel_decoder.h. */
#include "engine/gpu/kernel_decoder.h"

static struct codec_shape shape_of(const struct kernel_column *column)
{
    const struct codec *const codec = column->data->codec;
    struct codec_shape shape = {.value_bytes = column->value_bytes,
                                .width_low = column->width_low,
                                .width_high = column->width_high,
                                .regular = column->value_bytes == sizeof(int32_t) &&
                                           column->width_low == column->width_high};
    if (codec->planes && column->data->segment_count > 0)
        shape.planes = codec->planes(&column->data->segments[0].chunk);
    for (uint32_t s = 0; codec->planes && s < column->data->segment_count; s++) {
        const uint32_t apart = (uint32_t)kernel_decoder_detail(&column->data->segments[s].chunk);
        shape.apart = apart > shape.apart ? apart : shape.apart;
    }
    for (uint32_t s = 0; shape.regular && s < column->data->segment_count; s++)
        shape.regular = column->data->segments[s].chunk.regular;
    return shape;
}

bool kernel_decoder_apart(const struct kernel_column *column)
{
    return shape_of(column).apart > 0;
}

void kernel_decoder_write(FILE *out, const struct kernel_column *column)
{
    const struct codec_gpu *gpu = &column->data->codec->gpu;
    const struct codec_shape shape = shape_of(column);
    char arguments[CODEC_ARGUMENTS_BYTES] = "";
    if (gpu->arguments)
        gpu->arguments(&shape, arguments, sizeof arguments);
    fprintf(out, "%s<%s%s>", gpu->decoder, shape.value_bytes == 8 ? "int64_t" : "int32_t", arguments);
}

void kernel_decoder_include(FILE *out, const struct codec *codec)
{
    fprintf(out, "#include \"%s\"\n", codec->gpu.header);
}

uint32_t kernel_decoder_whole(const struct kernel_column *column)
{
    return column->whole ? (TILE_ROWS + TILE_ROWS / 32) * column->value_bytes : 0; /* tile_places */
}

uint32_t kernel_decoder_staging(const struct kernel_column *column)
{
    const struct codec_gpu *gpu = &column->data->codec->gpu;
    const bool staged = column->fetched && !column->whole && !gpu->random_access;
    return gpu->scratch_bytes + (staged ? TILE_ROWS * column->value_bytes : kernel_decoder_whole(column));
}

uint32_t kernel_decoder_lines(const struct kernel_column *column)
{
    const struct codec_gpu *gpu = &column->data->codec->gpu;
    if (!gpu->lines || column->value_bytes != sizeof(int32_t))
        return 0;
    const struct codec_shape shape = shape_of(column);
    return gpu->lines(&shape);
}

uint64_t kernel_decoder_detail(const struct chunk_view *chunk)
{
    const struct codec_gpu *gpu = &chunk->codec->gpu;
    return gpu->detail ? gpu->detail(chunk) : 0;
}

uint32_t kernel_decoder_passes(const struct column_data *data)
{
    const struct codec_gpu *gpu = &data->codec->gpu;
    uint32_t most = 1;
    for (uint32_t s = 0; gpu->passes && s < data->segment_count; s++) {
        const uint32_t passes = gpu->passes(&data->segments[s].chunk);
        most = passes > most ? passes : most;
    }
    return most;
}

uint64_t kernel_decoder_layer_bytes(const struct chunk_view *chunk)
{
    const struct codec_gpu *gpu = &chunk->codec->gpu;
    return gpu->layer_bytes ? gpu->layer_bytes(chunk) : 0;
}
