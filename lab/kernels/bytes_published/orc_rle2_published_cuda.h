/*
 * orc_rle2_published_cuda.h: ORC's second run-length encoding, decoded as CODAG does: group after group, packed number
 * after packed number, by all lanes alike. storage/codec/bytes/orc_rle2.c draws the format and is the host's twin.
 */
#ifndef TESSERA_LAB_KERNELS_BYTES_PUBLISHED_ORC_RLE2_PUBLISHED_CUDA_H
#define TESSERA_LAB_KERNELS_BYTES_PUBLISHED_ORC_RLE2_PUBLISHED_CUDA_H

#include "lab/kernels/bytes_published/orc_numbers_cuda.h"

template <class T, class POLICY = published_shared>
struct orc_rle2_published : published_decoder<orc_rle2_published<T, POLICY>, T, POLICY, HIGH_BIT_FIRST, 0> {
    typedef number_of<T> number;

    template <class IN, class OUT> static __device__ __forceinline__ bool read(IN &in, OUT &out, void *)
    {
        while (out.room() && !out.failed()) {
            const group head = in.decode([&] { return read_head(in); });
            if (head.length > out.room() || !read_items(in, out, head))
                return false;
        }
        return in.decode([&] { return (uint32_t)(in.at_end() && !in.failed()); }) && !out.failed();
    }

  private:
    /* RUN: short repeats, and delta groups whose deltas have no width. */
    enum group_kind { RUN, DIRECT, PATCHED, DELTA, REFUSED };
    struct group {
        number init, delta; /* PATCHED: init is the base */
        uint32_t kind, length, width;
        uint32_t negative;                        /* DELTA: the deltas are subtracted */
        uint32_t patches, patch_width, gap_width; /* PATCHED */
    };

    /* Bits of packed numbers, from their 5-bit code. */
    static __device__ __forceinline__ uint32_t width_of(uint32_t code)
    {
        return code < 24 ? code + 1 : code < 28 ? 2 * code - 22 : 8 * code - 184;
    }
    /* The least width that holds `bits` bits, 2 .. 64. */
    static __device__ __forceinline__ uint32_t width_at_least(uint32_t bits)
    {
        return bits <= 24 ? bits : bits <= 32 ? (bits + 1) & ~1u : (bits + 7) & ~7u;
    }

    template <class IN> static __device__ __forceinline__ group read_head(IN &in)
    {
        group head = {};
        const uint32_t encoding = in.fetch_bits(2);
        if (encoding == 0) {
            const uint32_t bytes = in.fetch_bits(3) + 1;
            head.length = in.fetch_bits(3) + ORC_REPEAT_LEAST;
            head.init = item_of_code<T>(in.fetch_long(8 * bytes));
            return head;
        }
        const uint32_t width_code = in.fetch_bits(5);
        head.length = in.fetch_bits(9) + 1;
        head.width = width_of(width_code);
        head.kind = encoding;
        if (encoding == PATCHED)
            read_patched_head(in, head);
        if (encoding == DELTA)
            read_delta_head(in, head, width_code != 0);
        return head;
    }
    template <class IN> static __device__ __forceinline__ void read_patched_head(IN &in, group &head)
    {
        const uint32_t base_bits = 8 * (in.fetch_bits(3) + 1);
        head.patch_width = width_of(in.fetch_bits(5));
        head.gap_width = in.fetch_bits(3) + 1;
        head.patches = in.fetch_bits(5);
        const uint64_t base = in.fetch_long(base_bits), sign = 1ull << (base_bits - 1);
        head.init = (number)(base & sign ? 0 - (base ^ sign) : base);
        if (head.patches == 0 || head.gap_width + head.patch_width > 64)
            head.kind = REFUSED;
    }
    template <class IN>
    static __device__ __forceinline__ void read_delta_head(IN &in, group &head, bool has_deltas)
    {
        head.init = fetch_number<T>(in);
        const uint64_t step = from_zigzag(fetch_varint<uint64_t>(in));
        head.delta = (number)step;
        head.negative = (uint32_t)(step >> 63);
        head.kind = !has_deltas ? RUN : head.length < 2 ? REFUSED : DELTA;
    }

    template <class IN, class OUT>
    static __device__ __forceinline__ bool read_items(IN &in, OUT &out, const group &head)
    {
        switch (head.kind) {
        case RUN:
            out.write_run(head.init, head.length, head.delta);
            return true;
        case DIRECT:
            for (uint32_t i = 0; i < head.length; i++)
                out.write_item(in.decode([&] { return item_of_code<T>(in.fetch_long(head.width)); }));
            in.align_to_byte();
            return true;
        case PATCHED:
            return read_patched(in, out, head);
        case DELTA:
            read_deltas(in, out, head);
            return true;
        default:
            return false;
        }
    }
    template <class IN, class OUT>
    static __device__ __forceinline__ void read_deltas(IN &in, OUT &out, const group &head)
    {
        number value = head.init + head.delta;
        out.write_item(head.init);
        out.write_item(value);
        for (uint32_t i = 2; i < head.length; i++) {
            const number delta = in.decode([&] { return (number)in.fetch_long(head.width); });
            value += head.negative ? 0 - delta : delta;
            out.write_item(value);
        }
        in.align_to_byte();
    }
    /* The patches follow the items, so they are added to items that have been written. */
    template <class IN, class OUT>
    static __device__ __forceinline__ bool read_patched(IN &in, OUT &out, const group &head)
    {
        const uint32_t begin = out.place(), entry_width = width_at_least(head.gap_width + head.patch_width);
        for (uint32_t i = 0; i < head.length; i++)
            out.write_item(head.init + in.decode([&] { return (number)in.fetch_long(head.width); }));
        in.align_to_byte();
        uint64_t item = 0;
        for (uint32_t i = 0; i < head.patches; i++) {
            const uint64_t entry = in.decode([&] { return in.fetch_long(entry_width); });
            const uint64_t gap = entry >> head.patch_width;
            item += gap;
            if (item >= head.length || (gap == 0 && i > 0))
                return false;
            if (head.width < 64) {
                const uint64_t patch = entry & ~0ull >> (64 - head.patch_width);
                out.add_to_item(begin + (uint32_t)item, (number)(patch << head.width));
            }
        }
        in.align_to_byte();
        return true;
    }
};

#endif
