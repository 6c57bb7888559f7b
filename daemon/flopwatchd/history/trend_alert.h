/** trend_alert.h - the alert of a loss that the history found. */
#ifndef FLOPWATCHD_HISTORY_TREND_ALERT_H
#define FLOPWATCHD_HISTORY_TREND_ALERT_H

#include "flopwatchd/history/change.h"

/** Open the alert of a confirmed loss, or bring it up to date, and note which one it is. What it says already is not written anew. */
int trend_alert(const struct trend *t, struct store_change *c, struct fw_err *err);

#endif
