/** config.h - what the daemon finds when it looks whether a configuration's names are there. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "lib/err.h"
#include "cli/answers.h"

#define CONFIG_USUAL "/etc/flopwatch/flopwatchd.yml"

/** Add all of it. Units: minutes, where servers do not answer. Err: ERR_INVALID the first mistake in the file. */
int config_look(const char *file, struct answers *answers, struct fw_err *err);

#endif
