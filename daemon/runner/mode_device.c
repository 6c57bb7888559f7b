/*
 * mode_device.c - device probes. The health check fills a buffer with known numbers, sums it up, copies it and sums up the copy;
 * a CPU computed the expected sum once. Then two equal series of such fills alternate: equal work with different times means a
 * device unfit for comparisons.
 */
#include "runner/internal.h"

#include <math.h>
#include <time.h>

enum {
	ELEMENTS = 1 << 20,
	FILLS = 8,
	FILLS_QUEUED = 64, /* a GPU needs some 5 us for one fill, and its marks are half a microsecond apart at best */
	PAIRS = 16,
	TENSOR = 1,
	TAIL_PAIRS = 4,
	CLOCKS_SEPARATE_MS = 20
};

#define HEALTH_CHECK_SEED UINT64_C(20240229)
#define HEALTH_CHECK_SUM                                                                                                         \
	UINT64_C(0x38d646dab8dab0e8) /* of ELEMENTS bf16 of that seed and tensor, summed as by device_ops.checksum */
#define HEALTH_CHECK_WORK     1e8    /* FLOPs of a fill, on device sim */
#define HEALTH_CHECK_SEPARATE 0.02   /* median log ratio of equal work */

struct health_check {
	const struct msg_task *task;
	const struct device_ops *ops;
	struct device *dev;
	void *a, *b;
	bool lost;
};

static void read_device_check(struct health_check *c, int pass, struct msg_device_check *g)
{
	device_check_unknown(g);
	c->ops->device_check(c->dev, g);
	if (c->ops->kind != DEVICE_CUDA)
		c->lost |= device_check_script_apply(c->task->device_check_script,
			&(struct device_check_moment){ .at = DEVICE_CHECK_AT_HEALTH_CHECK, .run = c->task->run, .pass = pass },
			g);
}

static int check_sums(struct health_check *c, struct fw_err *err)
{
	uint64_t sum = 0, copied = 0;
	size_t bytes = ELEMENTS * sizeof(uint16_t);
	if (c->ops->alloc(c->dev, bytes, &c->a, err) != 0 || c->ops->alloc(c->dev, bytes, &c->b, err) != 0 ||
		c->ops->fill_inputs(c->dev, c->a, HEALTH_CHECK_SEED, TENSOR, ELEMENTS, err) != 0 ||
		c->ops->copy(c->dev, c->b, c->a, bytes, err) != 0 || c->ops->checksum(c->dev, c->a, bytes, &sum, err) != 0 ||
		c->ops->checksum(c->dev, c->b, bytes, &copied, err) != 0)
		return -1;
	if (sum != HEALTH_CHECK_SUM || copied != HEALTH_CHECK_SUM)
		return err_set(err, ERR_INVALID, "computed the sums %016llx and %016llx instead of %016llx",
			(unsigned long long)sum, (unsigned long long)copied, (unsigned long long)HEALTH_CHECK_SUM);
	return 0;
}

static int time_work(struct health_check *c, float *ms, struct fw_err *err)
{
	if (c->ops->scrub(c->dev, err) != 0 || c->ops->mark(c->dev, 0, err) != 0)
		return -1;
	for (int i = 0; i < (c->ops->queues ? FILLS_QUEUED : FILLS); i++) {
		if (c->ops->fill_inputs(c->dev, c->a, HEALTH_CHECK_SEED, TENSOR, ELEMENTS, err) != 0)
			return -1;
		if (c->ops->work)
			c->ops->work(c->dev, &(struct device_work){ .flops = HEALTH_CHECK_WORK });
	}
	if (c->ops->mark(c->dev, 1, err) != 0 || c->ops->wait(c->dev, err) != 0)
		return -1;
	*ms = c->ops->elapsed_ms(c->dev, 0, 1);
	return 0;
}

/* Time equal work as two sides, in the order of a comparison. `*separate`: the median log ratio. */
static int take_times(struct health_check *c, double *separate, struct fw_err *err)
{
	float ratio[PAIRS], ms[2];
	for (int i = 0; i < TAIL_PAIRS; i++)
		if (time_work(c, ms, err) != 0)
			return -1;
	for (int pair = 0; pair < PAIRS; pair++) {
		int first = (pair + 1) / 2 % 2;
		if (time_work(c, &ms[first], err) != 0 || time_work(c, &ms[!first], err) != 0)
			return -1;
		ratio[pair] = ms[0] > 0 && ms[1] > 0 ? (float)log((double)ms[1] / (double)ms[0]) : INFINITY;
	}
	*separate = stats_median(ratio, PAIRS);
	return 0;
}

static int try_device(struct health_check *c, struct msg_device_check *device_check, struct fw_err *err)
{
	struct msg_device_check after;
	char why[DEVICE_CHECK_WHY_SIZE];
	double separate = 0;
	read_device_check(c, 0, device_check);
	if (c->lost)
		return err_set(err, ERR_INVALID, "its context is lost");
	if (check_sums(c, err) != 0 || take_times(c, &separate, err) != 0)
		return -1;
	read_device_check(c, 1, &after);
	device_check_merge(device_check, &after);
	/* Another user of the device disturbs its times but does not make it unfit; a CPU always has other users. */
	bool shared = device_check->foreign > 0 || c->ops->kind == DEVICE_CPU;
	after = *device_check;
	after.foreign = 0;
	if (device_check_discards(&after, why))
		return err_set(err, ERR_INVALID, "%s", why);
	if (fabs(separate) > HEALTH_CHECK_SEPARATE && !shared)
		return err_set(err, ERR_INVALID, "times of equal work differ by %.2f %%", 100 * fabs(expm1(separate)));
	return 0;
}

int mode_health_check_run(const struct msg_task *task, struct records *records)
{
	struct health_check c = { .task = task };
	struct msg_state state = { .what = TASK_HEALTH_CHECK };
	struct fw_err err = { 0 };
	int index;
	device_check_unknown(&state.device_check);
	if (device_find(task->device, &c.ops, &index, &err) == 0 && c.ops->open(index, task->seed, &c.dev, &err) == 0) {
		state.ok = try_device(&c, &state.device_check, &err) == 0;
		c.ops->release(c.dev, c.a);
		c.ops->release(c.dev, c.b);
		c.ops->close(c.dev);
	}
	snprintf(state.detail, sizeof state.detail, "%.399s", err.text);
	record_send(records, &(struct msg){ .t = MSG_STATE, .u.state = state });
	return records->failed ? RUNNER_ERROR : 0;
}

int mode_device_read_run(const struct msg_task *task, struct records *records)
{
	struct device_check_moment now = { .run = task->run, .cell = -1, .pass = task->pass };
	struct msg_state state = { .what = task->mode };
	const struct device_ops *ops;
	struct fw_err err = { 0 };
	int index;
	now.at = task->mode == TASK_IDLE ? DEVICE_CHECK_AT_IDLE : DEVICE_CHECK_AT_TIME;
	device_check_unknown(&state.device_check);
	if (device_find(task->device, &ops, &index, &err) != 0) {
		snprintf(state.detail, sizeof state.detail, "%.399s", err.text);
	} else {
		if (ops->read_idle)
			ops->read_idle(index, &state.device_check, state.detail, sizeof state.detail);
		if (ops->kind != DEVICE_CUDA)
			device_check_script_apply(task->device_check_script, &now, &state.device_check);
		state.ok = state.device_check.foreign <= 0;
	}
	record_send(records, &(struct msg){ .t = MSG_STATE, .u.state = state });
	return records->failed ? RUNNER_ERROR : 0;
}

int mode_clocks_run(const struct msg_task *task, struct records *records)
{
	const struct timespec separate = { .tv_nsec = CLOCKS_SEPARATE_MS * 1000000L };
	const struct device_check_moment now = { .at = DEVICE_CHECK_AT_CLOCKS, .run = task->run, .cell = -1, .pass = task->pass };
	struct msg_state state = { .what = TASK_CLOCKS, .ok = true };
	const struct device_ops *ops;
	struct msg_device about;
	struct fw_err err = { 0 };
	int index;
	device_check_unknown(&state.device_check);
	if (device_find(task->device, &ops, &index, &err) != 0 || (ops->busy_mhz && ops->describe(index, &about, &err) != 0)) {
		fprintf(stderr, "flopwatch-runner: %s\n", err.text);
		return RUNNER_ERROR;
	}
	if (!ops->busy_mhz)
		device_check_script_apply(task->device_check_script, &now, &state.device_check);
	record_send(records, &(struct msg){ .t = MSG_STATE, .u.state = state });
	while (ops->busy_mhz && !records->failed) {
		nanosleep(&separate, NULL);
		state.device_check.sm_mhz = ops->busy_mhz(about.uuid);
		if (state.device_check.sm_mhz > 0)
			record_send(records, &(struct msg){ .t = MSG_STATE, .u.state = state });
	}
	return records->failed ? RUNNER_ERROR : 0;
}
