/** sd_notify.h - the service manager's protocol in a few lines: READY, WATCHDOG, STOPPING over $NOTIFY_SOCKET. */
#ifndef FLOPWATCHD_RUNTIME_SD_NOTIFY_H
#define FLOPWATCHD_RUNTIME_SD_NOTIFY_H

#include <stdint.h>

/** Send `text` ("READY=1"); does nothing when nobody listens. */
void sd_notify(const char *text);
/** How often WATCHDOG=1 is due; 0: never. Units: ms, half of what the manager allows. */
int64_t sd_notify_watchdog_ms(void);

#endif
