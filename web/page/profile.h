/** profile.h - REST under /api/v1/profiles: why cells lost. Every handler's `arg` is the struct site. */
#ifndef WEB_PAGE_PROFILE_H
#define WEB_PAGE_PROFILE_H

#include "web/http/http.h"

http_handler_fn api_profiles, api_profile, api_profile_csv, api_profile_md, api_profile_post, api_profile_configurations_csv,
	api_profile_configurations_md;

#endif
