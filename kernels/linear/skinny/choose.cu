/**
 * choose.cu - partition of a problem of provider "skinny" into blocks and clusters, and its launch.
 */
#include "linear/skinny/skinny.h"

#include <stdio.h>

static const void *kernel_of(const struct skinny_task *t)
{
	return t->format == FW_I4     ? skinny_kernel_i4(t)
	       : t->format == FW_I8   ? skinny_kernel_i8(t)
	       : t->format == FW_E4M3 ? skinny_kernel_e4m3(t)
				      : skinny_kernel_bf16(t);
}

/* Complete a shape of which tiles, warps_k, block_k and split are set. False: it is invalid or too large. */
static bool settle(struct skinny_task *t, int shared_bytes)
{
	struct skinny_shape *s = &t->shape;
	s->block_n = 16 * s->tiles * SKINNY_WARPS / s->warps_k;
	t->chunks = (t->k + s->block_k - 1) / s->block_k;
	if (s->split < 1 || s->split > SKINNY_SPLIT_MAX || (s->split & (s->split - 1)) || t->chunks < s->split || !kernel_of(t))
		return false;
	t->split_log2 = 0;
	while (1 << t->split_log2 < s->split)
		t->split_log2++;
	t->owned_log2 = 0;
	while (s->split << t->owned_log2 < s->block_n)
		t->owned_log2++;
	t->stage_bytes = skinny_stage_bytes(t);
	t->received_bytes = skinny_received_bytes(t);
	const int most = (t->chunks + s->split - 1) / s->split;
	const int blocks = skinny_blocks(skinny_rows(t->m), s->tiles);
	s->stages = 0;
	s->stages = (shared_bytes / blocks - (blocks - 1) * 1024 - skinny_shared_bytes(t)) / t->stage_bytes;
	if (s->stages > SKINNY_STAGES_MAX)
		s->stages = SKINNY_STAGES_MAX;
	if (s->stages > most)
		s->stages = most;
	return s->stages >= 2 || s->stages == most;
}

/* Launch configuration for a grid of clusters. Own: the caller owns attributes, which must have two elements. */
static cudaLaunchConfig_t launch_of(const struct skinny_task *t, cudaLaunchAttribute attributes[2], bool may_overlap)
{
	memset(attributes, 0, 2 * sizeof attributes[0]);
	attributes[0].id = cudaLaunchAttributeClusterDimension;
	attributes[0].val.clusterDim.x = (unsigned)t->shape.split;
	attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
	attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attributes[1].val.programmaticStreamSerializationAllowed = 1;
	cudaLaunchConfig_t launch;
	memset(&launch, 0, sizeof launch);
	launch.gridDim = dim3((unsigned)((t->n + t->shape.block_n - 1) / t->shape.block_n * t->shape.split));
	launch.blockDim = dim3(SKINNY_THREADS);
	launch.dynamicSmemBytes = (size_t)skinny_shared_bytes(t);
	launch.attrs = attributes;
	launch.numAttrs = may_overlap ? 2 : 1;
	return launch;
}

/*
 * Allow the kernel of this shape its shared memory. False: it cannot run on this device with this shape. Shape: *clusters
 * resident at a time.
 */
static bool allow(const struct skinny_task *t, int *clusters)
{
	cudaLaunchAttribute attributes[2];
	const cudaLaunchConfig_t launch = launch_of(t, attributes, false);
	const void *const kernel = kernel_of(t);
	const bool can = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, skinny_shared_bytes(t)) ==
				 cudaSuccess &&
			 cudaOccupancyMaxActiveClusters(clusters, kernel, &launch) == cudaSuccess && *clusters > 0;
	if (!can)
		(void)cudaGetLastError();
	return can;
}

/*
 * How many elements of W the busiest multiprocessor reads, and whether all blocks are resident at once; 0: the shape cannot run
 * here.
 */
static int64_t busiest(struct skinny_task *t, int shared_bytes, bool *is_at_once)
{
	int clusters = 0;
	*is_at_once = false;
	if (!settle(t, shared_bytes) || !allow(t, &clusters))
		return 0;
	const struct skinny_shape *s = &t->shape;
	const int64_t at_a_time = clusters / skinny_blocks(skinny_rows(t->m), s->tiles) > 1
					  ? clusters / skinny_blocks(skinny_rows(t->m), s->tiles)
					  : 1;
	const int64_t tiles = (t->n + s->block_n - 1) / s->block_n;
	*is_at_once = tiles <= clusters;
	return (tiles + at_a_time - 1) / at_a_time * s->block_n * ((t->chunks + s->split - 1) / s->split) * s->block_k;
}

/*
 * Whether a cluster of two, in which each block reads as much as before, is better. If all blocks are resident at once, two on a
 * multiprocessor, the end of one overlaps with the middle of the other. Measured for deep chunks; with shallow ones the cluster
 * costs more.
 */
static bool fills_up(const struct skinny_task *t, int split_before, bool is_at_once)
{
	return is_at_once && t->shape.block_k == 512 && split_before == 1 && t->shape.split == 2 &&
	       skinny_blocks(skinny_rows(t->m), t->shape.tiles) > 1;
}

bool skinny_choose(struct skinny_task *t, const char *config, int shared_bytes)
{
	/* tiles, warps_k, block_n (computed), block_k; measured, by the number of rows of X */
	static const struct skinny_shape wide[] = { { 2, 8, 0, 512 }, { 1, 4, 0, 256 } };
	static const struct skinny_shape narrow[] = { { 1, 4, 0, 256 }, { 1, 2, 0, 128 } };
	struct skinny_shape *const s = &t->shape;
	struct skinny_shape best = *s;
	bool is_at_once;
	if (config) {
		int used = 0;
		const int read = sscanf(config, "TILES=%d WARPS_K=%d BLOCK_K=%d SPLIT=%d%n", &s->tiles, &s->warps_k, &s->block_k,
			&s->split, &used);
		return read == 4 && config[used] == '\0' && s->warps_k >= 1 && s->warps_k <= SKINNY_WARPS && s->tiles >= 1 &&
		       s->block_k >= 64 && busiest(t, shared_bytes, &is_at_once) > 0;
	}
	const int rows = skinny_rows(t->m);
	const bool is_wide = t->format != FW_BF16 && (rows == 16 || (t->format == FW_I4 && rows <= 32));
	const struct skinny_shape *const shapes = is_wide ? wide : narrow;
	int64_t least = 0;
	for (int i = 0; i < 2; i++)
		for (int split = 1; split <= SKINNY_SPLIT_MAX; split *= 2) {
			*s = shapes[i];
			s->split = split;
			const int64_t elements = busiest(t, shared_bytes, &is_at_once);
			const bool is_less = least == 0 || 6 * elements < 5 * least; /* the reduction in a cluster has a cost */
			if (elements > 0 && (is_less || (elements == least && fills_up(t, best.split, is_at_once)))) {
				least = elements;
				best = *s;
			}
		}
	*s = best;
	return least > 0 && busiest(t, shared_bytes, &is_at_once) > 0;
}

cudaError_t skinny_launch(const struct skinny_task *task, bool may_overlap, cudaStream_t stream)
{
	cudaLaunchAttribute attributes[2];
	cudaLaunchConfig_t launch = launch_of(task, attributes, may_overlap);
	void *arguments[] = { (void *)task };
	launch.stream = stream;
	const cudaError_t launched = cudaLaunchKernelExC(&launch, kernel_of(task), arguments);
	const cudaError_t last = cudaGetLastError();
	return launched != cudaSuccess ? launched : last;
}
