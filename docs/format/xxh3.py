"""XXH3, the 64-bit checksum of every file of a database, with seed 0, by the description of xxHash 0.8.

    xxh3(bytes) -> int

Inputs of 1 to 16 bytes are hashed in another way, which is left out: a database has none of them (a header has 4088
bytes, an entry of a directory 40, a part a multiple of 128, a catalogue more than 16).
"""
import numpy as np

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
ALL = 2**64 - 1

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def word(data, place):
    return int.from_bytes(data[place : place + 8], "little")


def fold(a, b):
    """The halves of a product of 128 bits, exclusive or."""
    return a * b & ALL ^ a * b >> 64


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & ALL
    return h ^ h >> 32


def mix(data, place, secret):
    """16 bytes of the input with 16 of the secret."""
    return fold(word(data, place) ^ word(SECRET, secret), word(data, place + 8) ^ word(SECRET, secret + 8))


def medium(data):
    """17 to 240 bytes."""
    n = len(data)
    h = n * P64_1
    if n <= 128:
        for i in range((n - 1) // 32 + 1):  # from both ends to the middle
            h += mix(data, 16 * i, 32 * i) + mix(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(h & ALL)
    h = avalanche((h + sum(mix(data, 16 * i, 16 * i) for i in range(8))) & ALL)
    h += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16)) + mix(data, n - 16, 119)
    return avalanche(h & ALL)


def stripes(data, secrets):
    """What stripes of 64 bytes, the last but one axis of `data`, add to the eight sums."""
    keys = data ^ secrets
    swapped = data.reshape(data.shape[:-1] + (4, 2))[..., ::-1].reshape(data.shape)
    return (swapped + (keys & np.uint64(2**32 - 1)) * (keys >> np.uint64(32))).sum(axis=-2, dtype=np.uint64)


def secret(place):
    return np.frombuffer(SECRET, "<u8", 8, place)


def xxh3(data):
    data = memoryview(data).cast("B")
    n = len(data)
    if n == 0:
        return 0x2D06800538D394C2
    if n <= 240:
        assert n > 16
        return medium(bytes(data))
    sums = np.array([P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1], np.uint64)
    secrets = np.array([secret(8 * i) for i in range(16)])
    blocks = (n - 1) // 1024  # of 16 stripes; the rest follows below
    scramble, prime = secret(128), np.uint64(P32_1)
    for first in range(0, blocks, 1024):  # a MiB at a time
        count = min(1024, blocks - first)
        for added in stripes(np.frombuffer(data, "<u8", 128 * count, 1024 * first).reshape(count, 16, 8), secrets):
            sums += added
            sums = (sums ^ sums >> np.uint64(47) ^ scramble) * prime
    rest = (n - 1 - 1024 * blocks) // 64
    sums += stripes(np.frombuffer(data, "<u8", 8 * rest, 1024 * blocks).reshape(rest, 8), secrets[:rest])
    sums += stripes(np.frombuffer(data, "<u8", 8, n - 64).reshape(1, 8), secret(121))
    last = [int(x) ^ word(SECRET, 11 + 8 * i) for i, x in enumerate(sums)]
    return avalanche(n * P64_1 + sum(fold(last[i], last[i + 1]) for i in (0, 2, 4, 6)) & ALL)
