-- 0013_peer_jobs: both sides of a comparison may name the provider that they run. One whose sides are two providers is of kind peer.
ALTER TABLE job ADD COLUMN base_provider   TEXT NOT NULL DEFAULT '';  -- "": the module's default
ALTER TABLE job ADD COLUMN target_provider TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN peers           TEXT NOT NULL DEFAULT '';  -- that the base's manifest names: "cudnn@cuda naive"

DROP INDEX comparison_peer;
CREATE INDEX comparison_peer ON comparison(repo, environment) WHERE kind = 'peer';
