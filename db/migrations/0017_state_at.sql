-- 0017_state_at: when a device came into its state; what people have answered since then is not told again.
ALTER TABLE device ADD COLUMN state_at INTEGER NOT NULL DEFAULT 0;
