/**
 * tree.h - the working tree as git would have it, asked of flopwatch-git: what is tracked or new and not ignored, as it stands now.
 *
 * It leaves what `compare BASE .` leaves: objects, and a ref that no branch shows. Nothing is committed.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <stdbool.h>

#include "lib/buf.h"
#include "model/manifest.h"

struct tree {
	char root[4096]; /* of the checkout */
	char commit[65]; /* that stands for the files */
	bool has_manifest;
	struct buf text; /* of .flopwatch.yaml; empty without one */
	struct manifest manifest;
	char oid[MANIFEST_LIST_MAX][65]; /* of the manifest's inputs */
};

/**
 * Read the checkout around `folder`. Own: tree_free, also after an error. Err: ERR_NOT_FOUND no checkout, or neither a manifest nor what the defaults build;
 * ERR_INVALID mistakes of the manifest, with their places, or an input that is not there.
 */
int tree_open(struct tree *t, const char *folder, struct fw_err *err);
void tree_free(struct tree *t);
/** The text of suite `name`: of the tree, else installed. `file` is its name in messages. Own: `out` is a buf. Err: ERR_NOT_FOUND. */
int tree_suite(const struct tree *t, const char *name, struct buf *out, char file[1024], struct fw_err *err);
/** The archive of an input, in a new file, at its beginning. -1 with err. Own: close. */
int tree_pack(const struct tree *t, const char *oid, struct fw_err *err);
/** Whether `path` would travel with a push: it is in the tree. */
bool tree_holds(const struct tree *t, const char *path);
/** The first file called `name` in the checkout, whether git knows it or not. Shape: path[size], relative. */
bool tree_find(const struct tree *t, const char *name, char *path, size_t size);

#endif
