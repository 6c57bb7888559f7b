/** profile_json.h - a profile as the API says it. */
#ifndef WEB_PAGE_PROFILE_JSON_H
#define WEB_PAGE_PROFILE_JSON_H

#include "lib/jsonw.h"
#include "db/view_profile.h"

/** What was asked for and how it stands, as lists have it: keys of an object that is open. */
void profile_json_row(struct jsonw *j, const struct view_profile *row);
/** "cells": all that came of it, one object a cell. */
int profile_json_cells(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err);

/** `"diagnostics": [...]`: what ptxas says of one build and not of the other. */
int profile_json_diagnostics(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err);

#endif
