/* txn.c - transactions, and the state of the database. */
#include "flopwatchd/config/config.h"

enum { AGAIN_NS = 1000000000 };

bool txn_is_outage(const struct fw_err *err)
{
	return err->code == ERR_IO || err->code == ERR_FULL || err->code == ERR_BUSY || err->code == ERR_DAMAGED;
}

static void note_failure(struct txn *txn, const struct fw_err *err)
{
	if (!txn_is_outage(err))
		return;
	if (!txn->is_broken)
		log_error("db.down", "err=%s", log_quote(err->text));
	txn->is_broken = true;
	txn->why = *err;
}

static void note_success(struct txn *txn)
{
	if (txn->is_broken)
		log_info("db.up", "was=%s", log_quote(txn->why.text));
	txn->is_broken = false;
}

bool txn_is_well(struct txn *txn)
{
	struct fw_err err = { 0 };
	int64_t now = clock_mono_ns();
	if (!txn->is_broken || now - txn->tried_ns < AGAIN_NS)
		return !txn->is_broken;
	txn->tried_ns = now;
	if (db_try_write(txn->db, &err) == 0)
		note_success(txn);
	else
		note_failure(txn, &err);
	return !txn->is_broken;
}

int txn_begin(struct txn *txn, struct fw_err *err)
{
	txn->written = db_written(txn->db);
	if (db_begin(txn->db, err) == 0)
		return 0;
	note_failure(txn, err);
	return -1;
}

int txn_end(struct txn *txn, int result, struct fw_err *err)
{
	if (result != 0)
		db_rollback(txn->db);
	else
		result = db_commit(txn->db, err);
	if (result != 0) {
		note_failure(txn, err);
		return -1;
	}
	if (db_written(txn->db) != txn->written && !db_in_outer(txn->db)) /* within an outer transaction nothing is stored yet */
		note_success(txn);
	if (txn->on_event)
		txn->on_event(txn->arg);
	return 0;
}
