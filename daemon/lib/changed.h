/** changed.h - environment changes of a device as one line, for titles, marks and tables. */
#ifndef LIB_CHANGED_H
#define LIB_CHANGED_H

#include <stddef.h>

/**
 * Format [{"what","from","to"}] as "gcc 12.2.0 to 12.3.0, driver 550.1 to 560.2"; an absent old value is "none". Shape:
 * out[size].
 */
void changed_text(const char *json, char *out, size_t size);

#endif
