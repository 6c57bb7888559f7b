/** nvbench.h - JSON of nvbench; called by reading_parse. */
#ifndef READERS_NVBENCH_H
#define READERS_NVBENCH_H

#include "readers/row.h"

/**
 * Read the median of cold GPU times of each state, else its best statistic; all statistics stay available (reading_settle). A
 * card is part of names only if the file has several, or `name_device` requests it; it becomes a condition in any case. Skipped
 * states and those without a time are left out. Reads files of version 1, and unversioned ones of 2021, whose states and
 * summaries have other names; any other version is refused by name.
 */
reading_fn read_nvbench;

#endif
