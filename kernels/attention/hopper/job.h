/**
 * job.c - a bound problem and its work list: the parameter of every stage's kernels, and the declarations that all files share.
 *
 * One work list represents every mask. An outer tile is a run of tokens that one thread block owns: queries in forward, keys in
 * backward. Its inner steps are the runs of 64 tokens of the other side that it must visit: a range for full and causal masks, a
 * list of set blocks otherwise. lists_build builds tiles and lists on the device, the main kernels only traverse them, so their
 * cost follows the set blocks.
 *
 * Rows of dQ and of the row statistics are stored in slots of 64 tokens that never straddle two sequences, so that backward reads
 * and adds whole slots without checking sequence ends.
 */
#ifndef ATTENTION_HOPPER_JOB_H
#define ATTENTION_HOPPER_JOB_H

#include <cuda_runtime.h>
#include <stdint.h>

#define JOB_STEP         64         /* tokens of an inner step, and of a slot */
#define JOB_FORWARD_ROWS 128        /* rows of a forward thread block: tokens times heads */
#define JOB_SEQS_MAX     1024       /* sequences that lists_build can hold in shared memory */
#define JOB_TOKENS_MAX   (1 << 29)  /* so that sums of two positions fit in 32 bits */
#define JOB_NO_DIAGONAL  0x3fffffff /* "every key is left of the diagonal" */

#define JOB_HD static __host__ __device__ __forceinline__

/** One outer tile. Units: tokens, absolute. first < 0: unused entry. */
struct tile {
	int32_t first, end; /* own tokens [first, end) */
	int32_t inner;      /* first token of step 0; of a list: ~index of the tile's first entry in job.list */
	int32_t inner_end;  /* end of the tokens of the other side */
	int32_t steps;
	int32_t diagonal; /* query i sees key j when j <= i + diagonal */
	int32_t slot;     /* backward: slot of step 0 */
	int32_t order;    /* backward: number of tiles that see the same queries and have smaller keys */
};

/** Whether the steps of a tile are a list, not a run of tokens. */
JOB_HD int tile_is_list(int32_t inner)
{
	return inner < 0;
}

/** bf16 tensor (token, head, element), elements adjacent. Units: strides in elements. */
struct tensor {
	void *data;
	int64_t token, head;
};

/** A bound problem: everything that the kernels need. Passed to them by value. */
struct job {
	int32_t backward, causal;
	int32_t block; /* tokens of a mask block, 0: no blocks */
	int32_t nhq, nhk, group, headdim;
	int32_t total_q, total_k, n_seqs;
	int32_t outer_rows; /* tokens of an outer tile */
	int32_t step;       /* tokens of the other side that a kernel multiplies per step */
	int32_t heads;      /* forward: query heads of a thread block; outer_rows * heads = JOB_FORWARD_ROWS */
	int32_t n_tiles;    /* entries of one tile table */
	int32_t n_slots;    /* backward */
	int32_t parts;   /* backward: the heads of a group are split into this many parts with separate sums, which CAST adds */
	int32_t passes;  /* backward: 2 when dQ is a separate pass */
	int32_t ordered; /* backward: dQ is summed in a fixed order */
	int32_t runs;    /* adjacent set blocks are traversed as a run of tokens, as under a full mask */
	int32_t section; /* key heads that run concurrently, so that shared data stays in the L2 cache */
	int64_t list_capacity;
	float scale;
	float scale_log2; /* scale * log2(e) */

	struct tensor q, k, v, o, grad_o, grad_q, grad_k, grad_v;
	float *lse;
	int64_t lse_head;
	const int32_t *cu_q, *cu_k; /* NULL: one sequence */
	const uint32_t *bits;

	/* workspace */
	struct tile *tiles;   /* [n_tiles], with blocks [nhk][n_tiles] */
	int32_t *list;        /* [list_capacity] inner block numbers, see list_block */
	int32_t *ranks;       /* [list_capacity] when ordered: key blocks in the same row of the mask that come before */
	int32_t *cursor;      /* [2] used entries of list; next item of a persistent grid, 0 after lists_build */
	int2 *slots;          /* [n_slots] tokens [x, y) of a slot, empty when unused */
	float2 *row_stats;    /* [nhq][n_slots * 64] LSE * log2(e), rowsum(dO * O); +inf, 0 for rows that are not computed */
	unsigned char *extra; /* memory specific to a stage, see struct stage */
	float *grad_q_sum;    /* [nhq][n_slots][64 * headdim] in the order of sum_fragment */
	int32_t *turns;       /* [nhq][n_slots] when ordered: additions to a slot's sum so far */
};

/**
 * A backward tile may cover two adjacent mask blocks: then the list contains every block that either of them sees, and two bits
 * above the number mark the one that does not.
 */
JOB_HD int32_t list_block(int32_t entry)
{
	return entry & 0x0fffffff;
}

JOB_HD int32_t list_missing_halves(int32_t entry)
{
	return entry >> 28 & 3;
}

/** Number of tokens of the outer side that share a list: a mask block, or a tile that covers two. */
JOB_HD int32_t job_list_rows(const struct job *job)
{
	return job->outer_rows > job->block ? job->outer_rows : job->block;
}

/** Bounds of one sequence. */
struct sequence {
	int32_t q, q_end, k, k_end;
};

JOB_HD int32_t ceil_div(int32_t a, int32_t b)
{
	return (a + b - 1) / b;
}

JOB_HD struct sequence sequence_of(const struct job *job, const int32_t *cu_q, const int32_t *cu_k, int32_t s)
{
	struct sequence r;
	r.q = cu_q ? cu_q[s] : 0;
	r.q_end = cu_q ? cu_q[s + 1] : job->total_q;
	r.k = cu_k ? cu_k[s] : 0;
	r.k_end = cu_k ? cu_k[s + 1] : job->total_k;
	return r;
}

/** Outer tiles of a sequence. */
JOB_HD int32_t sequence_tiles(const struct job *job, const struct sequence *r)
{
	return ceil_div(job->backward ? r->k_end - r->k : r->q_end - r->q, job->outer_rows);
}

/** First slot of sequence s: floor(q / 64) + s reserves a slot for every sequence's last, partly filled slot. */
JOB_HD int32_t sequence_first_slot(int32_t q, int32_t s)
{
	return q / JOB_STEP + s;
}

/** Outer tile `b` of sequence `s`, mask full or causal. */
JOB_HD struct tile tile_dense(const struct job *job, const struct sequence *r, int32_t s, int32_t b)
{
	struct tile t;
	t.order = b;
	t.diagonal = job->causal ? r->k_end - r->q_end : JOB_NO_DIAGONAL;
	if (!job->backward) {
		int32_t keys_end = r->k_end;
		t.first = r->q + b * job->outer_rows;
		t.end = t.first + job->outer_rows < r->q_end ? t.first + job->outer_rows : r->q_end;
		if (job->causal && t.end + t.diagonal < keys_end) /* the last row sees keys up to end - 1 + diagonal */
			keys_end = t.end + t.diagonal;
		t.inner = r->k;
		t.inner_end = r->k_end;
		t.steps = keys_end > r->k ? ceil_div(keys_end - r->k, JOB_STEP) : 0;
		t.slot = 0;
	} else {
		int32_t skipped = 0;
		t.first = r->k + b * job->outer_rows;
		t.end = t.first + job->outer_rows < r->k_end ? t.first + job->outer_rows : r->k_end;
		if (job->causal && t.first - t.diagonal > r->q) /* earlier rows see none of these keys */
			skipped = (t.first - t.diagonal - r->q) / JOB_STEP;
		t.inner = r->q + skipped * JOB_STEP;
		t.inner_end = r->q_end;
		t.steps = t.inner < r->q_end ? ceil_div(r->q_end - t.inner, JOB_STEP) : 0;
		t.slot = sequence_first_slot(r->q, s) + skipped;
	}
	return t;
}

/** Whether a step needs an element-wise mask: it crosses the diagonal or the end of the keys. */
JOB_HD int step_needs_mask(int32_t q, int32_t k, int32_t keys, int32_t diagonal, int32_t k_end)
{
	return k + keys > k_end || k + keys - 1 > q + diagonal;
}

/** The work of one thread block. */
struct place {
	int32_t kv_head, unit, tile;
};

/**
 * Item `i` of the grid: sections of key heads one after the other; inside a section tile by tile (longest first), all heads of
 * the section consecutively. `units`: thread blocks that share a tile of one key head.
 */
JOB_HD int job_place(const struct job *job, int32_t units, uint32_t i, struct place *place)
{
	uint32_t width = (uint32_t)(job->section * units), per_section = width * (uint32_t)job->n_tiles;
	uint32_t section = i / per_section, rest = i % per_section, column = rest % width;
	place->tile = (int32_t)(rest / width);
	place->kv_head = (int32_t)section * job->section + (int32_t)(column / (uint32_t)units);
	place->unit = (int32_t)(column % (uint32_t)units);
	return place->kv_head < job->nhk;
}

JOB_HD int64_t job_items(const struct job *job, int32_t units)
{
	return (int64_t)ceil_div(job->nhk, job->section) * job->section * units * job->n_tiles;
}

/** Number of forward thread blocks that share a tile of one key head. */
JOB_HD int32_t job_forward_units(const struct job *job)
{
	return ceil_div(job->group, job->heads);
}

/** Offset of fragment C of 16-row tile m, 8-column tile n in a slot's dQ sum. Units: floats; 4 per lane. */
JOB_HD int sum_fragment(int headdim, int m, int n, int lane)
{
	return ((m * (headdim / 8) + n) * 32 + lane) * 4;
}

/* Each launches one phase on the stream and returns the result of cudaGetLastError. */
cudaError_t lists_build(const struct job *job, cudaStream_t stream);     /* RANGE_MERGE: lists.cu */
cudaError_t rows_preprocess(const struct job *job, cudaStream_t stream); /* PREPROCESS: rows.cu */
cudaError_t rows_cast(const struct job *job, cudaStream_t stream);       /* CAST of v0 and v1: rows.cu */

#endif
