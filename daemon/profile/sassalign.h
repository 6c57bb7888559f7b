/** sassalign.h - longest common subsequence of two lists of numbers, within a bound of work. */
#ifndef PROFILE_SASSALIGN_H
#define PROFILE_SASSALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Mark the common entries of `a` and `b`: as many as possible, in order. Shape: kept_a[n], kept_b[m], initially false. Returns
 * false without marks if they differ in more than some thousand entries, or memory is out.
 */
bool sassalign_keep(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool *kept_a, bool *kept_b);

#endif
