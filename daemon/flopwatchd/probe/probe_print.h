/** probe_print.h - what was looked at, how it is, and what to do: a line of JSON on standard output each, as soon as it is known. */
#ifndef FLOPWATCHD_PROBE_PROBE_PRINT_H
#define FLOPWATCHD_PROBE_PROBE_PRINT_H

enum look_health { PROBE_OK, PROBE_WARN, PROBE_FAIL };

/** `advice`: what to do, "" nothing. */
void probe_print(enum look_health health, const char *what, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
