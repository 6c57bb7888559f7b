-- 0018_decided: the change that a cell's verdict stands for, which alerts, searches and acceptances go by: that of the pairs, or of the bursts
-- (decided_by 'sustained') where only those show it.
ALTER TABLE cell ADD COLUMN decided_by  TEXT NOT NULL DEFAULT '';
ALTER TABLE cell ADD COLUMN decided_m   REAL;
ALTER TABLE cell ADD COLUMN decided_se  REAL;
ALTER TABLE cell ADD COLUMN decided_pct REAL;
UPDATE cell SET decided_m = m, decided_se = se, decided_pct = change_pct;
-- Of bursts the interval was kept; with few launches it is wider than two standard errors, so these come out a little large.
UPDATE cell SET decided_by = 'sustained', decided_pct = b.change, decided_m = -ln(1 + b.change / 100),
	decided_se = ln((1 + b.high / 100) / (1 + b.low / 100)) / 3.92
FROM (SELECT owner, max(value) FILTER (WHERE name = 'sustained.change_pct') AS change,
	max(value) FILTER (WHERE name = 'sustained.ci_low_pct') AS low, max(value) FILTER (WHERE name = 'sustained.ci_high_pct') AS high
	FROM metric WHERE owner_kind = 'cell' AND name LIKE 'sustained.%' GROUP BY owner) b
WHERE b.owner = cell.id AND b.change IS NOT NULL AND ' ' || flags || ' ' LIKE '% sustained %';
