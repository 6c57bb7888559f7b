/* Built against the header of ABI 1, which the runner must still support: sizes behind a separate pointer, nothing after them. */
#include "tests/data/abi1/fw_kernel.h"
#define ATTENTION_OF(problem) ((problem)->attention)
#define SERVES(host_abi)      ((host_abi) == FW_ABI)
#define CANNOT                (problem->linear != NULL || problem->struct_size != sizeof *problem || a->struct_size != sizeof *a)
#include "good.c"
