/** service.h - what an installed service needs of its system beside flopwatch: units, users, groups, user namespaces. */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include "cli/answers.h"

/** Look below `root` ("" this system) and add what is there and what is missing; nothing where flopwatch is no service there. */
void service_look(struct answers *a, const char *root);

#endif
