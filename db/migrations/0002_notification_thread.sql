-- Messages about one culprit are one thread, which receivers with threads continue.
ALTER TABLE outbox ADD COLUMN alert INTEGER NOT NULL DEFAULT 0;            -- 0: none
ALTER TABLE outbox ADD COLUMN thread TEXT NOT NULL DEFAULT '';             -- 'REPOSITORY COMMIT', or 'alert N'; '': no thread
ALTER TABLE outbox_attempt ADD COLUMN answer TEXT NOT NULL DEFAULT '';     -- id of the sent message at the receiver
CREATE INDEX outbox_alert ON outbox(target, alert) WHERE alert <> 0;
CREATE INDEX outbox_thread ON outbox(target, thread) WHERE thread <> '';
