/* list_codec.c: see list_codec.h. */
#include "lab/lists/list_codec.h"

#define VECTOR_CODECS(isa)                                                       \
    codecs[LIST_SIMD_BP].encode = ISA_PASTE(list_simd_bp_encode, isa);           \
    codecs[LIST_SIMD_BP].decode = ISA_PASTE(list_simd_bp_decode, isa);           \
    codecs[LIST_STREAM_VBYTE].encode = ISA_PASTE(list_stream_vbyte_encode, isa); \
    codecs[LIST_STREAM_VBYTE].decode = ISA_PASTE(list_stream_vbyte_decode, isa);

void list_codecs_get(enum isa_level level, struct list_codec codecs[LIST_CODECS])
{
    codecs[LIST_BP32] = (struct list_codec){"BP32", false, list_bp32_encode, list_bp32_decode};
    codecs[LIST_SIMD_BP] = (struct list_codec){.name = "SIMD-BP", .vectors = true};
    codecs[LIST_VARINT_GB] =
        (struct list_codec){"VarintGB", false, list_varint_gb_encode, list_varint_gb_decode};
    codecs[LIST_STREAM_VBYTE] = (struct list_codec){.name = "StreamVByte", .vectors = true};
    switch (level) {
#if defined(__x86_64__)
    case ISA_AVX512:
        VECTOR_CODECS(avx512)
        break;
    case ISA_AVX2:
        VECTOR_CODECS(avx2)
        break;
#endif
    default:
        VECTOR_CODECS(baseline)
    }
}
