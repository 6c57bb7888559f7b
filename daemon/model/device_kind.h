/** device_kind.h - the kinds of devices that kernels run on. */
#ifndef MODEL_DEVICE_KIND_H
#define MODEL_DEVICE_KIND_H

enum device_kind {
	DEVICE_ANY, /* any kind */
	DEVICE_CUDA,
	DEVICE_CPU,
	DEVICE_SIM, /* simulated times, for demonstrations and tests */
	DEVICE_KINDS
};

/** As in lines, files and rows: "" "cuda" "cpu" "sim". Shape: ends with NULL. */
extern const char *const device_kind_names[DEVICE_KINDS + 1];

/** Return the name; "" for an invalid kind. */
const char *device_kind_name(enum device_kind kind);
/** DEVICE_KINDS for an unknown word. */
enum device_kind device_kind_from_name(const char *name);

#endif
