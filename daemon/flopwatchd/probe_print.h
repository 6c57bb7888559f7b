/** probe_print.h - results of checks: one line of JSON on standard output for each, written at once. */
#ifndef FLOPWATCHD_PROBE_PRINT_H
#define FLOPWATCHD_PROBE_PRINT_H

enum look_health { PROBE_OK, PROBE_WARN, PROBE_FAIL };

/** Print the result of a check. `advice`: what to do, "" nothing. */
void probe_print(enum look_health health, const char *what, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
