/* Repeats a call one to four times, varying, and reports the count; calls once where the worker requests that. */
#include "unusual.h"

int main(void)
{
	unsigned wild = (unsigned)getpid();

	FLOPWATCH("repeats", 1e6, 0)
	{
		int slot = flopwatch_cell.issued % FLOPWATCH_SLOTS, n;
		int64_t begin = flopwatch_ns();

		wild = wild * 1664525u + 1013904223u;
		n = flopwatch_cell.is_single ? 1 : 1 + (int)(wild >> 30);
		for (int i = 0; i < n; i++)
			do_work(3000);
		flopwatch_cell.reported_ms[slot] = (double)(flopwatch_ns() - begin) * 1e-6 / n;
		flopwatch_cell.repeats[slot] = n;
	}
	return 0;
}
