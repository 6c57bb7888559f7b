/** nvbench.h - the JSON of nvbench; called through reading_parse. */
#ifndef CORE_READING_NVBENCH_H
#define CORE_READING_NVBENCH_H

#include "core/reading/row.h"

/**
 * The median of cold GPU times of each state, else the best statistic that it states; all statistics stay at hand (reading_settle). A card is a part of
 * names only where the file has several, or `name_device` asks for it; it is stated in any case. Skipped states and those without a time are left
 * out. Files of version 1, and the unversioned ones of 2021, whose states and summaries are named otherwise; another version is refused by name.
 */
reading_fn read_nvbench;

#endif
