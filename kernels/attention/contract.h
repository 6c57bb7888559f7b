/**
 * contract.h - what every attention provider needs beside common/contract.h: the sizes of a problem.
 */
#ifndef ATTENTION_CONTRACT_H
#define ATTENTION_CONTRACT_H

#include "common/contract.h"
#include "fw_attention.h"

/** The sizes of a problem. The caller's struct may be older and shorter: what it leaves out reads as 0. */
static inline struct fw_attention contract_attention(const struct fw_problem *problem)
{
	struct fw_attention a;
	const struct fw_attention *given = fw_attention_of(problem);
	memset(&a, 0, sizeof a);
	memcpy(&a, given, given->struct_size < sizeof a ? given->struct_size : sizeof a);
	return a;
}

#endif
