-- 0024_again: what only scatter left undecided is asked again once by itself.
ALTER TABLE job ADD COLUMN again_at INTEGER;                     -- when it is to be asked again; NULL: it is not
ALTER TABLE job ADD COLUMN again_of INTEGER REFERENCES job(id); -- the one that this asks again
CREATE INDEX job_again ON job(again_at) WHERE again_at IS NOT NULL;
CREATE UNIQUE INDEX job_again_of ON job(again_of) WHERE again_of IS NOT NULL;
