/* device_kind.c - names. */
#include "model/internal.h"

const char *const device_kind_names[DEVICE_KINDS + 1] = {
	[DEVICE_ANY] = "",
	[DEVICE_CUDA] = "cuda",
	[DEVICE_CPU] = "cpu",
	[DEVICE_SIM] = "sim",
};

const char *device_kind_name(enum device_kind kind)
{
	return kind < DEVICE_KINDS ? device_kind_names[kind] : "";
}

enum device_kind device_kind_from_name(const char *name)
{
	return (enum device_kind)name_find(device_kind_names, DEVICE_KINDS, name);
}
