#!/usr/bin/env python3
"""Inputs of flopwatch in plain Python, written from the description in daemon/model/inputs.c and not from its code.

Import it beside a ctypes script to give a kernel library the same bits the runner gives it, or run it:

    tests/support/inputs.py hash        golden hashes, "name sha256" a line
    tests/support/inputs.py fill SEED TENSOR FIRST COUNT    bf16 bits, little-endian, on stdout
    tests/support/inputs.py blocks SEED HEADS Q_BLOCKS K_BLOCKS KEEP [PATTERN]    mask words, little-endian u32, on stdout

Patterns are those of daemon/families/attention/attention.h; random_tokens is uniform with key blocks of one token.
"""
import array
import hashlib
import struct
import sys

MASK = (1 << 64) - 1
INCREMENT = 0x9E3779B97F4A7C15
TENSOR_FACTOR = 0xD1342543DE82EF95
BLOCK_STREAM = 64
Q, K, V, O, LSE, DO = range(6)  # slot numbers of kernels/fw_attention.h


def mix(x):
    """splitmix64: add the increment, then finalise."""
    x = (x + INCREMENT) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def stream(seed, tensor):
    return mix((seed ^ (tensor + 1) * TENSOR_FACTOR) & MASK)


def bf16_of_sum(total):
    """bf16 bits of total / 32768, nearest, ties to even; by way of the integer, without a float."""
    if total == 0:
        return 0
    sign, size = (0x8000, -total) if total < 0 else (0, total)
    exponent = size.bit_length() - 1
    if exponent > 7:
        shift = exponent - 7
        kept, rest, half = size >> shift, size & ((1 << shift) - 1), 1 << (shift - 1)
        if rest > half or (rest == half and kept & 1):
            kept += 1
        if kept == 256:
            kept, exponent = 128, exponent + 1
    else:
        kept = size << (7 - exponent)
    return sign | (exponent - 15 + 127) << 7 | (kept & 0x7F)


def fill(seed, tensor, first, count):
    """Elements [first, first + count) of a tensor as array('H') of bf16 bits."""
    start = stream(seed, tensor)
    out = array.array("H", bytes(2 * count))
    for i in range(count):
        h = mix((start + (first + i) * INCREMENT) & MASK)
        total = (h & 0xFFFF) + (h >> 16 & 0xFFFF) + (h >> 32 & 0xFFFF) + (h >> 48) - 2 * 65535
        out[i] = bf16_of_sum(total)
    return out


def kept_blocks(seed, head, q_block, k_blocks, keep):
    """Key blocks that one row of query blocks uses, in the order in which they are drawn."""
    row = mix((stream(seed, BLOCK_STREAM + head) + q_block * INCREMENT) & MASK)
    place = list(range(k_blocks))
    for j in range(keep):
        r = j + mix((row + j * INCREMENT) & MASK) % (k_blocks - j)
        place[j], place[r] = place[r], place[j]
    return place[:keep]


def placed_blocks(pattern, seed, head, q_block, q_blocks, k_blocks, keep):
    """Key blocks that a row uses by a rule of position."""
    draw = stream(seed, BLOCK_STREAM + head)
    diagonal = q_block * k_blocks // q_blocks
    if pattern == "banded":
        first = diagonal - draw % (min(keep, k_blocks - keep) + 1)
        first = min(max(first, 0), k_blocks - keep)
        return range(first, first + keep)
    if pattern == "strided":
        return [(diagonal + draw % k_blocks + j * k_blocks // keep) % k_blocks for j in range(keep)]
    if pattern == "bigbird":
        placed = [0, k_blocks - 1, diagonal, diagonal - 1, diagonal + 1]
        kept = list(dict.fromkeys(block for block in placed if 0 <= block < k_blocks))[:keep]
        drawn = kept_blocks(seed, head, q_block, k_blocks, k_blocks)
        return kept + [block for block in drawn if block not in kept][: keep - len(kept)]
    return kept_blocks(seed, head, q_block, k_blocks, keep)


def block_bits(seed, heads, q_blocks, k_blocks, keep, pattern="uniform"):
    """Words of FW_BLOCK_BITS: [heads][q_blocks][ceil(k_blocks / 32)]."""
    words = []
    for head in range(heads):
        for q in range(q_blocks):
            row = 0
            for block in placed_blocks(pattern, seed, head, q, q_blocks, k_blocks, keep):
                row |= 1 << block
            words += [row >> 32 * w & 0xFFFFFFFF for w in range((k_blocks + 31) // 32)]
    return words


def little_endian(values, letter):
    return struct.pack("<%d%s" % (len(values), letter), *values)


def golden():
    yield "fill_q_seed42_1m", little_endian(fill(42, Q, 0, 1 << 20), "H")
    yield "blocks_seed42_384_keep38", little_endian(block_bits(42, 8, 384, 384, 38), "I")
    yield "blocks_seed42_768_keep76", little_endian(block_bits(42, 8, 768, 768, 76), "I")
    yield "banded_seed42_384_keep38", little_endian(block_bits(42, 8, 384, 384, 38, "banded"), "I")
    yield "strided_seed42_384_keep38", little_endian(block_bits(42, 8, 384, 384, 38, "strided"), "I")
    yield "bigbird_seed42_128_keep16", little_endian(block_bits(42, 8, 128, 128, 16, "bigbird"), "I")
    yield "random_tokens_seed42_8x512_keep51", little_endian(block_bits(42, 8, 8, 512, 51, "random_tokens"), "I")


def main(words):
    if words == ["hash"]:
        for name, data in golden():
            print(name, hashlib.sha256(data).hexdigest())
    elif len(words) == 5 and words[0] == "fill":
        sys.stdout.buffer.write(little_endian(fill(*map(int, words[1:])), "H"))
    elif len(words) in (6, 7) and words[0] == "blocks":
        sys.stdout.buffer.write(little_endian(block_bits(*map(int, words[1:6]), *words[6:]), "I"))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
