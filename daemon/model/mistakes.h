/** mistakes.h - the mistakes of a YAML document as one error. */
#ifndef MODEL_MISTAKES_H
#define MODEL_MISTAKES_H

#include "lib/yaml.h"

/** Return 0 if `y` has no mistake. Err: ERR_INVALID with all of them, separated by " | ", cut to fit. */
int mistakes_report(const struct yaml *y, struct fw_err *err);

#endif
