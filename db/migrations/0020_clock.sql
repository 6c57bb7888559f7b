-- 0020_clock: the change of a cell is that of wall time (m); beside it the part at equal clocks (m_code) and how well the rest is known, which is
-- what the branch does to the clock. Of comparisons before this m was the part at equal clocks.
ALTER TABLE cell ADD COLUMN m_code   REAL;
ALTER TABLE cell ADD COLUMN se_clock REAL;
ALTER TABLE cell ADD COLUMN nu0      REAL; -- in how many launches tau0 was seen; NULL: tau0 comes beside what pairs say
UPDATE cell SET m_code = m, se_clock = 0 WHERE m IS NOT NULL;
-- What a launch says of clocks, beside d, q and d_raw.
ALTER TABLE sample ADD COLUMN z      REAL;
ALTER TABLE sample ADD COLUMN z_q    REAL;
ALTER TABLE sample ADD COLUMN beta   REAL;
ALTER TABLE sample ADD COLUMN beta_q REAL;
