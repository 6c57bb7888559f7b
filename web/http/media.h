/** media.h - what the Accept header of a request says about a media type. Pure. */
#ifndef WEB_HTTP_MEDIA_H
#define WEB_HTTP_MEDIA_H

/**
 * How much `accept` (the header's value, NULL: absent) wants `type`: 0 not at all .. 1. The most exact range decides, as RFC 9110
 * has it; parameters of `type` after ';' are not looked at. A range that is malformed is passed over.
 */
double media_quality(const char *accept, const char *type);

#endif
