/** carry_tables.h - what goes where when carry_over.h brings a database to the tables of today. */
#ifndef DB_CARRY_TABLES_H
#define DB_CARRY_TABLES_H

struct carry_table {
	const char *name; /* of today's table */
	const char *sql;  /* one statement; `main` is the new database, `old` the one that is carried over */
};

/** Run in this order, with foreign keys off; ends with a name that is NULL. */
extern const struct carry_table carry_tables[];

#endif
