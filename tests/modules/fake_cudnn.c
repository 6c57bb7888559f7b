/* Stands in for cuDNN where there is none: once loaded, its soname answers for the real one. It knows its version alone. */
#include <stddef.h>

__attribute__((visibility("default"))) size_t cudnnGetVersion(void)
{
	return 91302;
}
