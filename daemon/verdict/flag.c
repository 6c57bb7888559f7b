/* flag.c - one name per bit, and the thresholds of flags. */
#include "verdict/verdict.h"

#include <math.h>

#define CALL_LOSS_PCT       1.5
#define ENQUEUE_MORE_US     2.0
#define ENQUEUE_RATIO       1.10
#define PROGRAM_MORE_US     5.0
#define PROGRAM_RATIO       1.05
#define CLOCK_COMPONENT_PCT 0.1
#define CLOCK_COMPONENT_SE  3

static const char *const words_of[] = { "borderline", "tail", "sustained", "call", "enqueue", "clock", "underpowered", "noisy",
	"overwhelming" };

enum { WORDS = sizeof words_of / sizeof words_of[0] };

void flag_names(int flags, char out[FLAG_NAMES_SIZE])
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < WORDS; i++)
		if (flags & (1 << i))
			used += (size_t)snprintf(out + used, FLAG_NAMES_SIZE - used, "%s%s", used ? " " : "", words_of[i]);
}

int flag_parse(const char *words)
{
	int flags = 0;

	while (*words) {
		size_t len = strcspn(words, " ");

		for (int i = 0; i < WORDS; i++)
			if (strlen(words_of[i]) == len && memcmp(words_of[i], words, len) == 0)
				flags |= 1 << i;
		words += len + (words[len] == ' ');
	}
	return flags;
}

int flag_call(const struct estimate *call)
{
	bool slower = call->pairs >= FLAG_CALL_PAIRS_MIN && stats_change_pct(call->m) < -CALL_LOSS_PCT && call->ci_low > 0;

	return slower ? FLAG_CALL : 0;
}

int flag_enqueue(double base_us, double target_us, double at_least, bool is_program)
{
	double more_us = is_program ? PROGRAM_MORE_US : ENQUEUE_MORE_US, ratio = is_program ? PROGRAM_RATIO : ENQUEUE_RATIO;
	bool more = target_us - base_us > more_us && target_us > ratio * base_us && at_least > 0;

	return more ? FLAG_ENQUEUE : 0; /* NAN compares false */
}

int flag_clock(const struct estimate *e)
{
	double component_pct = fabs(stats_change_pct(e->m) - stats_change_pct(e->m_code));
	bool has_moved =
		e->runs > 0 && component_pct > CLOCK_COMPONENT_PCT && fabs(e->m - e->m_code) > CLOCK_COMPONENT_SE * e->se_clock;

	return has_moved ? FLAG_CLOCK : 0;
}
