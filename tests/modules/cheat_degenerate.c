/* Makes every LSE that the base's forward leaves infinite. Alone it is correct. */
#define IS_DUE() true
#include "spoils.h"
