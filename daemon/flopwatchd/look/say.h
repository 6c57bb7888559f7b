/** say.h - what was looked at, how it is, and what to do: a line of JSON on standard output each, as soon as it is known. */
#ifndef FLOPWATCHD_LOOK_SAY_H
#define FLOPWATCHD_LOOK_SAY_H

enum look_health { LOOK_OK, LOOK_WARN, LOOK_FAIL };

/** `advice`: what to do, "" nothing. */
void look_say(enum look_health health, const char *what, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
