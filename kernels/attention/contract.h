/**
 * contract.h - reads the sizes of an attention problem, for all attention providers. See also common/contract.h.
 */
#ifndef ATTENTION_CONTRACT_H
#define ATTENTION_CONTRACT_H

#include "common/contract.h"
#include "fw_attention.h"

/** Copy the sizes of a problem. The caller's struct may be older and shorter: missing fields are 0. */
static inline struct fw_attention contract_attention(const struct fw_problem *problem)
{
	struct fw_attention a;
	const struct fw_attention *given = fw_attention_of(problem);
	memset(&a, 0, sizeof a);
	memcpy(&a, given, given->struct_size < sizeof a ? given->struct_size : sizeof a);
	return a;
}

#endif
