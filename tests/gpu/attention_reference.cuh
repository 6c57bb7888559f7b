/**
 * attention_reference.cuh - problems, masks and an fp64 attention on the CPU, for attention_check.cu.
 *
 * In addition to the exact result it computes a plain bf16 attention on the same inputs, whose error determines the tolerance
 * for a kernel.
 */
#ifndef GPU_ATTENTION_REFERENCE_CUH
#define GPU_ATTENTION_REFERENCE_CUH

#include "kernels/fw_attention.h"
#include "families/attention/attention.h"

#include <math.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

/* Distribution of the inputs. Sharp: Q eight times as large, which finds errors of the running maximum. */
enum input_kind { NORMAL, SHARP, OUTLIERS, EQUAL_KEYS };

struct problem {
	std::string name;
	int nhq, nhk, d, mask, block;
	std::vector<int> q_lens, k_lens;
	double density; /* of blocks: 0 retains none, 1 all */
	enum input_kind inputs;
};

/* The device data of a problem's mask. */
struct mask {
	std::vector<int32_t> cu_q, cu_k;
	std::vector<uint32_t> bits;
	int64_t blocks;
};

static float bf16_value(uint16_t bits)
{
	uint32_t u = (uint32_t)bits << 16;
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static uint16_t bf16_bits(double v)
{
	float f = (float)v;
	uint32_t u;
	memcpy(&u, &f, 4);
	return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

static double round_bf16(double v)
{
	return bf16_value(bf16_bits(v));
}

static int total(const std::vector<int> &lens)
{
	int sum = 0;
	for (int n : lens)
		sum += n;
	return sum;
}

static int ceil_div(int a, int b)
{
	return (a + b - 1) / b;
}

/* ---- masks ---- */

/* `variant` 1 is another mask of the same sizes: sequences in reverse order, blocks of another seed. */
static struct mask make_mask(const struct problem &p, int variant)
{
	struct mask m;
	m.cu_q.push_back(0);
	m.cu_k.push_back(0);
	const size_t n = p.q_lens.size();
	for (size_t i = 0; i < n; i++) {
		size_t s = variant ? n - 1 - i : i;
		m.cu_q.push_back(m.cu_q.back() + p.q_lens[s]);
		m.cu_k.push_back(m.cu_k.back() + p.k_lens[s]);
	}
	m.blocks = 0;
	if (!p.block)
		return m;
	const int q_blocks = ceil_div(total(p.q_lens), p.block), k_blocks = ceil_div(total(p.k_lens), p.block),
		  words = ceil_div(k_blocks, 32);
	m.bits.assign((size_t)p.nhk * q_blocks * words, 0);
	const int keep = (int)(p.density * k_blocks);
	std::vector<int> order((size_t)k_blocks);
	for (int h = 0; h < p.nhk; h++)
		for (int q = 0; q < q_blocks; q++) {
			uint64_t row =
				inputs_mix(inputs_stream(42 + variant, PATTERN_STREAM + h) + (uint64_t)q * INPUTS_INCREMENT);
			/* small masks vary the retained number from none to all, so that empty and full lists occur */
			int kept = k_blocks > 64 ? keep : (int)(inputs_mix(row ^ 77) % (uint64_t)(2 * keep + 1));
			if (kept > k_blocks || p.density >= 1.0)
				kept = k_blocks;
			for (int k = 0; k < k_blocks; k++)
				order[k] = k;
			for (int j = 0; j < kept; j++) {
				std::swap(order[j], order[j + (int)(inputs_mix(row + (uint64_t)j * INPUTS_INCREMENT) %
								      (uint64_t)(k_blocks - j))]);
				m.bits[((size_t)h * q_blocks + q) * words + order[j] / 32] |= 1u << (order[j] % 32);
			}
			m.blocks += kept;
		}
	return m;
}

/* Pairs that the mask includes, for one query head of each key head, summed over key heads. */
static double useful_pairs(const struct problem &p, const struct mask &m)
{
	double pairs = 0;
	const int tq = m.cu_q.back(), tk = m.cu_k.back();
	if (p.block) {
		const int q_blocks = ceil_div(tq, p.block), k_blocks = ceil_div(tk, p.block), words = ceil_div(k_blocks, 32);
		for (int h = 0; h < p.nhk; h++)
			for (int q = 0; q < q_blocks; q++)
				for (int k = 0; k < k_blocks; k++)
					if (m.bits[((size_t)h * q_blocks + q) * words + k / 32] >> (k % 32) & 1)
						pairs += (double)std::min(p.block, tq - q * p.block) *
							 std::min(p.block, tk - k * p.block);
		return pairs;
	}
	for (size_t s = 0; s + 1 < m.cu_q.size(); s++) {
		const int lq = m.cu_q[s + 1] - m.cu_q[s], lk = m.cu_k[s + 1] - m.cu_k[s];
		for (int i = 0; i < lq; i++)
			pairs += p.mask == FW_CAUSAL ? std::max(0, std::min(lk, i + lk - lq + 1)) : lk;
	}
	return pairs * p.nhk;
}

/* ---- reference ---- */

/* Whether row attends to key, in terms of the ABI. seq_of: sequence of each query row. */
struct visibility {
	const struct problem *p;
	const struct mask *m;
	std::vector<int> seq_q, seq_k;

	visibility(const struct problem &problem, const struct mask &mask) : p(&problem), m(&mask)
	{
		for (size_t s = 0; s + 1 < mask.cu_q.size(); s++) {
			seq_q.insert(seq_q.end(), mask.cu_q[s + 1] - mask.cu_q[s], (int)s);
			seq_k.insert(seq_k.end(), mask.cu_k[s + 1] - mask.cu_k[s], (int)s);
		}
	}
	bool sees(int kv_head, int row, int key) const
	{
		if (p->block) {
			const int q_blocks = ceil_div(m->cu_q.back(), p->block),
				  words = ceil_div(ceil_div(m->cu_k.back(), p->block), 32);
			const int kb = key / p->block;
			return m->bits[((size_t)kv_head * q_blocks + row / p->block) * words + kb / 32] >> (kb % 32) & 1;
		}
		const int s = seq_q[row];
		if (seq_k[key] != s)
			return false;
		const int lq = m->cu_q[s + 1] - m->cu_q[s], lk = m->cu_k[s + 1] - m->cu_k[s];
		return p->mask != FW_CAUSAL || key - m->cu_k[s] <= row - m->cu_q[s] + lk - lq;
	}
	/* Keys that a row may attend to, and rows that may attend to a key. */
	void keys(int row, int *from, int *to) const
	{
		*from = p->block ? 0 : m->cu_k[seq_q[row]];
		*to = p->block ? m->cu_k.back() : m->cu_k[seq_q[row] + 1];
	}
	void rows(int key, int *from, int *to) const
	{
		*from = p->block ? 0 : m->cu_q[seq_k[key]];
		*to = p->block ? m->cu_q.back() : m->cu_q[seq_k[key] + 1];
	}
};

static double dot(const double *a, const double *b, int d)
{
	double sum[8] = { 0 };
	for (int i = 0; i < d; i += 8)
		for (int j = 0; j < 8; j++)
			sum[j] += a[i + j] * b[i + j];
	return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

static void add(double *to, double f, const double *a, int d)
{
	for (int i = 0; i < d; i++)
		to[i] += f * a[i];
}

/* Exact results, and those of plain bf16 attention: S, P, dP and dS rounded to bf16, sums exact. */
struct answer {
	std::vector<double> o, lse, dq, dk, dv;
};

struct inputs {
	std::vector<uint16_t> q, k, v, grad_o;
};

static std::vector<double> widen(const std::vector<uint16_t> &bits)
{
	std::vector<double> out(bits.size());
	for (size_t i = 0; i < bits.size(); i++)
		out[i] = bf16_value(bits[i]);
	return out;
}

static void reference(const struct problem &p, const struct mask &m, const struct inputs &in, double scale, struct answer *exact,
	struct answer *plain)
{
	const int tq = m.cu_q.back(), tk = m.cu_k.back(), d = p.d, group = p.nhq / p.nhk;
	const visibility sight(p, m);
	const std::vector<double> q = widen(in.q), k = widen(in.k), v = widen(in.v), grad_o = widen(in.grad_o);
	std::vector<double> delta[2];
	for (int kind = 0; kind < 2; kind++) {
		struct answer *a = kind ? plain : exact;
		a->o.assign((size_t)tq * p.nhq * d, 0.0);
		a->dq = a->o;
		a->lse.assign((size_t)tq * p.nhq, -INFINITY);
		a->dk.assign((size_t)tk * p.nhk * d, 0.0);
		a->dv = a->dk;
		delta[kind].assign((size_t)tq * p.nhq, 0.0);
	}
#pragma omp parallel for schedule(dynamic, 4) collapse(2)
	for (int h = 0; h < p.nhq; h++)
		for (int row = 0; row < tq; row++) {
			const size_t at = ((size_t)row * p.nhq + h) * d, stat = (size_t)h * tq + row;
			int from, to;
			sight.keys(row, &from, &to);
			std::vector<double> s, dp;
			std::vector<int> seen;
			double top = -INFINITY;
			for (int j = from; j < to; j++) {
				if (!sight.sees(h / group, row, j))
					continue;
				const size_t key = ((size_t)j * p.nhk + h / group) * d;
				s.push_back(scale * dot(&q[at], &k[key], d));
				dp.push_back(dot(&grad_o[at], &v[key], d));
				seen.push_back(j);
				top = std::max(top, s.back());
			}
			if (seen.empty())
				continue;
			for (int kind = 0; kind < 2; kind++) {
				struct answer *a = kind ? plain : exact;
				double sum = 0;
				for (size_t i = 0; i < s.size(); i++)
					sum += exp((kind ? round_bf16(s[i]) : s[i]) - top);
				a->lse[stat] = top + log(sum);
				for (size_t i = 0; i < s.size(); i++) {
					double w = exp((kind ? round_bf16(s[i]) : s[i]) - a->lse[stat]);
					add(&a->o[at], kind ? round_bf16(w) : w, &v[((size_t)seen[i] * p.nhk + h / group) * d],
						d);
				}
				if (kind)
					for (int i = 0; i < d; i++)
						a->o[at + i] = round_bf16(a->o[at + i]);
				delta[kind][stat] = dot(&grad_o[at], &a->o[at], d);
				for (size_t i = 0; i < s.size(); i++) {
					double w = exp((kind ? round_bf16(s[i]) : s[i]) - a->lse[stat]);
					double ds = kind ? round_bf16(round_bf16(w) * (round_bf16(dp[i]) - delta[kind][stat]))
							 : w * (dp[i] - delta[kind][stat]);
					add(&a->dq[at], scale * ds, &k[((size_t)seen[i] * p.nhk + h / group) * d], d);
				}
				if (kind)
					for (int i = 0; i < d; i++)
						a->dq[at + i] = round_bf16(a->dq[at + i]);
			}
		}
#pragma omp parallel for schedule(dynamic, 4) collapse(2)
	for (int kv = 0; kv < p.nhk; kv++)
		for (int j = 0; j < tk; j++) {
			const size_t key = ((size_t)j * p.nhk + kv) * d;
			int from, to;
			sight.rows(j, &from, &to);
			for (int row = from; row < to; row++) {
				if (!sight.sees(kv, row, j))
					continue;
				for (int h = kv * group; h < (kv + 1) * group; h++) {
					const size_t at = ((size_t)row * p.nhq + h) * d, stat = (size_t)h * tq + row;
					const double s = scale * dot(&q[at], &k[key], d), dp = dot(&grad_o[at], &v[key], d);
					for (int kind = 0; kind < 2; kind++) {
						struct answer *a = kind ? plain : exact;
						double w = exp((kind ? round_bf16(s) : s) - a->lse[stat]),
						       ds = w * (dp - delta[kind][stat]);
						if (kind) {
							w = round_bf16(w);
							ds = round_bf16(w * (round_bf16(dp) - delta[kind][stat]));
						}
						add(&a->dv[key], w, &grad_o[at], d);
						add(&a->dk[key], scale * ds, &q[at], d);
					}
				}
			}
			for (int i = 0; i < d; i++) {
				plain->dk[key + i] = round_bf16(plain->dk[key + i]);
				plain->dv[key + i] = round_bf16(plain->dv[key + i]);
			}
		}
}

#endif
