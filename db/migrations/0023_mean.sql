-- 0023_mean: the change of the mean call, where slow calls became more or less frequent. It decides (decided_by 'mean') where the typical call, which
-- pairs tell of, did not move.
ALTER TABLE cell ADD COLUMN mean_m      REAL; -- log ratio of the mean call's times; NULL: slow calls are as before
ALTER TABLE cell ADD COLUMN mean_se     REAL;
ALTER TABLE cell ADD COLUMN slow_base   REAL; -- share of calls that are slow, of the cell or of those that run the same kernel together
ALTER TABLE cell ADD COLUMN slow_target REAL;
ALTER TABLE cell ADD COLUMN slow_longer REAL; -- than the typical call, as a share of it, on the side that has more of them

-- What was counted of a cell's slow calls in one set of launches. Outlives the samples, so that a cell can be judged again beside its group.
CREATE TABLE slow_calls (
	cell           INTEGER NOT NULL REFERENCES cell(id),
	set_           INTEGER NOT NULL,
	launches       INTEGER NOT NULL,
	calls          INTEGER NOT NULL, -- of each side
	base           INTEGER NOT NULL, -- slow ones
	base_longer    REAL    NOT NULL, -- by what share they are longer than the typical call: sum, and sum of squares
	base_squares   REAL    NOT NULL,
	base_spread    REAL    NOT NULL, -- slow^2 / calls of each launch, summed
	target         INTEGER NOT NULL,
	target_longer  REAL    NOT NULL,
	target_squares REAL    NOT NULL,
	target_spread  REAL    NOT NULL,
	PRIMARY KEY (cell, set_)
) STRICT, WITHOUT ROWID;
