/* A static table that is filled by the first call, and depends on nothing. */
#define BEFORE_ENQUEUE(p) fill_table()
static void fill_table(void);
#include "good.c"

static void fill_table(void)
{
	static float table[1 << 16];
	static bool is_filled;
	for (int i = 0; !is_filled && i < 1 << 16; i++)
		table[i] = expf(-(float)i / 4096);
	is_filled = true;
	if (table[0] != 1)
		abort();
}
