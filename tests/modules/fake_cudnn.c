/* Stands in for cuDNN where it is not installed: once loaded, its soname satisfies later loads of cuDNN. It only reports its
 * version. */
#include <stddef.h>

__attribute__((visibility("default"))) size_t cudnnGetVersion(void)
{
	return 91302;
}
