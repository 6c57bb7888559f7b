/* Reports unusable search results: invalid times, an invalid configuration, and more text than is read. */
#include <math.h>

#include "kernels/fw_kernel.h"

static void boast(struct fw_info *info)
{
	static struct fw_candidate many[5000];
	for (int i = 0; i < 5000; i++)
		many[i] = (struct fw_candidate){ "\033[31mTILE", 2 + i };
	many[0] = (struct fw_candidate){ "NOT_A_NUMBER", NAN };
	many[1] = (struct fw_candidate){ "BEFORE_IT_BEGAN", -3 };
	many[2] = (struct fw_candidate){ "FOR_EVER", INFINITY };
	many[3] = (struct fw_candidate){ NULL, 1 };
	info->candidate = many;
	info->n_candidates = UINT64_MAX;
}

#define TELL(info, config) boast(info)
#include "good.c"
