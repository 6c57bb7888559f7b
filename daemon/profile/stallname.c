/* stallname.c - table of names. */
#include "profile/profile.h"

#include <stdio.h>

static const struct {
	const char *sampled, *counted;
} renamed[] = { { "warpgroup_arrive", "gmma" }, { "no_instructions", "no_instruction" } };

bool stallname_of_sample(const char *sampled, char *out)
{
	static const char prefix[] = "smsp__pcsamp_warps_issue_stalled_", part[] = "_not_issued";
	size_t len;

	if (strncmp(sampled, prefix, sizeof prefix - 1) != 0)
		return false;
	sampled += sizeof prefix - 1;
	len = strlen(sampled);
	if (len == 0 || len >= STALLNAME_SIZE || (len >= sizeof part && strcmp(sampled + len - (sizeof part - 1), part) == 0))
		return false;
	for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
		if (strcmp(sampled, renamed[i].sampled) == 0)
			sampled = renamed[i].counted;
	snprintf(out, STALLNAME_SIZE, "%s", sampled);
	return true;
}
