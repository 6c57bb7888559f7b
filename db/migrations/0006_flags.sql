-- 0006_flags: what a person has to know about a cell beside its verdict, as words separated by spaces: sustained, call,
-- enqueue, clock. borderline and tail have columns of their own, which a cell's history reads.
ALTER TABLE cell ADD COLUMN flags TEXT NOT NULL DEFAULT '';
