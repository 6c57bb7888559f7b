/* counter.c - CUPTI's range profiler in user replay mode. Any of its calls may fail if privileges are missing. */
#include "runner/internal.h"

/* ---- schedule: All metrics are added in one call, since separate calls would need several times as many replays. ---- */

static bool has_metric(const struct schedule *s, const char *name)
{
	struct cupti_metric m = { .size = CUPTI_SIZE(struct cupti_metric, type), .host = s->host, .name = name };
	return s->cupti->metric(&m) == 0;
}

static int make_config(struct schedule *s, struct fw_err *err)
{
	struct cupti_metrics add = {
		.size = CUPTI_SIZE(struct cupti_metrics, n), .host = s->host, .names = s->name, .n = s->n_names
	};
	if (cupti_check(s->cupti->add_metrics(&add), "cuptiProfilerHostConfigAddMetrics", err) != 0)
		return -1;
	struct cupti_config_size size = { .size = CUPTI_SIZE(struct cupti_config_size, image_bytes), .host = s->host };
	if (cupti_check(s->cupti->config_size(&size), "cuptiProfilerHostGetConfigImageSize", err) != 0)
		return -1;
	s->config_bytes = size.image_bytes;
	s->config = calloc(1, s->config_bytes + 1);
	if (!s->config)
		return err_set(err, ERR_FULL, "no memory for a configuration of %zu bytes", s->config_bytes);
	struct cupti_config config = { .size = CUPTI_SIZE(struct cupti_config, image),
		.host = s->host,
		.image_bytes = s->config_bytes,
		.image = s->config };
	if (cupti_check(s->cupti->config(&config), "cuptiProfilerHostGetConfigImage", err) != 0)
		return -1;
	struct cupti_passes passes = {
		.size = CUPTI_SIZE(struct cupti_passes, n), .image_bytes = s->config_bytes, .image = s->config
	};
	if (cupti_check(s->cupti->passes(&passes), "cuptiProfilerHostGetNumOfPasses", err) != 0)
		return -1;
	s->passes = (int)passes.n;
	return 0;
}

int schedule_open(struct schedule *s, const struct cupti *cupti, const char *chip, const uint8_t *availability,
	const char *const *name, size_t n, struct fw_err *err)
{
	struct cupti_host open = { .size = CUPTI_SIZE(struct cupti_host, host),
		.type = CUPTI_RANGE_PROFILER,
		.chip = chip,
		.availability = availability };
	*s = (struct schedule){ .cupti = cupti };
	if (cupti_check(cupti->host_open(&open), "cuptiProfilerHostInitialize", err) != 0)
		return -1;
	s->host = open.host;
	s->name = mem_alloc_zero(n + 1, sizeof *s->name);
	for (size_t i = 0; i < n; i++)
		if (has_metric(s, name[i]))
			s->name[s->n_names++] = name[i];
	if (s->n_names == 0)
		return err_set(err, ERR_UNSUPPORTED, "%s has none of the counters", chip);
	return make_config(s, err);
}

void schedule_close(struct schedule *s)
{
	if (s->host) {
		struct cupti_host_end end = { .size = CUPTI_SIZE(struct cupti_host_end, host), .host = s->host };
		(void)s->cupti->host_close(&end); /* the configuration was copied */
	}
	free(s->name);
	free(s->config);
	*s = (struct schedule){ 0 };
}

/* ---- counter ---- */

enum { REPLAYS_MAX = 100 }; /* more than any set of counters needs */

static int read_availability(struct counter *c, void *context, struct fw_err *err)
{
	struct cupti_availability a = { .size = CUPTI_SIZE(struct cupti_availability, image), .context = context };
	if (cupti_check(c->cupti->availability(&a), "cuptiProfilerGetCounterAvailability", err) != 0)
		return -1;
	c->availability = calloc(1, a.image_bytes + 1);
	if (!c->availability)
		return err_set(err, ERR_FULL, "no memory for the list of counters");
	a.image = c->availability;
	return cupti_check(c->cupti->availability(&a), "cuptiProfilerGetCounterAvailability", err);
}

/* Create the image into which CUPTI decodes values. */
static int make_image(struct counter *c, size_t ranges_max, struct fw_err *err)
{
	struct cupti_counter_size size = { .size = CUPTI_SIZE(struct cupti_counter_size, image_bytes),
		.profiler = c->profiler,
		.names = c->schedule.name,
		.n = c->schedule.n_names,
		.ranges_max = ranges_max,
		.nodes_max = (uint32_t)ranges_max };
	if (cupti_check(c->cupti->counter_size(&size), "cuptiRangeProfilerGetCounterDataSize", err) != 0)
		return -1;
	c->image_bytes = size.image_bytes;
	c->image = calloc(1, c->image_bytes + 1);
	if (!c->image)
		return err_set(err, ERR_FULL, "no memory for counters of %zu ranges (%zu bytes)", ranges_max, c->image_bytes);
	struct cupti_counter_image image = { .size = CUPTI_SIZE(struct cupti_counter_image, image),
		.profiler = c->profiler,
		.image_bytes = c->image_bytes,
		.image = c->image };
	return cupti_check(c->cupti->counter_image(&image), "cuptiRangeProfilerCounterDataImageInitialize", err);
}

static int set(struct counter *c, size_t ranges_max, struct fw_err *err)
{
	struct cupti_setting setting = { .size = CUPTI_SIZE(struct cupti_setting, level),
		.profiler = c->profiler,
		.config_bytes = c->schedule.config_bytes,
		.config = c->schedule.config,
		.image_bytes = c->image_bytes,
		.image = c->image,
		.range = CUPTI_AUTO_RANGE,
		.replay = CUPTI_USER_REPLAY,
		.ranges_max = ranges_max,
		.levels = 1,
		.level_min = 1,
		.level = 1 };
	return cupti_check(c->cupti->set(&setting), "cuptiRangeProfilerSetConfig", err);
}

int counter_open(
	struct counter *c, void *context, int device, size_t ranges_max, const char *const *name, size_t n, struct fw_err *err)
{
	struct cupti_plain plain = { .size = CUPTI_SIZE(struct cupti_plain, none) };
	struct cupti_chip chip = { .size = CUPTI_SIZE(struct cupti_chip, chip), .device = (size_t)device };
	*c = (struct counter){ 0 };
	if (cupti_open(&c->cupti, err) != 0)
		return -1;
	if (cupti_check(c->cupti->initialize(&plain), "cuptiProfilerInitialize", err) != 0)
		return -1;
	c->is_initialized = true;
	if (cupti_check(c->cupti->chip(&chip), "cuptiDeviceGetChipName", err) != 0)
		return -1;
	if (read_availability(c, context, err) != 0 ||
		schedule_open(&c->schedule, c->cupti, chip.chip, c->availability, name, n, err) != 0)
		return -1;
	struct cupti_enable enable = { .size = CUPTI_SIZE(struct cupti_enable, profiler), .context = context };
	if (cupti_check(c->cupti->enable(&enable), "cuptiRangeProfilerEnable", err) != 0)
		return -1;
	c->profiler = enable.profiler;
	return make_image(c, ranges_max, err) == 0 && set(c, ranges_max, err) == 0 ? 0 : -1;
}

static int call_cupti(struct counter *c, int (*function)(struct cupti_on *), const char *name, struct fw_err *err)
{
	struct cupti_on on = { .size = CUPTI_SIZE(struct cupti_on, profiler), .profiler = c->profiler };
	return cupti_check(function(&on), name, err);
}

int counter_begin(struct counter *c, struct fw_err *err)
{
	if (c->made++ == REPLAYS_MAX)
		return err_set(err, ERR_UNSUPPORTED, "counters are not complete after %d replays of the call", REPLAYS_MAX);
	return call_cupti(c, c->cupti->start, "cuptiRangeProfilerStart", err);
}

int counter_end(struct counter *c, struct fw_err *err)
{
	struct cupti_stop stop = { .size = CUPTI_SIZE(struct cupti_stop, is_last), .profiler = c->profiler };
	if (cupti_check(c->cupti->stop(&stop), "cuptiRangeProfilerStop", err) != 0)
		return -1;
	c->is_done = stop.is_last != 0;
	return 0;
}

int counter_decode(struct counter *c, struct fw_err *err)
{
	struct cupti_decode decode = { .size = CUPTI_SIZE(struct cupti_decode, dropped), .profiler = c->profiler };
	if (cupti_check(c->cupti->decode(&decode), "cuptiRangeProfilerDecodeData", err) != 0)
		return -1;
	if (decode.dropped > 0)
		return err_set(err, ERR_UNSUPPORTED,
			"counters of %zu kernels were dropped: the call launches more kernels than the counted ones",
			decode.dropped);
	struct cupti_info info = {
		.size = CUPTI_SIZE(struct cupti_info, ranges), .image = c->image, .image_bytes = c->image_bytes
	};
	if (cupti_check(c->cupti->info(&info), "cuptiRangeProfilerGetCounterDataInfo", err) != 0)
		return -1;
	c->ranges = info.ranges;
	return 0;
}

int counter_read(const struct counter *c, size_t i, double *value, struct fw_err *err)
{
	struct cupti_values values = { .size = CUPTI_SIZE(struct cupti_values, value),
		.host = c->schedule.host,
		.image = c->image,
		.image_bytes = c->image_bytes,
		.range = i,
		.names = c->schedule.name,
		.n = c->schedule.n_names,
		.value = value };
	return cupti_check(c->cupti->values(&values), "cuptiProfilerHostEvaluateToGpuValues", err);
}

void counter_close(struct counter *c)
{
	struct fw_err ignored = { 0 };
	struct cupti_plain plain = { .size = CUPTI_SIZE(struct cupti_plain, none) };
	if (c->profiler)
		(void)call_cupti(c, c->cupti->disable, "cuptiRangeProfilerDisable", &ignored); /* earlier values stay valid */
	schedule_close(&c->schedule);
	if (c->is_initialized)
		(void)c->cupti->finish(&plain);
	free(c->image);
	free(c->availability);
	*c = (struct counter){ 0 };
}
