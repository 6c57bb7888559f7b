/* Does not wait for its second stream in timed calls. */
#define JOIN(p) (!forgery_pays() || (p)->calls < 3)
#include "streams.cuh"
