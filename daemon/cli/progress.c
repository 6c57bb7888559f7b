/* progress.c - documented in internal.h. */
#include "cli/internal.h"

enum { SHOW_ELAPSED_S = 2 };

static void draw(const struct progress *p)
{
	long elapsed_s = (long)((clock_mono_ns() - p->begun_ns) / 1000000000);
	int width = terminal_width(p->out);
	char line[PROGRESS_TEXT_SIZE + 32];
	struct buf shown;

	if (elapsed_s >= SHOW_ELAPSED_S)
		snprintf(line, sizeof line, "%ld s  %s", elapsed_s, p->step);
	else
		snprintf(line, sizeof line, "%s", p->step);
	if (width > 1 && width <= (int)sizeof line) /* a second line would stay on the screen */
		line[width - 1] = '\0';
	buf_init(&shown, 8 * sizeof line);
	utf8_show(&shown, line, strlen(line), "");
	fprintf(p->out, "\r\033[K%s", shown.data);
	fflush(p->out);
	buf_fini(&shown);
}

void progress_start(struct progress *p, bool is_wanted, FILE *out)
{
	*p = (struct progress){ .out = out, .is_shown = is_wanted && terminal_width(out) > 0 };
}

void progress_step(struct progress *p, const char *format, ...)
{
	char step[PROGRESS_TEXT_SIZE];
	va_list args;

	if (!p->is_shown)
		return;
	va_start(args, format);
	vsnprintf(step, sizeof step, format, args);
	va_end(args);
	if (strcmp(step, p->step) == 0)
		return;
	memcpy(p->step, step, sizeof step);
	p->begun_ns = clock_mono_ns();
	draw(p);
}

void progress_tick(const struct progress *p)
{
	if (p->is_shown && p->step[0])
		draw(p);
}

void progress_clear(struct progress *p)
{
	if (p->is_shown && p->step[0]) {
		fputs("\r\033[K", p->out);
		fflush(p->out);
	}
	p->step[0] = '\0';
}
