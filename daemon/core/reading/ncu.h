/** ncu.h - times of kernels in an export of `ncu --csv`; called through reading_parse. */
#ifndef CORE_READING_NCU_H
#define CORE_READING_NCU_H

#include "core/reading/row.h"

/** A row for each kernel by its name without its parameters; each of its launches is a time. */
reading_fn read_ncu;

#endif
