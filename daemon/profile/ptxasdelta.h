/**
 * ptxasdelta.h - diagnostics of ptxas that only one of two builds has, function by function.
 *
 * Nothing is concluded from missing text: in a truncated log no diagnostic counts as missing, and registers and spills are
 * compared only if both builds printed them.
 */
#ifndef PROFILE_PTXASDELTA_H
#define PROFILE_PTXASDELTA_H

#include "profile/ptxaslog.h"
#include "profile/symbolname.h"

enum { PTXASDELTA_WHAT_SIZE = 200, PTXASDELTA_MAX = 256 };

enum ptxas_change_how { PTXAS_NEW, PTXAS_MORE, PTXAS_FEWER, PTXAS_GONE, PTXAS_CHANGES };

/** "new" "more" "fewer" "gone". Shape: ends with NULL. */
extern const char *const ptxas_change_names[PTXAS_CHANGES + 1];

struct ptxas_change {
	enum ptxas_change_how how;
	enum ptxas_kind kind;
	char code[8];                 /* "C7512"; "" none */
	char kernel[SYMBOLNAME_SIZE]; /* readable name; "" if the line names none */
	int architecture;             /* 90 for sm_90a; 0 unknown */
	char what
		[PTXASDELTA_WHAT_SIZE]; /* "wgmma is serialised for want of registers", "spills of 104 bytes by stores and ..." */
};

/**
 * List serial products first, then setmaxnreg, spills and others; regressions before improvements. Returns their number. Shape:
 * out[room].
 */
size_t ptxasdelta(const struct ptxaslog *base, const struct ptxaslog *target, struct ptxas_change *out, size_t room);

#endif
