/**
 * torchao.h - reads a configuration of torchao's microbenchmarks (benchmark_config.yml) and writes the suite that measures the same.
 *
 * Nothing is measured in another way than the file says without being told: what has no meaning here becomes a comment with its place,
 * what cannot be measured as it stands is a mistake.
 */
#ifndef FAMILIES_LINEAR_TORCHAO_H
#define FAMILIES_LINEAR_TORCHAO_H

#include "lib/yaml.h"

/** A family's import. */
void torchao_import(struct yaml *y, struct yaml_node *root, const char *name, struct buf *out);

#endif
