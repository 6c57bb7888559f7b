-- 0011_throttle: how long a device's clocks were held back while something was timed on it, by the reason that its driver gave.
CREATE TABLE device_throttle (
	device        INTEGER NOT NULL REFERENCES device(id),
	reason        TEXT    NOT NULL,                -- sw_power_cap hw_slowdown sync_boost sw_thermal hw_thermal hw_power_brake display_clocks
	seconds       REAL    NOT NULL,                -- since this table exists; only ever grows
	PRIMARY KEY (device, reason)
) STRICT, WITHOUT ROWID;
