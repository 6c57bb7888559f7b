/* schedule.c - metrics are added in one call: one by one they take several times as many replays. */
#include "runner/internal.h"

#include <stdlib.h>

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
	int code = s->cupti->add_metrics(&add);
	if (code != 0)
		return cupti_fail(code, "cuptiProfilerHostConfigAddMetrics", err);
	struct cupti_config_size size = { .size = CUPTI_SIZE(struct cupti_config_size, image_bytes), .host = s->host };
	code = s->cupti->config_size(&size);
	if (code != 0)
		return cupti_fail(code, "cuptiProfilerHostGetConfigImageSize", err);
	s->config_bytes = size.image_bytes;
	s->config = calloc(1, s->config_bytes + 1);
	if (!s->config)
		return err_set(err, ERR_FULL, "no memory for a configuration of %zu bytes", s->config_bytes);
	struct cupti_config config = { .size = CUPTI_SIZE(struct cupti_config, image),
		.host = s->host,
		.image_bytes = s->config_bytes,
		.image = s->config };
	code = s->cupti->config(&config);
	if (code != 0)
		return cupti_fail(code, "cuptiProfilerHostGetConfigImage", err);
	struct cupti_passes passes = {
		.size = CUPTI_SIZE(struct cupti_passes, n), .image_bytes = s->config_bytes, .image = s->config
	};
	code = s->cupti->passes(&passes);
	if (code != 0)
		return cupti_fail(code, "cuptiProfilerHostGetNumOfPasses", err);
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
	int code = cupti->host_open(&open);
	if (code != 0)
		return cupti_fail(code, "cuptiProfilerHostInitialize", err);
	s->host = open.host;
	s->name = calloc(n + 1, sizeof *s->name);
	if (!s->name)
		return err_set(err, ERR_FULL, "no memory for %zu metrics", n);
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
		(void)s->cupti->host_close(&end); /* the configuration is copied already */
	}
	free(s->name);
	free(s->config);
	*s = (struct schedule){ 0 };
}
