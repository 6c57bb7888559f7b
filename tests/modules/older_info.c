/* Like a library of an earlier header: its fw_info ends with config, as its size states. The memory after it is not its own. */
#include <string.h>

#include "kernels/fw_kernel.h"

static void answer_shorter(struct fw_info *info)
{
	struct fw_info whole = *info;
	const size_t ends = offsetof(struct fw_info, candidate);
	memset(info, 0x5a, sizeof *info);
	memcpy(info, &whole, ends);
	info->struct_size = (uint32_t)ends;
}

#define TELL(info, config) answer_shorter(info)
#include "good.c"
