/* activity.c - kernel tracing. The library fills buffers that we provide, and returns them on request. */
#include "runner/internal.h"

#include <stdlib.h>

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

int activity_open(struct activity *a, struct fw_err *err)
{
	a->n = 0;
	a->is_on = false;
	if (cupti_activity_open(&a->cupti, err) != 0)
		return -1;
	taker = a;
	int code = a->cupti->callbacks(lend, take_back);
	if (code != 0)
		return cupti_fail(code, "cuptiActivityRegisterCallbacks", err);
	code = a->cupti->enable(ACTIVITY_CONCURRENT_KERNEL);
	if (code != 0)
		return cupti_fail(code, "cuptiActivityEnable", err);
	a->is_on = true;
	return 0;
}

static int by_start(const void *x, const void *y)
{
	const struct activity_seen *a = x, *b = y;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

int activity_take(struct activity *a, struct fw_err *err)
{
	a->n = 0;
	int code = a->cupti->flush(ACTIVITY_FLUSH_FORCED);
	if (code != 0)
		return cupti_fail(code, "cuptiActivityFlushAll", err);
	qsort(a->kernel, (size_t)(a->n < ACTIVITY_KERNELS_MAX ? a->n : ACTIVITY_KERNELS_MAX), sizeof a->kernel[0], by_start);
	return 0;
}

void activity_close(struct activity *a)
{
	if (a->is_on) {
		(void)a->cupti->disable(ACTIVITY_CONCURRENT_KERNEL); /* earlier records stay valid */
		(void)a->cupti->flush(ACTIVITY_FLUSH_FORCED);
	}
	a->is_on = false;
	if (taker == a)
		taker = NULL;
}
