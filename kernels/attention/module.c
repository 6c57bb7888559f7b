/* Table of the providers of libattention.so. A library is built for one device. */
#include "attention/providers.h"
#include "common/module.h"

static const struct fw_provider *const providers[] = {
#ifdef ATTENTION_CUDA
	&attention_decode, /* first: it computes nothing but decoding */
	&attention_hopper,
	&attention_hopper_v2,
	&attention_hopper_v1,
	&attention_cudnn,
	&attention_hopper_v0,
#else
	&attention_cpu,
#endif
};

#ifdef ATTENTION_CUDA
MODULE("attention for CUDA");
#else
MODULE("attention for CPUs");
#endif
