-- 0007_calibration: whom to calibrate, and what a device's cells have shown.
CREATE INDEX job_calibrates ON job(repo, device_uuid) WHERE kind = 'calibrate';
CREATE INDEX environment_by_device ON environment(device);
