-- 0021_plan: which jobs were asked for together. A commit is measured with all suites of its plan, and its verdict is the worst of theirs.
ALTER TABLE job ADD COLUMN plan INTEGER NOT NULL DEFAULT 0;  -- first job of the plan; 0: this suite alone was asked for
-- A push asked for everything; which of its jobs came first was not kept.
UPDATE job SET plan = (SELECT min(first.id) FROM job first WHERE first.repo = job.repo AND first.target_sha = job.target_sha AND
	first.branch = job.branch AND first.origin = 'push') WHERE origin = 'push';
UPDATE job SET plan = id WHERE suite = '';
CREATE INDEX job_by_plan ON job(plan) WHERE plan > 0;
-- What ended in one transaction, such as all that a push has superseded.
CREATE INDEX job_by_end ON job(ended_at);
