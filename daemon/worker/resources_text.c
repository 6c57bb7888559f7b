/* resources_text.c - resources of a kernel in one order for `kernels` and `sassdiff`. */
#include "worker/internal.h"

void resources_text(struct buf *out, int sm, const struct resources *r)
{
	struct occupancy o;
	if (r->registers >= 0)
		buf_printf(out, "%d registers, ", r->registers);
	buf_printf(out, "%lld B shared, ", (long long)r->shared_bytes);
	if (r->stack_bytes >= 0)
		buf_printf(out, "%lld B stack, ", (long long)r->stack_bytes);
	buf_printf(out, "%lld B constants, %lld B code", (long long)r->constant_bytes, (long long)r->code_bytes);
	if (!r->is_kernel) {
		buf_puts(out, ", only called");
		return;
	}
	if (r->max_threads > 0)
		buf_printf(out, ", %s%d threads", r->is_block_fixed ? "" : "at most ", r->max_threads);
	else
		buf_puts(out, ", any number of threads");
	if (occupancy_of(sm, r, &o))
		buf_printf(out, ", %d CTAs/SM (%s)", o.ctas, o.limit);
}

static void number_or_null(struct jsonw *j, const char *key, int64_t v)
{
	if (v < 0)
		jsonw_kv_null(j, key);
	else
		jsonw_kv_int(j, key, v);
}

void resources_json(struct jsonw *j, int sm, const struct resources *r)
{
	struct occupancy o;
	jsonw_kv_bool(j, "is_kernel", r->is_kernel);
	number_or_null(j, "registers", r->registers);
	number_or_null(j, "barriers", r->barriers);
	number_or_null(j, "shared_bytes", r->shared_bytes);
	number_or_null(j, "stack_bytes", r->stack_bytes);
	number_or_null(j, "parameter_bytes", r->parameter_bytes);
	number_or_null(j, "constant_bytes", r->constant_bytes);
	number_or_null(j, "code_bytes", r->code_bytes);
	number_or_null(j, "max_threads", r->max_threads);
	jsonw_kv_bool(j, "is_block_fixed", r->is_block_fixed);
	jsonw_key(j, "occupancy");
	if (!r->is_kernel || !occupancy_of(sm, r, &o)) {
		jsonw_null(j);
		return;
	}
	jsonw_object(j);
	jsonw_kv_int(j, "ctas", o.ctas);
	jsonw_kv_int(j, "warps", o.warps);
	jsonw_kv_string(j, "limit", o.limit);
	jsonw_object_end(j);
}
