-- 0016_answered: what people have answered for stays as they saw it; a further loss of the same commit has an alert of its own.
DROP INDEX alert_of_commit;
CREATE UNIQUE INDEX alert_of_commit ON alert(repo, target_sha, kind) WHERE repo IS NOT NULL AND state NOT IN ('accepted', 'invalid');
CREATE INDEX alert_by_commit ON alert(repo, target_sha, kind);
