/**
 * inputs.h - inputs with the same bits on the CPU, on the GPU and in Python, without storing them.
 *
 * Element i of tensor t under a seed is a pure function: h = mix(stream(seed, t) + i * K), with mix the finaliser of splitmix64
 * and K its increment; the four 16-bit lanes of h summed, less 2 * 65535, times 2^-15, rounded to bf16 (nearest, ties to even).
 * That is close to a normal distribution with standard deviation 1.15, and exact in integers. Source: Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators" (OOPSLA 2014).
 */
#ifndef MODEL_INPUTS_H
#define MODEL_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define INPUTS_FN static __host__ __device__ __forceinline__
#else
#define INPUTS_FN static inline
#endif

#define INPUTS_INCREMENT 0x9e3779b97f4a7c15ull /* K: 2^64 over the golden ratio */

/** Finaliser of splitmix64 after one increment: a bijection of 64 bits. */
INPUTS_FN uint64_t inputs_mix(uint64_t x)
{
	x += INPUTS_INCREMENT;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/** Return the contribution of 8 bytes at index `i` to a buffer's checksum; a shorter rest is padded with zeros. */
INPUTS_FN uint64_t inputs_summand(uint64_t bytes, uint64_t i)
{
	return inputs_mix(bytes + i * INPUTS_INCREMENT);
}

/** Return the start value of one tensor's stream. `tensor` is its slot number in the kernel ABI. */
INPUTS_FN uint64_t inputs_stream(uint64_t seed, uint32_t tensor)
{
	return inputs_mix(seed ^ ((uint64_t)tensor + 1) * 0xd1342543de82ef95ull);
}

/** Return the bf16 bits of element `i` of a stream. */
INPUTS_FN uint16_t inputs_element(uint64_t stream, uint64_t i)
{
	uint64_t h = inputs_mix(stream + i * INPUTS_INCREMENT);
	int32_t sum = (int32_t)(h & 0xffff) + (int32_t)((h >> 16) & 0xffff) + (int32_t)((h >> 32) & 0xffff) + (int32_t)(h >> 48) -
		      2 * 65535;
	union {
		float f;
		uint32_t u;
	} v;
	v.f = (float)sum * (1.0f / 32768.0f); /* exact: 18 bits times a power of two */
	return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}

/** Fill elements [first, first + n) of a stream. Shape: out[n] bf16 bits. */
void inputs_fill(uint64_t seed, uint32_t tensor, uint64_t first, size_t n, uint16_t *out);

float inputs_bf16_to_float(uint16_t bits);
uint16_t inputs_float_to_bf16(float v);

#endif
