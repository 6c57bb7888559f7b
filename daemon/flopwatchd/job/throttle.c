/* throttle.c - void times count too: throttling is why they are void. */
#include "flopwatchd/job/job.h"

#include "db/db.h"
#include "protocol/protocol.h"

static double timed_s(const struct msg_cell *m)
{
	double ms = 0;
	for (int s = 0; s < m->n_subjects; s++)
		for (int i = 0; i < m->n; i++)
			ms += (double)m->ms[s][i];
	return ms / 1e3;
}

int judge_throttle(struct db *db, const struct result *r, int64_t device, struct fw_err *err)
{
	for (int k = 0; k < DEVICE_CHECK_REASONS; k++)
		for (int i = 0; device_check_reason[k].limits && i < r->n_cells; i++) {
			const struct msg_cell *m = r->cell[i];
			double seconds = m->device_check.reasons & device_check_reason[k].bit ? timed_s(m) : 0;
			int64_t own = result_device(r, m);
			if (seconds > 0 && store_throttle_add(db, own ? own : device, device_check_reason[k].name, seconds, err))
				return -1;
		}
	return 0;
}
