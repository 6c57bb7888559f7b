/* device_offset.c - medians over a device class. */
#include "stats/stats.h"

#include <math.h>

/* Time of the class for one cell; NAN: fewer than two devices have timed it. */
static double class_time(const double *cell, int n_devices, double *scratch)
{
	int n = 0;
	for (int i = 0; i < n_devices; i++)
		if (isfinite(cell[i]))
			scratch[n++] = cell[i];
	return n < 2 ? NAN : n == 2 ? fmin(scratch[0], scratch[1]) : median_of(scratch, n);
}

void device_offset_find(const double *ln_ms, int n_cells, int n_devices, double *off)
{
	double *scratch = calloc((size_t)n_devices + (size_t)n_cells * 2 + 1, sizeof *scratch);
	double *class = scratch ? scratch + n_devices : NULL, *of_device = scratch ? class + n_cells : NULL;
	for (int i = 0; i < n_devices; i++)
		off[i] = NAN;
	for (int c = 0; scratch && c < n_cells; c++)
		class[c] = class_time(ln_ms + (size_t)c * (size_t)n_devices, n_devices, scratch);
	for (int i = 0; scratch && i < n_devices; i++) {
		int n = 0;
		for (int c = 0; c < n_cells; c++) {
			double d = ln_ms[(size_t)c * (size_t)n_devices + (size_t)i] - class[c];
			if (isfinite(d))
				of_device[n++] = d;
		}
		off[i] = n ? median_of(of_device, n) : NAN;
	}
	free(scratch);
}
