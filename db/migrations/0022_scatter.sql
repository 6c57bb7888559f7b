-- 0022_scatter: what is known of a cell's launches is kept a comparison, of a repository, so that it ages and can be forgotten; it is pooled when
-- it is asked for.
CREATE TABLE scatter (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	repo          INTEGER NOT NULL REFERENCES repo(id),
	environment   INTEGER NOT NULL REFERENCES environment(id),
	key           TEXT    NOT NULL,                -- of the cell
	at            INTEGER NOT NULL,
	itself        INTEGER NOT NULL,                -- a module with itself
	alarm         INTEGER NOT NULL,                -- which called the cell a regression
	launches      INTEGER NOT NULL,
	freedom       INTEGER NOT NULL,                -- launches less one
	squares       REAL    NOT NULL,                -- of launch estimates around their mean
	variance      REAL    NOT NULL                 -- sum of the variances inside launches
) STRICT;
CREATE INDEX scatter_of_cell ON scatter(environment, key, repo);
CREATE INDEX scatter_of_repo ON scatter(repo, key);

-- What the stored launches of the last month still say.
INSERT INTO scatter (comparison, repo, environment, key, at, itself, alarm, launches, freedom, squares, variance)
SELECT p.id, p.repo, p.environment, k.key, p.finished_at, p.kind <> 'change', p.kind <> 'change' AND k.verdict = 'regression', count(*), count(*) - 1,
	max(0.0, sum(s.d * s.d) - count(*) * avg(s.d) * avg(s.d)), sum(s.q)
FROM comparison p JOIN cell k ON k.comparison = p.id
JOIN sample s ON s.cell = k.id AND s.series = k.series AND s.phase = '' AND s.subject = 'target' AND s.d IS NOT NULL AND s.q IS NOT NULL
WHERE p.environment IS NOT NULL AND p.finished_at > (SELECT max(finished_at) FROM comparison) - 2592000000 AND k.m IS NOT NULL AND
	(p.kind IN ('selfcheck', 'calibrate') OR p.kind = 'change' AND k.verdict = 'unchanged' AND NOT k.borderline)
GROUP BY k.id HAVING count(*) > 1 ORDER BY p.id, k.n;
DROP TABLE calibration;
