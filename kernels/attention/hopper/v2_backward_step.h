/**
 * v2_backward_step.h - operations of the consumers of v2_backward.cu: the products of a step, the mask, and stores from
 * registers.
 * Accumulators have keys along rows and queries along columns (dQ: queries along rows); see sm90_mma for the layout.
 */
#ifndef ATTENTION_HOPPER_V2_BACKWARD_STEP_H
#define ATTENTION_HOPPER_V2_BACKWARD_STEP_H

#include "hopper/sm90.h"
#include "v2.h"

#include <math_constants.h>

enum { GROUP_THREADS = 128 };         /* in a warp group */
enum { STEP_PANEL = JOB_STEP * 128 }; /* bytes of a panel of Q and dO */

/* Description of a step, from the producer; key and query count from the first of the tile and of the step. */
struct backward_step {
	int32_t row;     /* of 64 queries in grad_q_sum: head * n_slots + slot */
	int32_t bias;    /* key sees query when key <= query + bias ... */
	int32_t last;    /* ... and key <= last */
	int32_t masked;  /* 0: every key sees every query */
	int32_t turn;    /* deterministic: number of additions to this row of grad_q_sum that come first */
	int32_t missing; /* bit h: keys 64 h to 64 h + 63 of the tile do not see these queries */
	int32_t reserved[2];
};

#ifdef SM90_CODE

/* d (64 x 64) = A B' over D columns, both tiles read along their rows: S' = K Q', dP' = V dO'. */
template <int D> SM90_DEVICE void scores(float (&d)[32], uint32_t keys, uint32_t keys_panel, uint32_t step)
{
	const uint64_t a_tile = sm90_descriptor(keys, keys_panel), b_tile = sm90_descriptor(step, STEP_PANEL);
#pragma unroll
	for (int k = 0; k < D / 16; k++)
		sm90_mma<0, 0>(d, a_tile + sm90_k_offset(k, keys_panel), b_tile + sm90_k_offset(k, STEP_PANEL), k > 0);
}

/* d (64 keys x D) += A B over 64 queries, A from registers: dV += P' dO, dK += dS' Q. */
template <int N> SM90_DEVICE void add_to_keys(float (&d)[N], const uint32_t (&a)[16], uint32_t step)
{
	const uint64_t b_tile = sm90_descriptor(step, STEP_PANEL);
#pragma unroll
	for (int k = 0; k < JOB_STEP / 16; k++)
		sm90_mma<1>(d, a + 4 * k, b_tile + k * SM90_ROWS_STEP, 1);
}

/* d (64 queries x up to 64 columns) = dS K over KEYS keys. dS' is stored untransposed, so A is also read across its rows. */
template <int KEYS, int N> SM90_DEVICE void queries(float (&d)[N], uint32_t ds, uint32_t k)
{
	const uint64_t a_tile = sm90_descriptor(ds, 0), b_tile = sm90_descriptor(k, 0);
#pragma unroll
	for (int i = 0; i < KEYS / 16; i++)
		sm90_mma<1, 1>(d, a_tile + i * SM90_ROWS_STEP, b_tile + i * SM90_ROWS_STEP, i > 0);
}

/* Add d to the sum of a step's dQ: a red.v4 of a warp is 512 contiguous bytes. */
template <int N> SM90_DEVICE void add_to_queries(float *sum, const float (&d)[N])
{
#pragma unroll
	for (int i = 0; i < N / 4; i++)
		sm80_add4(sum + i * 128, d + 4 * i);
}

/* Pack pairs of neighbours to bf16: an accumulator as A operand. */
SM90_DEVICE void pack(uint32_t (&to)[16], const float (&from)[32])
{
#pragma unroll
	for (int i = 0; i < 16; i++)
		to[i] = sm80_pack(from[2 * i], from[2 * i + 1]);
}

/*
 * Set keys that must not see a query to -inf. Rows of s are keys `key` and `key` + 8, columns queries 8 n + 2 (lane % 4) + {0,
 * 1}.
 */
SM90_DEVICE void hide(float (&s)[32], const struct backward_step &step, int key, int lane)
{
#pragma unroll
	for (int r = 0; r < 2; r++) {
		const int own = key + 8 * r;
		const bool blind = own > step.last || step.missing >> own / 64 & 1;
		const int first = blind ? JOB_STEP : own - step.bias - lane % 4 * 2;
#pragma unroll
		for (int n = 0; n < 8; n++)
#pragma unroll
			for (int e = 0; e < 2; e++)
				if (8 * n + e < first)
					s[4 * n + 2 * r + e] = -CUDART_INF_F;
	}
}

/* Store one tensor's gradient of a warp's 16 keys: rows `key` and `key` + 8. */
template <int N>
SM90_DEVICE void write_keys(const struct tensor &to, int kv_head, int key, int end, int lane, const float (&d)[N], float scale)
{
#pragma unroll
	for (int r = 0; r < 2; r++) {
		if (key + 8 * r >= end)
			continue;
		__nv_bfloat16 *row = (__nv_bfloat16 *)to.data + (key + 8 * r) * to.token + kv_head * to.head + lane % 4 * 2;
#pragma unroll
		for (int n = 0; n < N / 4; n++)
			*(uint32_t *)(row + 8 * n) = sm80_pack(d[4 * n + 2 * r] * scale, d[4 * n + 2 * r + 1] * scale);
	}
}

/* d += the same fragment of the other group, which put() wrote to `from`. */
template <int N> SM90_DEVICE void put(float4 *to, const float (&d)[N])
{
#pragma unroll
	for (int i = 0; i < N / 4; i++)
		to[i * GROUP_THREADS] = make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]);
}

template <int N> SM90_DEVICE void take(float (&d)[N], const float4 *from)
{
#pragma unroll
	for (int i = 0; i < N / 4; i++) {
		const float4 other = from[i * GROUP_THREADS];
		d[4 * i] += other.x;
		d[4 * i + 1] += other.y;
		d[4 * i + 2] += other.z;
		d[4 * i + 3] += other.w;
	}
}

#endif

#endif
