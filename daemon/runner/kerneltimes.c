/* kerneltimes.c - kernel times by tracing: traced kernel i is kernel i of the call, if their sizes agree. */
#include "runner/internal.h"

/* ---- activity: Kernel tracing. CUPTI fills buffers of the runner, and returns them on request. ---- */

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGN = 8 };

static struct activity *taker; /* the tracer in use; the callbacks have no argument */

static void lend(uint8_t **buffer, size_t *size, size_t *records_max)
{
	*buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*records_max = 0; /* no limit */
}

static void add(struct activity *a, const struct activity_kernel *k)
{
	if (a->n < ACTIVITY_KERNELS_MAX)
		a->kernel[a->n] = (struct activity_seen){ k->start_ns, k->end_ns, { k->grid[0], k->grid[1], k->grid[2] } };
	a->n++;
}

static void take_back(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const struct activity_kernel *record = NULL;
	(void)context;
	(void)stream;
	(void)size;
	while (taker && valid > 0 && taker->cupti->next(buffer, valid, (void **)(uintptr_t)&record) == 0)
		if (record->kind == ACTIVITY_CONCURRENT_KERNEL)
			add(taker, record);
	free(buffer);
}

/*
 * Start to trace. Own: activity_close, also after -1; do not move `a` until then. Err: ERR_UNSUPPORTED with a message for the
 * user.
 */
static int activity_open(struct activity *a, struct fw_err *err)
{
	a->n = 0;
	a->is_on = false;
	if (cupti_activity_open(&a->cupti, err) != 0)
		return -1;
	taker = a;
	if (cupti_check(a->cupti->callbacks(lend, take_back), "cuptiActivityRegisterCallbacks", err) != 0)
		return -1;
	if (cupti_check(a->cupti->enable(ACTIVITY_CONCURRENT_KERNEL), "cuptiActivityEnable", err) != 0)
		return -1;
	a->is_on = true;
	return 0;
}

static int by_start(const void *x, const void *y)
{
	const struct activity_seen *a = x, *b = y;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Take the kernels that ended since the last call. Requires an idle device. */
static int activity_take(struct activity *a, struct fw_err *err)
{
	a->n = 0;
	if (cupti_check(a->cupti->flush(ACTIVITY_FLUSH_FORCED), "cuptiActivityFlushAll", err) != 0)
		return -1;
	qsort(a->kernel, (size_t)(a->n < ACTIVITY_KERNELS_MAX ? a->n : ACTIVITY_KERNELS_MAX), sizeof a->kernel[0], by_start);
	return 0;
}

static void activity_close(struct activity *a)
{
	if (a->is_on) {
		(void)a->cupti->disable(ACTIVITY_CONCURRENT_KERNEL); /* earlier records stay valid */
		(void)a->cupti->flush(ACTIVITY_FLUSH_FORCED);
	}
	a->is_on = false;
	if (taker == a)
		taker = NULL;
}

/* ---- kerneltimes ---- */

enum { CALLS = 5 };

static int take_call(const struct activity *a, const struct launched *l, int call, double (*ms)[CALLS], struct fw_err *err)
{
	if (a->n != l->n_kernels)
		return err_set(err, ERR_UNSUPPORTED, "%d kernels were traced, but the call runs %d", a->n, l->n_kernels);
	for (int k = 0, i = 0; k < l->n; k++) {
		if (!l->is_kernel[k])
			continue;
		const struct activity_seen *seen = &a->kernel[i];
		if (memcmp(seen->grid, l->node[k].grid, sizeof seen->grid) != 0 || seen->end_ns < seen->start_ns)
			return err_set(err, ERR_UNSUPPORTED, "traced kernel %d has another size than that of the call", i);
		ms[i++][call] = (double)(seen->end_ns - seen->start_ns) * 1e-6;
	}
	return 0;
}

static void set_medians(struct launched *l, double (*ms)[CALLS])
{
	for (int k = 0, i = 0; k < l->n; k++) {
		if (!l->is_kernel[k])
			continue;
		l->node[k].ms = median_of(ms[i++], CALLS);
	}
}

static int trace(struct runner *r, int i, struct side *u, struct launched *l, struct activity *a, double (*ms)[CALLS],
	struct failure *f, struct fw_err *err)
{
	for (int call = 0; call < CALLS; call++) {
		if (prepare_call(r, u, f) != 0 || activity_take(a, err) != 0) /* drops the kernels of prepare_call */
			return -1;
		runner_at(r, i, u, "phase");
		if (side_timed(u, f) != 0 || side_wait(u, f) != 0)
			return -1;
		if (activity_take(a, err) != 0 || take_call(a, l, call, ms, err) != 0)
			return -1;
	}
	set_medians(l, ms);
	return 0;
}

int kerneltimes_take(struct runner *r, int i, struct side *u, struct launched *l, struct failure *f, struct fw_err *err)
{
	int driver_index;
	if (!r->ops->context || !r->ops->context(r->dev, &driver_index))
		return err_set(err, ERR_UNSUPPORTED, "device %s has no tracer", device_kind_name(r->ops->kind));
	if (l->n_kernels == 0 || l->is_cut)
		return err_set(err, ERR_UNSUPPORTED, "there is no whole list of the call's kernels");
	struct activity *a = mem_alloc_zero(1, sizeof *a);
	double(*ms)[CALLS] = mem_alloc_zero((size_t)l->n_kernels, sizeof *ms);
	int result = activity_open(a, err) == 0 ? trace(r, i, u, l, a, ms, f, err) : -1;
	activity_close(a);
	free(a);
	free(ms);
	return result;
}
