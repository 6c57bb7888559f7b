/** device_offset.h - offset of a device's times within its class, from times of the same work. */
#ifndef STATS_DEVICE_OFFSET_H
#define STATS_DEVICE_OFFSET_H

/**
 * Compute each device's time relative to its class: the median over the cells that another device timed as well. The class time
 * is the median of its devices; with two, the faster one, since faults make a device slower. Shape: ln_ms[n_cells][n_devices],
 * NAN not timed; off[n_devices], NAN unknown. Units: log ratio of times.
 */
void device_offset_find(const double *ln_ms, int n_cells, int n_devices, double *off);

#endif
