/** answers.h - what was looked at, how it is and what to do, as lines for people or as JSON. */
#ifndef CLI_ANSWERS_H
#define CLI_ANSWERS_H

#include <stdbool.h>

enum health { OK, WARN, FAIL, HEALTH_N };

struct answer {
	char what[64], text[2048], advice[256]; /* advice: what to do; "" nothing */
	enum health health;
};

struct answers {
	int n, room;
	struct answer *answer; /* answer[n] */
};

/** Add one. What there is no memory for is left out. Own: answers_fini frees. */
void answers_add(struct answers *a, enum health health, const char *what, const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void answers_fini(struct answers *a);
/** By its word, "ok", "warn" or "fail"; HEALTH_N another. */
enum health health_from_name(const char *name);
/** Print all of them on standard output; with `json` as {"ok", "checks"}. Whether none failed. */
bool answers_print(const struct answers *a, bool json);

#endif
