/**
 * cluster.h - thread blocks that share loaded data: arrivals at each other's barriers, multicast loads, plain matrices.
 *
 * Maps are two-dimensional here: (column, row) of a row-major matrix, boxes at most 128 bytes wide, in the 128-byte swizzle.
 */
#ifndef HOPPER_CLUSTER_H
#define HOPPER_CLUSTER_H

#include "hopper/sm90.h"

SM90_DEVICE uint32_t cluster_rank()
{
	uint32_t rank;
	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return rank;
}

/** Synchronise all threads of all blocks of the cluster. */
SM90_DEVICE void cluster_sync()
{
	asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/**
 * Arrive at the barrier with this offset in block `rank` of the cluster. A thread that only reads needs no release at cluster
 * scope.
 */
SM90_DEVICE void cluster_barrier_arrive(uint32_t barrier, uint32_t rank)
{
	asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
		     "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
		     "r"(rank)
		     : "memory");
}

/** Load the box at (column, row); arrives on `barrier` with its bytes. */
SM90_DEVICE void cluster_load(uint32_t to, const CUtensorMap *map, uint32_t barrier, int column, int row)
{
	asm volatile(
		"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
			to),
		"l"(map), "r"(barrier), "r"(column), "r"(row)
		: "memory");
}

/**
 * Load the box into every block of `blocks` (one bit per rank), at the same shared-memory offset, on the barrier at the same
 * offset.
 */
SM90_DEVICE void cluster_load_shared(uint32_t to, const CUtensorMap *map, uint32_t barrier, int column, int row, uint16_t blocks)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
		     " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
		     "l"(map), "r"(barrier), "r"(column), "r"(row), "h"(blocks)
		     : "memory");
}

/** Store the box at (column, row), clipped to the matrix; belongs to the issuing thread's bulk group. */
SM90_DEVICE void cluster_store(const CUtensorMap *map, uint32_t from, int column, int row)
{
	asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from),
		     "r"(column), "r"(row)
		     : "memory");
}

#endif
