/* txn.c - transactions, and the state of the database. */
#include "flopwatchd/config/config.h"

enum { AGAIN_NS = 1000000000 };

bool txn_is_outage(const struct fw_err *err)
{
	return err->code == ERR_IO || err->code == ERR_FULL || err->code == ERR_BUSY || err->code == ERR_DAMAGED;
}

static void note_failure(struct txn *g, const struct fw_err *err)
{
	if (!txn_is_outage(err))
		return;
	if (!g->is_broken)
		log_error("db.down", "err=%s", log_quote(err->text));
	g->is_broken = true;
	g->why = *err;
}

static void note_success(struct txn *g)
{
	if (g->is_broken)
		log_info("db.up", "was=%s", log_quote(g->why.text));
	g->is_broken = false;
}

bool txn_is_well(struct txn *g)
{
	struct fw_err err = { 0 };
	int64_t now = clock_mono_ns();
	if (!g->is_broken || now - g->tried_ns < AGAIN_NS)
		return !g->is_broken;
	g->tried_ns = now;
	if (db_try_write(g->db, &err) == 0)
		note_success(g);
	else
		note_failure(g, &err);
	return !g->is_broken;
}

int txn_begin(struct txn *g, struct fw_err *err)
{
	g->written = db_written(g->db);
	if (db_begin(g->db, err) == 0)
		return 0;
	note_failure(g, err);
	return -1;
}

int txn_end(struct txn *g, int result, struct fw_err *err)
{
	if (result != 0)
		db_rollback(g->db);
	else
		result = db_commit(g->db, err);
	if (result != 0) {
		note_failure(g, err);
		return -1;
	}
	if (db_written(g->db) != g->written && !db_in_outer(g->db)) /* within an outer transaction nothing is stored yet */
		note_success(g);
	if (g->on_event)
		g->on_event(g->arg);
	return 0;
}
