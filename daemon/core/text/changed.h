/** changed.h - what changed around a device, in words: from the JSON that is kept of it to one line for titles, marks and tables. */
#ifndef CORE_TEXT_CHANGED_H
#define CORE_TEXT_CHANGED_H

#include <stddef.h>

/** "gcc 12.2.0 to 12.3.0, driver 550.1 to 560.2" of [{"what","from","to"}]; what was not there before is "none". Shape: out[size]. */
void changed_text(const char *json, char *out, size_t size);

#endif
