/** config_url.h - what an address of a repository may be, so that it is never more than an address to git, ssh or a shell. */
#ifndef FLOPWATCHD_RUNTIME_CONFIG_URL_H
#define FLOPWATCHD_RUNTIME_CONFIG_URL_H

/** What stands behind `prefix`; NULL: `text` does not begin with it. */
const char *config_after_prefix(const char *text, const char *prefix);
/** What is wrong with the address of a repository; NULL: nothing. */
const char *config_repo_url_wrong(const char *url);

#endif
