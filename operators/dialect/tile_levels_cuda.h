/*
 * tile_levels_cuda.h: the part of the tile dialect on a GPU that uses levels (storage/column/levels.h): tests of
 * bits of a foreign key instead of probes of a bitmap, and group codes that are such bits.
 *
 * The bits that a test names are known when the kernel is compiled, since they say which lines are loaded. The
 * values are arguments: statements with other constants share the kernel.
 */
#ifndef TESSERA_OPERATORS_DIALECT_TILE_LEVELS_CUDA_H
#define TESSERA_OPERATORS_DIALECT_TILE_LEVELS_CUDA_H

#include "operators/group/states_cuda.h"

/* The cubes of a join (storage/codec/position_cube.h). CARE: the bits that any of them names. FIRST_WORD: the
 * place of their words among the arguments: for each cube and bit of CARE, from the most significant one, the
 * bit's opposite in all 32 places; if there are several cubes, followed by a word of ones if the cube does not
 * name the bit, else 0. */
template <uint32_t CARE_BITS, uint32_t COUNT, uint32_t FIRST_WORD> struct tile_test {
    static constexpr uint32_t CARE = CARE_BITS;
    static constexpr uint32_t CUBES = COUNT;

    static constexpr __device__ uint32_t bit_count(uint32_t bits)
    {
        return bits ? (bits & 1) + bit_count(bits >> 1) : 0;
    }
    /* The items of a plane's word that have the cube's bit. */
    static __device__ __forceinline__ uint32_t matches(uint32_t word, uint32_t cube, uint32_t bit)
    {
        const uint32_t rank = bit_count(CARE >> bit >> 1);
        if (COUNT == 1)
            return word ^ arguments.test_words[FIRST_WORD + rank];
        const uint32_t place = FIRST_WORD + 2 * (cube * bit_count(CARE) + rank);
        return (word ^ arguments.test_words[place]) | arguments.test_words[place + 1];
    }
};

struct tile_no_test {
    static constexpr uint32_t CARE = 0;
};

template <class A, class B> constexpr bool is_same_type = false;
template <class A> constexpr bool is_same_type<A, A> = true;

/* A dimension with levels. TEST: tile_no_test, or the test that replaces the bitmap of DIMENSION, or comes
 * before it if there is one. A code is (position >> SHIFT) & MASK or, if LOOKED_UP, the element at position >> SHIFT
 * of the code array. */
template <class DIMENSION, class TEST, bool LOOKED_UP, uint32_t SHIFT, uint32_t MASK>
struct tile_level_dimension : DIMENSION {
    typedef TEST test;
    static constexpr bool TESTED = !is_same_type<TEST, tile_no_test>;

    __device__ __forceinline__ uint32_t code(int32_t position) const
    {
        const uint32_t prefix = (uint32_t)position >> SHIFT;
        return LOOKED_UP ? DIMENSION::code((int32_t)prefix) : prefix & MASK;
    }
};

/* A foreign key whose decoder is PLANAR. TEST: of the join whose bits FIRST are loaded when the tile is known,
 * and tested before the first step of the query: so later planes, of any column, are loaded only by lanes that
 * have survivors of all first tests. NEEDED: the bits that tile_value gives. */
template <class DECODE, class TEST, uint32_t FIRST, uint32_t NEEDED, bool FETCHED, bool NULLABLE>
struct tile_level_column : tile_column<DECODE, false, FETCHED, 0, NULLABLE> {
    typedef tile_column<DECODE, false, FETCHED, 0, NULLABLE> column;
    using column::decode;

    __device__ __forceinline__ void ahead(const tile &t)
    {
        if (FIRST) {
            column::coming.seek(column::chunks[t.place], t.index, t.lane);
            column::coming.template load_planes<FIRST>();
        }
    }
    __device__ __forceinline__ void advance(const tile &t)
    {
        if (FIRST)
            decode = column::coming;
        else
            column::seek(t);
        column::staged = false;
    }
    __device__ __forceinline__ void preload()
    {
        decode.template load_planes<FIRST>();
    }
    __device__ __forceinline__ tile_mask first()
    {
        if constexpr (FIRST != 0)
            return decode.template in_cubes<FIRST, TEST>();
        return FULL_WARP;
    }
    /* After the first test, only the other planes of a single cube are tested, and nothing if there are none. */
    template <class DIMENSION>
    __device__ __forceinline__ tile_mask semi_join(const tile *t, tile_mask keep, const DIMENSION &dimension)
    {
        if constexpr (DIMENSION::TESTED) {
            typedef typename DIMENSION::test WHOLE;
            constexpr uint32_t LOADED = is_same_type<WHOLE, TEST> ? FIRST : 0, LATER = WHOLE::CARE & ~LOADED;
            constexpr uint32_t LEFT = !TILE_TEST_FIRST                  ? WHOLE::CARE
                                      : LATER == 0 || WHOLE::CUBES == 1 ? LATER
                                                                        : WHOLE::CARE;
            if constexpr (LEFT != 0)
                if (keep) {
                    decode.template load_planes<LATER>();
                    keep &= decode.template in_cubes<LEFT, WHOLE>();
                }
        }
        if constexpr (DIMENSION::IS_RANGE && DECODE::RANGES) {
            keep = column::valid(t, keep);
            if (keep) {
                decode.template load_planes<~FIRST>();
                keep &= decode.template in_range<true>(dimension.first, dimension.last);
            }
            return keep;
        }
        return column::semi_join(t, keep, dimension);
    }
#ifdef TILE_MANY
    /* The planes that values need are in registers, for the lane's own rows. */
    __device__ __forceinline__ void copy(const tile &)
    {
        if (FETCHED)
            decode.template load_planes<NEEDED & ~FIRST>();
    }
    __device__ __forceinline__ void fetch(const tile *, tile_mask)
    {
        decode.template complete<NEEDED>();
    }
    __device__ __forceinline__ int32_t value(uint32_t row)
    {
        return (int32_t)decode.template own_bits<NEEDED>(row);
    }
#else
    __device__ __forceinline__ int32_t value(uint32_t row)
    {
        return (int32_t)decode.template item_bits<NEEDED>(row);
    }
#endif
};

#endif
