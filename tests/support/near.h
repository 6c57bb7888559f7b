/* Numbers that have to be close to each other. */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

static inline void near(double value, double wanted, double error)
{
	if (!(fabs(value - wanted) <= error))
		fail_msg("%.12g is not %.12g +- %g", value, wanted, error);
}

#endif
