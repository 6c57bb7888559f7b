/**
 * log.h - one `key=value` line per event on stderr.
 *
 * Lines begin with a journal priority ("<3>") when stderr is not a terminal. Values with spaces or control bytes are quoted
 * and escaped, so that one event is always one line whatever a branch name holds. Fixed keys: ev job repo branch commit
 * cell dur_ms err. The event name comes first and is greppable: log_info("job.queued", "job=%lld repo=%s", id, log_quote(name)).
 */
#ifndef LIB_LOG_H
#define LIB_LOG_H

enum log_level { LOG_DEBUG = 7, LOG_INFO = 6, LOG_WARNING = 4, LOG_ERROR = 3 };

/** Name the program and the least urgent level that is printed. */
void log_open(const char *program, enum log_level least);

/** Write one event. Each `%s` value is escaped by the caller through log_quote where it may hold foreign bytes. */
void log_event(enum log_level level, const char *event, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Escape `text` for a log value. Shape: at most 255 bytes, cut with "...". Own: one of eight rotating static buffers. */
const char *log_quote(const char *text);

#define log_debug(...)   log_event(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)    log_event(LOG_INFO, __VA_ARGS__)
#define log_warning(...) log_event(LOG_WARNING, __VA_ARGS__)
#define log_error(...)   log_event(LOG_ERROR, __VA_ARGS__)

#endif
