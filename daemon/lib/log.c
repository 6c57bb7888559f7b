/* log.c - one line for each event: a journal can be searched by key, and no branch name can forge a second line. */
#include "lib/lib.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 4096, QUOTE_MAX = 255, QUOTE_SLOTS = 8 };

static const char *program_name = "flopwatch";
static enum log_level least_level = LOG_INFO;
static unsigned long long n_lost; /* lines that were not written */
static bool is_torn;              /* the last line was written in part */

void log_open(const char *program, enum log_level least)
{
	program_name = program;
	least_level = least;
}

/* A process that does not read this program's stderr must not block it. A writable pipe accepts a whole line (PIPE_BUF). */
static bool is_read(void)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) != 0;
}

/* Returns false if stderr failed, such as a file on a full disk. Later output reports how much is missing. */
static bool write_line(const char *line, size_t len)
{
	if (is_torn && write(STDERR_FILENO, "\n", 1) != 1)
		return false;
	is_torn = false;
	for (size_t at = 0; at < len;) {
		ssize_t done = write(STDERR_FILENO, line + at, len - at);

		if (done <= 0) {
			is_torn = at > 0;
			return false;
		}
		at += (size_t)done;
	}
	return true;
}

void log_event(enum log_level level, const char *event, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	char at[32];
	size_t len, i;
	int n;
	va_list args;

	if (level > least_level)
		return;
	if (!is_read()) {
		n_lost++;
		return;
	}
	if (n_lost) {
		unsigned long long lost = n_lost;

		n_lost = 0;
		log_event(LOG_WARNING, "log.lost", "lines=%llu err=\"stderr was not read, or its disk was full\"", lost);
		if (n_lost) {
			n_lost += lost;
			return;
		}
	}
	clock_format(clock_utc_ms(), at);
	if (isatty(STDERR_FILENO))
		n = snprintf(line, sizeof line, "%s %s ev=%s ", at, program_name, event);
	else if (getenv("JOURNAL_STREAM")) /* the journal adds its own time */
		n = snprintf(line, sizeof line, "<%d>ev=%s ", (int)level, event);
	else
		n = snprintf(line, sizeof line, "<%d>ev=%s at=%s ", (int)level, event, at);
	if (n < 0)
		return;
	len = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
	va_start(args, format);
	n = vsnprintf(line + len, sizeof line - len, format, args);
	va_end(args);
	if (n > 0)
		len = (size_t)n < sizeof line - len ? len + (size_t)n : sizeof line - 1;
	for (i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	while (len && line[len - 1] == ' ')
		len--;
	if (len == sizeof line)
		len--;
	line[len++] = '\n';
	if (!write_line(line, len))
		n_lost++;
}

static bool is_plain(uint32_t code)
{
	return code > 0x20 && code != UTF8_INVALID && code != '"' && code != '\\' && code != '=' && !utf8_is_hidden(code);
}

const char *log_quote(const char *text)
{
	static char slots[QUOTE_SLOTS][QUOTE_MAX + 1];
	static unsigned next;
	char *out = slots[next++ % QUOTE_SLOTS];
	/* Reserved for `..."` at the cut. */
	const size_t limit = QUOTE_MAX - 4;
	size_t len = strlen(text), i = 0, used = 0;
	bool quoted = len == 0;

	while (i < len && !quoted) {
		uint32_t code;

		i += utf8_next(text + i, len - i, &code);
		quoted = !is_plain(code);
	}
	if (quoted)
		out[used++] = '"';
	for (i = 0; i < len;) {
		uint32_t code;
		size_t bytes = utf8_next(text + i, len - i, &code);
		char piece[32];
		size_t piece_len = 0, k;

		if (code == '"' || code == '\\') {
			piece[piece_len++] = '\\';
			piece[piece_len++] = text[i];
		} else if (code == UTF8_INVALID || utf8_is_hidden(code)) {
			for (k = 0; k < bytes; k++)
				piece_len += (size_t)snprintf(
					piece + piece_len, sizeof piece - piece_len, "\\x%02x", (unsigned char)text[i + k]);
		} else {
			memcpy(piece, text + i, bytes);
			piece_len = bytes;
		}
		if (used + piece_len > limit) {
			memcpy(out + used, "...", 3);
			used += 3;
			break;
		}
		memcpy(out + used, piece, piece_len);
		used += piece_len;
		i += bytes;
	}
	if (quoted)
		out[used++] = '"';
	out[used] = '\0';
	return out;
}
