#include "flopwatchd/plan/plan.h"

#include <stdio.h>

bool sources_name(const struct plan *p, int i, char hex[STORE_SOURCE_SIZE])
{
	const struct msg_side *s = &p->request.side[i];
	struct hash_state h;
	char inputs[65];
	if (s->benchmark.name[0] || s->tools.module[0])
		return false;
	plan_inputs_hash(s, DEVICE_ANY, inputs);
	const char *const words[] = { inputs, s->build.dir, p->request.n_cells ? p->request.cell[0].family : "", s->tools.dir,
		s->tools.flags };
	hash_begin(&h);
	for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
		hash_update(&h, words[k], strlen(words[k]) + 1);
	hash_end(&h, hex);
	return true;
}

int sources_put(struct db *db, int64_t job, const struct plan *p, struct fw_err *err)
{
	char source[PROTOCOL_SIDES_MAX][STORE_SOURCE_SIZE];
	int n = 0;
	for (int i = 0; i < p->request.n_sides; i++)
		n += sources_name(p, i, source[n]);
	return store_cached_build_plan(db, job, (const char(*)[STORE_SOURCE_SIZE])source, n, err);
}

void sources_made_by(const struct msg_hello *hello, const struct msg_device *d, char *out)
{
	snprintf(out, STORE_MADE_BY_SIZE, "%.380s on %.60s, isolation %s", d->toolkit,
		d->image[0] ? d->image : "an unknown system", hello->isolation);
}
