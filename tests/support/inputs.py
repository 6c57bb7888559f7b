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
ROUTING_STREAM, ORDER_STREAM = 0x6000, 0x6001
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


def token_bits(seed, heads, rows, keys, density):
    """Words of FW_TOKEN_BITS of a drawn mask: [heads][rows][ceil(keys / 32)], rows over all sequences of `keys` tokens."""
    words = []
    for head in range(heads):
        for q in range(rows):
            draw = mix((stream(seed, BLOCK_STREAM + head) + q * INCREMENT) & MASK)
            row = 0
            for key in range(keys):
                if mix((draw + key * INCREMENT) & MASK) >> 11 < int(density * 2**53):
                    row |= 1 << key
            words += [row >> 32 * w & 0xFFFFFFFF for w in range((keys + 31) // 32)]
    return words


def page_table(seed, lengths, page):
    """FW_PAGES: [sequences][pages of the longest], for sequences of these numbers of keys."""
    counts = [-(-n // page) for n in lengths]
    row, order = mix(stream(seed, BLOCK_STREAM)), list(range(sum(counts)))
    for j in range(len(order)):
        other = j + mix((row + j * INCREMENT) & MASK) % (len(order) - j)
        order[j], order[other] = order[other], order[j]
    table = []
    for count in counts:
        table += order[:count] + [0] * (max(counts) - count)
        order = order[count:]
    return table


def little_endian(values, letter):
    return struct.pack("<%d%s" % (len(values), letter), *values)


def group_sizes(seed, groups, tokens, top_k, is_skewed=False):
    """Rows of each group, of daemon/families/grouped/grouped.h: each token draws top_k different groups."""
    chance = [1] * groups
    if is_skewed:
        chance = [(1 << 20) // (g + max(1, groups // 16)) for g in range(groups)]
        for g in range(groups - 1, 0, -1):
            other = mix((stream(seed, ORDER_STREAM) + g * INCREMENT) & MASK) % (g + 1)
            chance[g], chance[other] = chance[other], chance[g]
    sums = [sum(chance[: g + 1]) for g in range(groups)]
    sizes = [0] * groups
    for t in range(tokens):
        token, drawn, attempt = mix((stream(seed, ROUTING_STREAM) + t * INCREMENT) & MASK), set(), 0
        while len(drawn) < top_k:
            value = mix((token + attempt * INCREMENT) & MASK) % sums[-1]
            drawn.add(next(g for g in range(groups) if value < sums[g]))
            attempt += 1
        for g in drawn:
            sizes[g] += 1
    return sizes


def golden():
    yield "fill_q_seed42_1m", little_endian(fill(42, Q, 0, 1 << 20), "H")
    yield "blocks_seed42_384_keep38", little_endian(block_bits(42, 8, 384, 384, 38), "I")
    yield "blocks_seed42_768_keep76", little_endian(block_bits(42, 8, 768, 768, 76), "I")
    yield "banded_seed42_384_keep38", little_endian(block_bits(42, 8, 384, 384, 38, "banded"), "I")
    yield "strided_seed42_384_keep38", little_endian(block_bits(42, 8, 384, 384, 38, "strided"), "I")
    yield "bigbird_seed42_128_keep16", little_endian(block_bits(42, 8, 128, 128, 16, "bigbird"), "I")
    yield "random_tokens_seed42_8x512_keep51", little_endian(block_bits(42, 8, 8, 512, 51, "random_tokens"), "I")
    yield "tokens_seed42_4x2x100_density0.3", little_endian(token_bits(42, 4, 200, 100, 0.3), "I")
    yield "pages_seed42_100_17_1_page16", little_endian(page_table(42, [100, 17, 1], 16), "i")
    yield "groups_seed42_64_top6_100tokens", little_endian(group_sizes(42, 64, 100, 6), "i")
    yield "groups_seed42_64_top6_100tokens_skewed", little_endian(group_sizes(42, 64, 100, 6, True), "i")


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
