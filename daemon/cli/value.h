/** value.h - reading the daemon's answers: values by key, with a plain default where one is absent or null. */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include <jansson.h>

#include "verdict/verdict.h"

/** "" when absent. Own: `o`'s. */
const char *value_text(const json_t *o, const char *key);
/** NAN when absent. */
double value_number(const json_t *o, const char *key);
/** 0 when absent. */
long long value_integer(const json_t *o, const char *key);
/** VERDICT_NONE when absent. */
enum verdict value_verdict(const json_t *o);
/** By what its family shows a cell to be fast: "tflops", "gb_s"; NULL: there is its time alone to speak of. */
const char *value_rate(const json_t *cell);
/** Branch names have a form for people beside their key. */
const char *value_branch(const json_t *o);

#endif
