/* terminal.c - documented in internal.h. */
#include "cli/internal.h"

#include <sys/ioctl.h>
#include <unistd.h>

static enum { AUTO, ALWAYS, NEVER } chosen;

int terminal_choose(const char *when)
{
	static const char *const words[] = { "auto", "always", "never" };
	for (int i = 0; i < 3; i++)
		if (strcmp(when, words[i]) == 0) {
			chosen = i;
			return 0;
		}
	return -1;
}

int terminal_width(FILE *out)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	int n = columns ? atoi(columns) : 0;
	if (!isatty(fileno(out)))
		return 0;
	if (n > 0)
		return n;
	return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool terminal_colors(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (chosen != AUTO)
		return chosen == ALWAYS;
	return isatty(fileno(out)) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

const char *terminal_tone(const char *word)
{
	static const struct {
		const char *word, *tone;
	} tones[] = {
		{ "regression", "\033[31m" },
		{ "failed", "\033[31m" },
		{ "rejected", "\033[31m" },
		{ "quarantined", "\033[31m" },
		{ "fail", "\033[31m" },
		{ "undecided", "\033[33m" },
		{ "not_comparable", "\033[33m" },
		{ "open", "\033[33m" },
		{ "waiting", "\033[33m" },
		{ "warn", "\033[33m" },
		{ "improvement", "\033[32m" },
		{ "ok", "\033[32m" },
	};
	for (size_t i = 0; i < sizeof tones / sizeof tones[0]; i++) {
		size_t n = strlen(tones[i].word);
		if (strncmp(word, tones[i].word, n) == 0 && (!word[n] || word[n] == ':' || word[n] == ' '))
			return tones[i].tone;
	}
	return "";
}
