/** device_offset.h - how far the devices of a class lie from each other, by what each of them took for the same work. */
#ifndef CORE_STATS_DEVICE_OFFSET_H
#define CORE_STATS_DEVICE_OFFSET_H

/**
 * How much longer each device takes than its class does: the median over the cells that another of them timed as well. What a class
 * takes is the median of its devices; of two, which cannot outvote each other, it is the faster one, since what ails a device slows it.
 * Shape: ln_ms[n_cells][n_devices], NAN not timed; off[n_devices], NAN where nothing can be said. Units: log ratio of times.
 */
void device_offset_find(const double *ln_ms, int n_cells, int n_devices, double *off);

#endif
