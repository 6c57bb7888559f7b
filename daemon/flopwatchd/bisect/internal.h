/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_BISECT_INTERNAL_H
#define FLOPWATCHD_BISECT_INTERNAL_H

#include "db/db.h"
#include "flopwatchd/bisect/bisect.h"

#endif
