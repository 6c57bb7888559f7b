/** nvbench.h - the JSON of nvbench; called through reading_parse. */
#ifndef CORE_READING_NVBENCH_H
#define CORE_READING_NVBENCH_H

#include "core/reading/row.h"

/**
 * The median (else the mean) of cold GPU times of each state; skipped states are left out. Files of version 1, and the
 * unversioned ones of 2021, whose states and summaries are named otherwise; another version is refused by name.
 */
reading_fn read_nvbench;

#endif
