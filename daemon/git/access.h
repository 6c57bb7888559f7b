/** access.h - by what right a server is reached, and how it is recognised: files and public texts, never a secret itself. */
#ifndef GIT_ACCESS_H
#define GIT_ACCESS_H

/** NULL: not given. */
struct git_access {
	const char *ssh_key;     /* file: private key without passphrase */
	const char *known_hosts; /* file, as of ssh; NULL: ~/.ssh/known_hosts, then /etc/ssh/ssh_known_hosts */
	const char *host_keys;   /* "SHA256:...,SHA256:...": fingerprints of the server's keys */
	const char *token_file;  /* its first line is the password for https:// */
	const char *token_user;  /* NULL: "git" */
	const char *ca_file;     /* certificates that may sign the server's; NULL: the system's */
};

#endif
