/* Built against the header of ABI 1, by which it must still be driven: sizes behind a pointer of their own, nothing behind the other. */
#include "tests/data/abi1/fw_kernel.h"
#define ATTENTION_OF(problem) ((problem)->attention)
#define SERVES(host_abi)      ((host_abi) == FW_ABI)
#define CANNOT                (problem->linear != NULL || problem->struct_size != sizeof *problem || a->struct_size != sizeof *a)
#include "good.c"
