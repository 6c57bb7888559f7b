/* meter.c - readings of the energy counter. */
#include "runner/internal.h"

#define BETWEEN_US 8e3 /* between two readings: one takes 3 to 7 ms of the host, which has calls to queue */

void meter_read(struct meter *m, const struct device_ops *ops, struct device *dev)
{
	double now_us = ops->host_us(dev);
	if (!ops->energy_j || (m->last_j >= 0 && now_us < m->read_us + BETWEEN_US))
		return;
	double now_j = ops->energy_j(dev), between_us = (m->read_us + now_us) / 2; /* a step lies between two readings */
	if (now_j > m->last_j && m->last_j >= 0) {
		if (m->steps++ == 0) {
			m->first_us = between_us;
			m->first_j = now_j;
		}
		m->end_us = between_us;
		m->end_j = now_j;
	}
	m->last_j = now_j;
	m->read_us = ops->host_us(dev);
}

double meter_power_w(const struct meter *m)
{
	return m->steps > 1 && m->end_us > m->first_us ? (m->end_j - m->first_j) / (m->end_us - m->first_us) * 1e6 : 0;
}
