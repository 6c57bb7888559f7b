/** mistakes.h - the mistakes of a YAML document as one error. */
#ifndef CORE_SUITE_MISTAKES_H
#define CORE_SUITE_MISTAKES_H

#include "base/yaml.h"

/** 0 when `y` has no mistake. Err: ERR_INVALID with all of them, separated by " | ", cut where they do not fit. */
int mistakes_report(const struct yaml *y, struct fw_err *err);

#endif
