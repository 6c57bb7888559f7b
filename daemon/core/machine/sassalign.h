/** sassalign.h - the longest common part of two lists of numbers, up to a bound of work. */
#ifndef CORE_MACHINE_SASSALIGN_H
#define CORE_MACHINE_SASSALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Mark what is kept of `a` in `b`: as many entries as possible, in order. Shape: kept_a[n], kept_b[m], false at first.
 * False: they are too different (more than some thousand entries), or there is no memory; then nothing is marked.
 */
bool sassalign_keep(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool *kept_a, bool *kept_b);

#endif
