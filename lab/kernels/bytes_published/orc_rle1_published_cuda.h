/*
 * orc_rle1_published_cuda.h: ORC's first run-length encoding, decoded as CODAG does: symbol after symbol, literal after
 * literal, by all lanes alike. storage/codec/bytes/orc_rle1.c draws the format and is the host's twin.
 */
#ifndef TESSERA_LAB_KERNELS_BYTES_PUBLISHED_ORC_RLE1_PUBLISHED_CUDA_H
#define TESSERA_LAB_KERNELS_BYTES_PUBLISHED_ORC_RLE1_PUBLISHED_CUDA_H

#include "lab/kernels/bytes_published/orc_numbers_cuda.h"

template <class T, class POLICY = published_shared>
struct orc_rle1_published : published_decoder<orc_rle1_published<T, POLICY>, T, POLICY, HIGH_BIT_FIRST, 0> {
    typedef number_of<T> number;

    template <class IN, class OUT> static __device__ __forceinline__ bool read(IN &in, OUT &out, void *)
    {
        while (out.room() && !out.failed()) {
            const group head = in.decode([&] { return read_head(in); });
            if (head.length > out.room())
                return false;
            if (head.is_run)
                out.write_run(head.init, head.length, head.delta);
            else
                for (uint32_t i = 0; i < head.length; i++)
                    out.write_item(in.decode([&] { return fetch_number<T>(in); }));
        }
        return in.decode([&] { return (uint32_t)(in.at_end() && !in.failed()); }) && !out.failed();
    }

  private:
    struct group {
        number init, delta;
        uint32_t length, is_run;
    };

    template <class IN> static __device__ __forceinline__ group read_head(IN &in)
    {
        group head = {};
        const uint32_t byte = in.fetch_bits(8);
        head.is_run = byte < 128;
        head.length = head.is_run ? byte + ORC_REPEAT_LEAST : 256 - byte;
        if (head.is_run) {
            head.delta = (number)(int64_t)(int8_t)in.fetch_bits(8);
            head.init = fetch_number<T>(in);
        }
        return head;
    }
};

#endif
