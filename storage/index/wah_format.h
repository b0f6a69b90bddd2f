/*
 * wah_format.h: the words of a compressed bit vector, for the host and for GPU kernels.
 *
 * WAH, word-aligned hybrid coding (Wu, Otoo and Shoshani, 2006), in 64-bit words. The vector's bits are cut into groups
 * of 63; row r is bit r % 63 of group r / 63, counted from the least significant one. A word is one group as it is, or
 * a number of equal groups:
 *
 *            63  62  61                                         0
 *     literal 0 | 63 bits of a group                             |
 *     fill    1 | v | length in groups, at least 1               |   v: the value of all its bits
 *
 * Example: 200 rows, of which rows 2 and 130 to 199 are set, are 4 groups (the last has rows 189 to 199):
 *
 *     0000000000000004   literal: row 2
 *     8000000000000001   fill: 1 group of zeros, rows 63 to 125
 *     7ffffffffffffff0   literal: rows 130 to 188
 *     00000000000007ff   literal: rows 189 to 199
 *
 * Vectors are canonical, so equal vectors have equal words: a group of zeros or of ones is always in a fill, and no two
 * neighbouring fills have the same value. Bits after the last row are 0; so the last group, unless all its 63 rows
 * exist, is a literal or in a fill of zeros. A vector of no rows has no words.
 *
 * 32-bit words are the same with groups of 31 bits and lengths of 30; a longer run takes several fills, all but the last
 * of the greatest length.
 *
 * A directory lets a reader begin at every piece of 1024 groups: one struct wah_start a piece.
 *
 * This header includes nothing, so that kernels can include it.
 */
#ifndef TESSERA_STORAGE_INDEX_WAH_FORMAT_H
#define TESSERA_STORAGE_INDEX_WAH_FORMAT_H

#define WAH_GROUP_ROWS 63u
#define WAH_FILL       0x8000000000000000u
#define WAH_ONES       0x4000000000000000u /* of a fill: its value */
#define WAH_LENGTH     0x3fffffffffffffffu /* of a fill: the bits of its length */
#define WAH_FULL       0x7fffffffffffffffu /* a group of ones */

#define WAH32_GROUP_ROWS 31u
#define WAH32_FILL       0x80000000u
#define WAH32_ONES       0x40000000u
#define WAH32_LENGTH     0x3fffffffu
#define WAH32_FULL       0x7fffffffu

#define WAH_PIECE_GROUPS 1024u
#define WAH_PIECE_ROWS   (WAH_GROUP_ROWS * WAH_PIECE_GROUPS)
#define WAH32_PIECE_ROWS (WAH32_GROUP_ROWS * WAH_PIECE_GROUPS)

/* Where a piece begins: in words[word], after `skip` of its groups, if it is a fill. */
struct wah_start {
    unsigned int word, skip;
};

#endif
