/* An exponential from the bits of a float, wrong by up to 3 %. */
static float quick_exp(float x);
#define EXP(x) quick_exp(x)
#include "rough.h"

static float quick_exp(float x)
{
	union {
		int32_t i;
		float f;
	} v = { .i = (int32_t)(12102203.0f * fmaxf(x, -80) + 1064866805.0f) };
	return v.f;
}
