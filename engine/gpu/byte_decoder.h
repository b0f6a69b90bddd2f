/*
 * byte_decoder.h: a GPU that decompresses the Deflate streams of other programs' files, thousands a call, for
 * loading (storage/codec/bytes/byte_decoder.h). Streams go to the GPU and what they give comes back through
 * pinned buffers, in batches of 64 MiB of output: one is decoded while another one is copied.
 */
#ifndef TESSERA_ENGINE_GPU_BYTE_DECODER_H
#define TESSERA_ENGINE_GPU_BYTE_DECODER_H

#include "storage/codec/bytes/byte_decoder.h"

/* Opening takes 300 MiB of the host's memory and of the GPU's. */
extern const struct byte_device cuda_byte_device;

#endif
