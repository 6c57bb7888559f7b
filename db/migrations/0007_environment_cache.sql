-- Last-level cache of device cpu, of which cold calls displace twice the size; NULL: another device, whose class determines it, or older than this column.
ALTER TABLE environment ADD COLUMN cache_bytes INTEGER;
