/** config_url.h - checks of repository addresses: neither git, ssh nor a shell may take one for an option or a command. */
#ifndef FLOPWATCHD_CONFIG_CONFIG_URL_H
#define FLOPWATCHD_CONFIG_CONFIG_URL_H

/** Return the text after `prefix`, NULL if `text` does not begin with it. */
const char *config_after_prefix(const char *text, const char *prefix);
/** Describe the fault of a repository address, NULL none. */
const char *config_repo_url_wrong(const char *url);

#endif
