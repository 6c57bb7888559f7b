/** sd_notify.h - the service manager's protocol: READY, WATCHDOG, STOPPING over $NOTIFY_SOCKET. */
#ifndef LIB_SD_NOTIFY_H
#define LIB_SD_NOTIFY_H

#include <stdint.h>

/** Send `text` ("READY=1"); does nothing without $NOTIFY_SOCKET. */
void sd_notify(const char *text);
/** Interval of WATCHDOG=1; 0: none. Units: ms, half of the manager's limit. */
int64_t sd_notify_watchdog_ms(void);

#endif
