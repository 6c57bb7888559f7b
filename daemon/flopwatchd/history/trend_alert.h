/** trend_alert.h - the alert of a loss found in the history. */
#ifndef FLOPWATCHD_HISTORY_TREND_ALERT_H
#define FLOPWATCHD_HISTORY_TREND_ALERT_H

#include "flopwatchd/history/change.h"

/** Open or update the alert of a confirmed loss and set its id in `c`. Writes nothing if the alert holds the loss already. */
int trend_alert(const struct trend *t, struct store_change *c, struct fw_err *err);

#endif
