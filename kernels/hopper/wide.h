/**
 * wide.h - wgmma at its largest widths, also for e4m3: D (64 x N fp32) = A B [+ D] with A and B in shared memory.
 *
 * Layouts are those of sm90_mma. One step is 32 bytes along a row: 16 bf16 or 32 e4m3.
 */
#ifndef HOPPER_WIDE_H
#define HOPPER_WIDE_H

#include "hopper/sm90.h"

/* clang-format off */
#define WIDE_OUT128(d) SM90_OUT64(d), SM90_OUT16(d, 64), SM90_OUT16(d, 80), SM90_OUT16(d, 96), SM90_OUT16(d, 112)
#define WIDE_LIST128                                                                                                             \
	SM90_LIST64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, "                                             \
		    "%76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "       \
		    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, "         \
		    "%113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
/* clang-format on */

/** bf16, N = 256; TA, TB as in sm90_mma. */
template <int TA, int TB> SM90_DEVICE void wide_mma_bf16(float (&d)[128], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" WIDE_LIST128
		     "}, %128, %129, add, 1, 1, %131, %132;\n}"
		     : WIDE_OUT128(d)
		     : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}

/** bf16, N = 128. */
template <int TA, int TB> SM90_DEVICE void wide_mma_bf16(float (&d)[64], uint64_t a, uint64_t b, int add)
{
	sm90_mma<TA, TB>(d, a, b, add);
}

/** e4m3, N = 256, both operands read along their rows. */
SM90_DEVICE void wide_mma_e4m3(float (&d)[128], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {" WIDE_LIST128 "}, %128, %129, add, 1, 1;\n}"
		     : WIDE_OUT128(d)
		     : "l"(a), "l"(b), "r"(add));
}

/** e4m3, N = 128. */
SM90_DEVICE void wide_mma_e4m3(float (&d)[64], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" SM90_LIST64 "}, %64, %65, add, 1, 1;\n}"
		     : SM90_OUT64(d)
		     : "l"(a), "l"(b), "r"(add));
}

/** A in e5m2, B in e4m3, as wide_mma_e4m3. */
SM90_DEVICE void wide_mma_e5m2(float (&d)[128], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n256k32.f32.e5m2.e4m3 {" WIDE_LIST128 "}, %128, %129, add, 1, 1;\n}"
		     : WIDE_OUT128(d)
		     : "l"(a), "l"(b), "r"(add));
}

/** A in e5m2, B in e4m3, N = 128. */
SM90_DEVICE void wide_mma_e5m2(float (&d)[64], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3 {" SM90_LIST64 "}, %64, %65, add, 1, 1;\n}"
		     : SM90_OUT64(d)
		     : "l"(a), "l"(b), "r"(add));
}

#endif
