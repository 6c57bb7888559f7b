-- 0019_names: what a person called the two sides of a comparison: a branch, or the beginning of a commit. "" where nobody named them.
ALTER TABLE job ADD COLUMN base_name   TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN target_name TEXT NOT NULL DEFAULT '';
