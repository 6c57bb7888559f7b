/* counters.c - all steps of mode profile with one metric; each may fail if privileges are missing. */
#include "runner/internal.h"

enum { RANGES_MAX = 8 };

static int count(const struct device_ops *ops, struct device *dev, struct counter *c, struct fw_err *err)
{
	int driver_index = 0;
	void *context = ops->context ? ops->context(dev, &driver_index) : NULL;
	if (!context)
		return err_set(err, ERR_UNSUPPORTED, "device %s has no counters", device_kind_name(ops->kind));
	if (counter_open(c, context, driver_index, RANGES_MAX, metric_names, 1, err) != 0)
		return -1;
	while (!c->is_done)
		if (counter_begin(c, err) != 0 || ops->stamp(dev, 0, 1, err) != 0 || ops->wait(dev, err) != 0 ||
			counter_end(c, err) != 0)
			return -1;
	if (counter_decode(c, err) != 0)
		return -1;
	return c->ranges > 0 ? 0 : err_set(err, ERR_UNSUPPORTED, "the GPU counted nothing where a kernel ran");
}

void counters_try(const struct device_ops *ops, struct device *dev, struct msg_profile *out)
{
	struct counter c = { 0 };
	struct fw_err err = { 0 };
	int result = count(ops, dev, &c, &err);
	*out = (struct msg_profile){ .path = result == 0 ? EVIDENCE_RANGE : EVIDENCE_CODE, .passes = result == 0 ? c.made : 0 };
	snprintf(out->why, sizeof out->why, "%.399s", result == 0 ? "" : err.text);
	if (c.cupti)
		cupti_name(c.cupti, out->tool, sizeof out->tool);
	counter_close(&c);
}

int mode_counters_run(const char *device)
{
	const struct device_ops *ops;
	struct device *dev = NULL;
	struct fw_err err = { 0 };
	struct msg m = { .t = MSG_PROFILE, .u.profile = { .path = EVIDENCE_CODE } };
	struct buf line;
	int index;
	if (device_find(device ? device : "cuda:0", &ops, &index, &err) != 0 || ops->open(index, 0, &dev, &err) != 0) {
		snprintf(m.u.profile.why, sizeof m.u.profile.why, "%.399s", err.text);
	} else {
		counters_try(ops, dev, &m.u.profile);
		ops->close(dev);
	}
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &m);
	int status = !line.failed && fwrite(line.data, 1, line.len, stdout) == line.len && fflush(stdout) == 0 ? 0 : 1;
	buf_fini(&line);
	return status;
}
