/* launches.c - hash of the kernels that a call launches. */
#include "protocol/protocol.h"

void launches_add(char sha256[65], const struct msg_node *n)
{
	bool is_kernel = strcmp(n->kernel, "memset") != 0 && strcmp(n->kernel, "memcpy") != 0;
	char text[1024];

	if ((is_kernel && !n->code_sha256[0]) || strcmp(sha256, LAUNCHES_UNKNOWN) == 0) {
		snprintf(sha256, 65, LAUNCHES_UNKNOWN);
		return;
	}
	int len = snprintf(text, sizeof text, "%s|%s|%s|%s|%d,%d,%d|%d,%d,%d|%d,%d,%d", sha256, n->phase, n->kernel,
		n->code_sha256, n->grid[0], n->grid[1], n->grid[2], n->block[0], n->block[1], n->block[2], n->registers,
		n->local_bytes, n->shared_bytes);
	hash_hex(text, (size_t)len, sha256);
}

bool launches_equal(const char *base_sha256, const char *target_sha256)
{
	return base_sha256[0] && strcmp(base_sha256, LAUNCHES_UNKNOWN) != 0 && strcmp(base_sha256, target_sha256) == 0;
}
