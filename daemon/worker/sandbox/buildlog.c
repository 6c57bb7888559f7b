/* buildlog.c - first half in a buffer, second half in a ring. */
#include "worker/sandbox/internal.h"

#include <stdlib.h>

int buildlog_init(struct buildlog *l, size_t max)
{
	*l = (struct buildlog){ .half = max / 2 ? max / 2 : 1 };
	buf_init(&l->head, l->half);
	l->tail = malloc(l->half);
	return l->tail ? 0 : -1;
}

void buildlog_fini(struct buildlog *l)
{
	buf_fini(&l->head);
	free(l->tail);
	l->tail = NULL;
}

void buildlog_add(struct buildlog *l, const char *data, size_t len)
{
	size_t room = l->half - l->head.len;
	size_t first = len < room ? len : room;

	buf_append(&l->head, data, first);
	l->total += (int64_t)len;
	for (data += first, len -= first; len > 0; len--) {
		l->tail[l->at++ % l->half] = *data++;
		if (l->at == 2 * l->half) /* between half and twice half once the ring is full */
			l->at = l->half;
	}
}

void buildlog_text(const struct buildlog *l, struct buf *out)
{
	int64_t behind = l->total - (int64_t)l->head.len;
	size_t start = 0;

	buf_append(out, l->head.data, l->head.len);
	if (behind <= 0)
		return;
	if (behind > (int64_t)l->half) {
		buf_printf(out, "\n[... %lld bytes left out ...]\n", (long long)(behind - (int64_t)l->half));
		start = l->at % l->half;
		buf_append(out, l->tail + start, l->half - start);
	}
	buf_append(out, l->tail, behind > (int64_t)l->half ? start : (size_t)behind);
}
