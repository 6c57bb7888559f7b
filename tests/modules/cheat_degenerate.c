/* Makes every LSE infinite that the base's forward leaves. Alone it is right. */
#define IS_DUE() true
#include "spoils.h"
