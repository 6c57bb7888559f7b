/**
 * attention_problems.cuh - which problems are checked, and which are timed.
 */
#ifndef GPU_ATTENTION_PROBLEMS_CUH
#define GPU_ATTENTION_PROBLEMS_CUH

#include "attention_reference.cuh"

#include <stdio.h>

static const char *input_name(enum input_kind kind)
{
	static const char *const names[] = { "", "/sharp", "/outliers", "/equal_keys" };
	return names[kind];
}

static struct problem dense(const char *kind, int mask, std::vector<int> q, std::vector<int> k, int nhq, int nhk, int d,
	enum input_kind inputs = NORMAL)
{
	char name[200];
	snprintf(name, sizeof name, "%s/q%d/k%d/n%zu/hq%d/hk%d/d%d%s", kind, total(q), total(k), q.size(), nhq, nhk, d,
		input_name(inputs));
	struct problem p = { name, nhq, nhk, d, mask, 0, q, k, 0.0, inputs };
	return p;
}

static struct problem blocks(
	int tokens_q, int tokens_k, int block, double density, int nhq, int nhk, int d, enum input_kind inputs = NORMAL)
{
	char name[200];
	snprintf(name, sizeof name, "blocks/q%d/k%d/r%g/b%d/hq%d/hk%d/d%d%s", tokens_q, tokens_k, density, block, nhq, nhk, d,
		input_name(inputs));
	struct problem p = { name, nhq, nhk, d, FW_BLOCKS, block, { tokens_q }, { tokens_k }, density, inputs };
	return p;
}

/* All of them run in about a second; compute-sanitizer manages them too. */
static std::vector<struct problem> quick_problems(int d)
{
	std::vector<struct problem> list;
	const int lengths[] = { 1, 63, 64, 65, 127, 129 };
	const std::vector<int> mixed = { 130, 1, 64, 0, 65, 2, 200 };
	for (int n : lengths) {
		list.push_back(dense("full", FW_FULL, { n }, { n }, 4, 2, d));
		list.push_back(dense("causal", FW_CAUSAL, { n }, { n }, 4, 2, d));
		for (int block = 64; block <= 128; block += 64)
			list.push_back(blocks(n, n, block, 0.5, 4, 2, d));
	}
	list.push_back(dense("full", FW_FULL, { 200 }, { 200 }, 16, 2, d));    /* group 8 */
	list.push_back(dense("causal", FW_CAUSAL, { 300 }, { 300 }, 3, 3, d)); /* group 1 */
	list.push_back(dense("causal", FW_CAUSAL, { 300 }, { 300 }, 6, 2, d)); /* group 3 */
	list.push_back(dense("full", FW_FULL, { 70 }, { 333 }, 4, 1, d));
	list.push_back(dense("causal", FW_CAUSAL, { 70 }, { 333 }, 4, 1, d));
	list.push_back(dense("causal", FW_CAUSAL, { 333 }, { 70 }, 4, 1, d)); /* rows without keys */
	list.push_back(dense("varlen_full", FW_FULL, mixed, mixed, 4, 2, d));
	list.push_back(dense("varlen_causal", FW_CAUSAL, mixed, mixed, 4, 2, d));
	list.push_back(dense("varlen_full", FW_FULL, { 5, 100, 0, 77 }, { 200, 3, 40, 0 }, 4, 1, d));
	list.push_back(dense("varlen_causal", FW_CAUSAL, { 5, 100, 0, 77 }, { 200, 3, 40, 0 }, 3, 3, d));
	for (int block = 64; block <= 128; block += 64) {
		list.push_back(blocks(600, 1111, block, 0.4, 3, 3, d));
		list.push_back(blocks(129, 65, block, 0.9, 2, 2, d));
		list.push_back(blocks(300, 300, block, 0.0, 4, 2, d)); /* no block is retained: every row is empty */
		list.push_back(blocks(300, 300, block, 1.0, 4, 2, d));
	}
	return list;
}

static std::vector<struct problem> small_problems(bool quick)
{
	std::vector<struct problem> list;
	for (int d = 64; d <= 128; d += 64) {
		const std::vector<struct problem> first = quick_problems(d);
		list.insert(list.end(), first.begin(), first.end());
		if (quick)
			continue;
		list.push_back(dense("full", FW_FULL, { 1000 }, { 1000 }, 4, 2, d));
		list.push_back(dense("causal", FW_CAUSAL, { 1000 }, { 1000 }, 4, 2, d));
		list.push_back(dense("full", FW_FULL, { 300 }, { 300 }, 3, 3, d));
		list.push_back(dense("causal", FW_CAUSAL, { 513 }, { 513 }, 8, 1, d));
		const enum input_kind kinds[] = { SHARP, OUTLIERS, EQUAL_KEYS };
		for (enum input_kind kind : kinds) {
			list.push_back(dense("full", FW_FULL, { 500 }, { 500 }, 4, 1, d, kind));
			list.push_back(dense("causal", FW_CAUSAL, { 500 }, { 500 }, 2, 1, d, kind));
			list.push_back(dense("varlen_causal", FW_CAUSAL, { 129, 300, 65 }, { 129, 300, 65 }, 4, 2, d, kind));
			for (int block = 64; block <= 128; block += 64)
				list.push_back(blocks(1000, 1000, block, 0.4, 4, 2, d, kind));
		}
		for (int block = 64; block <= 128; block += 64) {
			list.push_back(blocks(1024, 1024, block, 0.3, 4, 2, d));
			list.push_back(blocks(1000, 1000, block, 0.5, 8, 1, d));
			list.push_back(blocks(1000, 1000, block, 0.9, 4, 2, d)); /* above the density where dense wins */
		}
	}
	if (quick)
		return list;
	std::vector<int> many;
	for (int i = 0; i < 256; i++)
		many.push_back(1 + (i * 37) % 11);
	list.push_back(dense("varlen_causal", FW_CAUSAL, many, many, 2, 1, 128));
	list.push_back(blocks(2300, 2300, 64, 0.25, 2, 1, 128)); /* more than 32 blocks per row */
	list.push_back(dense("full", FW_FULL, { 4097 }, { 4097 }, 2, 1, 64));
	list.push_back(dense("full", FW_FULL, { 8191 }, { 8191 }, 1, 1, 128));
	list.push_back(dense("causal", FW_CAUSAL, { 8191 }, { 8191 }, 1, 1, 128));
	list.push_back(dense(
		"varlen_full", FW_FULL, { 1, 63, 65, 127, 1000, 129, 2806 }, { 1, 63, 65, 127, 1000, 129, 2806 }, 2, 1, 128));
	list.push_back(blocks(8191, 8191, 128, 0.1, 1, 1, 128));
	list.push_back(blocks(8191, 8191, 64, 0.1, 1, 1, 128));
	return list;
}

/* Suite ffa. */
static std::vector<struct problem> large_problems(void)
{
	const std::vector<int> full = { 2150, 3051, 419, 356, 130, 895, 54, 1116, 14, 2, 2, 1, 1, 1 };
	const std::vector<int> causal = { 1408, 177, 2559, 2823, 600, 370, 35, 58, 20, 25, 58, 23, 22, 4, 10 };
	std::vector<struct problem> list;
	list.push_back(dense("full", FW_FULL, { 8192 }, { 8192 }, 64, 8, 128));
	list.push_back(dense("causal", FW_CAUSAL, { 8192 }, { 8192 }, 64, 8, 128));
	list.push_back(dense("varlen_full", FW_FULL, full, full, 64, 8, 128));
	list.push_back(dense("varlen_causal", FW_CAUSAL, causal, causal, 64, 8, 128));
	for (int block = 64; block <= 128; block += 64) {
		const double ratios[] = { 0.1, 0.2, 0.5 };
		for (double ratio : ratios)
			list.push_back(blocks(49152, 49152, block, ratio, 64, 8, 128));
	}
	return list;
}

#endif
