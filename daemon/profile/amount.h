/** amount.h - one metric of one kernel on both sides, with the difference of equal processes, and its text. */
#ifndef PROFILE_AMOUNT_H
#define PROFILE_AMOUNT_H

#include "profile/pairing.h"

struct amount {
	bool is_known;              /* on both sides */
	double base, target, noise; /* means of the processes; the larger difference within one side */
};

/** Return a value of one kernel; NAN if missing, negative or no number. */
double amount_value(const struct cause_kernel *k, const char *metric);
struct amount amount_of(const struct kernel_pair *p, const char *metric);
/** Sum the known ones of some metrics. Shape: metric[] ends with NULL. */
struct amount amount_sum(const struct kernel_pair *p, const char *const metric[]);
/**
 * Return whether it changed by more than three times its noise, or three times `floor` (a share of the larger value) if that is
 * more.
 */
bool amount_differs(const struct amount *a, double floor);

enum { AMOUNT_SIZE = 120 };

/** Format "1.24 M", "12". Shape: out[AMOUNT_SIZE], as below. */
void amount_count(double n, char *out);
/** Format "1.24 GB". */
void amount_bytes(double bytes, char *out);
/** Format "12 % more tensor instructions (1.34 M instead of 1.20 M)", "3.0 times the ...", "2.1 M ... instead of none". */
void amount_more(double base, double target, const char *noun, char *out);

#endif
