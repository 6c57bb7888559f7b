#!/usr/bin/env python3
"""Replicate the write-ahead log of a database that another process writes, as Litestream does, and restore from the replica.

    walship.py replicate DATABASE FOLDER    until SIGTERM; SIGUSR1: ship what is there now, then touch FOLDER/synced
    walship.py restore FOLDER FILE          the newest generation: its snapshot, then its logs one after the other, by SQLite itself
    walship.py lint FILE                    whether FILE is a configuration of Litestream 0.3 for one database; prints its path

By the same means: a read transaction keeps everybody else from starting the log anew; bytes are copied up to the last whole commit; then
it checkpoints by itself (PASSIVE), writes one row so that the log begins anew, and the next log has the next number. A log that began
anew without us means that frames may be missing: a new generation with a new snapshot.
"""
import os, re, shutil, signal, sqlite3, struct, sys, time

HEADER, FRAME = 32, 24
CHECKPOINT_PAGES = 200  # Litestream's is 1000; a test has fewer


def checksum(data, seed, order):
    """SQLite's checksum of a log, over words of four bytes, which continues that of the frame before."""
    s0, s1 = seed
    words = struct.unpack("%s%dI" % (order, len(data) // 4), data)
    for i in range(0, len(words), 2):
        s0 = (s0 + words[i] + s1) & 0xFFFFFFFF
        s1 = (s1 + words[i + 1] + s0) & 0xFFFFFFFF
    return s0, s1


def committed(wal, start=HEADER, salt=None, seed=None):
    """Where the last whole transaction of the log ends, from `start` on, the log's salt, and the checksum there.

    Frames with another salt are left from before. So may be the page of a frame whose header is there already: a program writes the
    header first, over an older frame, and only the checksum shows it. `seed`: the checksum at `start`.
    """
    if len(wal) < HEADER:
        return start, None, None
    order, page = ">" if wal[3] & 1 else "<", struct.unpack(">I", wal[8:12])[0]
    salt, seed, at = salt or wal[16:24], seed or struct.unpack(">II", wal[24:32]), start
    end, end_seed = at, seed
    while at + FRAME + page <= len(wal) and wal[at + 8:at + 16] == salt:
        seed = checksum(wal[at:at + 8] + wal[at + FRAME:at + FRAME + page], seed, order)
        if seed != struct.unpack(">II", wal[at + 16:at + FRAME]):
            break
        is_commit = struct.unpack(">I", wal[at + 4:at + 8])[0] > 0
        at += FRAME + page
        if is_commit:
            end, end_seed = at, seed
    return end, salt, end_seed


class Replica:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.file = open(path, "rb")  # for good: closing it would drop SQLite's locks on it, which are the process's
        self.generation = len([n for n in os.listdir(folder) if n.isdigit()])
        self.db = sqlite3.connect(path, isolation_level=None, timeout=60)
        self.lock = sqlite3.connect(path, isolation_level=None, timeout=60)
        for db in (self.db, self.lock):
            db.execute("PRAGMA wal_autocheckpoint = 0")
        self.db.execute("CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
        self.db.execute("CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)")
        self.begin_generation()

    def wal(self):
        with open(self.path + "-wal", "rb") as f:
            return f.read()

    def hold(self):
        """From now on no process restarts the log."""
        self.db.execute("BEGIN")
        self.db.execute("SELECT count(*) FROM _litestream_seq").fetchone()

    def let_go(self):
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def bump(self):
        """One row, so that a fully checkpointed log restarts."""
        self.db.execute("INSERT INTO _litestream_seq VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1")

    def append(self, data):
        with open("%s/%04d/%08d.wal" % (self.folder, self.generation, self.index), "ab") as f:
            f.write(data)

    def begin_generation(self):
        """The file, and the log from its beginning: data that a checkpoint moved meanwhile is in both."""
        self.let_go()
        self.bump()
        self.hold()
        self.generation, self.index, self.shipped = self.generation + 1, 0, 0
        os.makedirs("%s/%04d" % (self.folder, self.generation))
        self.salt, self.seed = self.wal()[16:24], None
        self.file.seek(0)
        with open("%s/%04d/snapshot" % (self.folder, self.generation), "wb") as f:
            shutil.copyfileobj(self.file, f)
        self.ship()

    def ship(self):
        wal = self.wal()
        if wal[16:24] != self.salt:
            return False
        begin = self.shipped or HEADER
        end, _, self.seed = committed(wal, begin, self.salt, self.seed)
        self.append(wal[self.shipped:end])
        self.shipped = end
        return True

    def checkpoint(self):
        self.let_go()
        self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self.bump()
        self.hold()
        self.lock.execute("BEGIN IMMEDIATE")  # as Litestream does by its table _litestream_lock
        wal = self.wal()
        salt = wal[16:24]
        if salt != self.salt and committed(wal)[0] >= self.shipped:
            self.lock.execute("ROLLBACK")
            self.begin_generation()
            return
        if salt != self.salt:  # data between our last read and the new log is still after it
            self.append(wal[self.shipped:committed(wal, self.shipped, self.salt, self.seed)[0]])
            self.index, self.shipped, self.salt, self.seed = self.index + 1, 0, salt, None
        self.ship()
        self.lock.execute("ROLLBACK")

    def sync(self):
        if not self.ship():
            self.begin_generation()
        if self.shipped > CHECKPOINT_PAGES * 4096:
            self.checkpoint()


def replicate(path, folder):
    asked = set()
    signal.signal(signal.SIGTERM, lambda *_: asked.add("stop"))
    signal.signal(signal.SIGUSR1, lambda *_: asked.add("now"))
    r = Replica(path, folder)
    open(folder + "/ready", "w").close()
    while "stop" not in asked:
        now = "now" in asked
        asked.discard("now")
        r.sync()
        if now:
            open(folder + "/synced", "w").close()
        time.sleep(0.05)
    print("generation %d logs %d" % (r.generation, r.index + 1))


def restore(folder, out):
    generation = folder + "/" + max(n for n in os.listdir(folder) if n.isdigit())
    shutil.copyfile(generation + "/snapshot", out)
    logs = sorted(n for n in os.listdir(generation) if n.endswith(".wal"))
    for name in logs:
        shutil.copyfile(generation + "/" + name, out + "-wal")
        db = sqlite3.connect(out)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        db.close()
    print("%d logs" % len(logs))


KEYS = {
    "": {"access-key-id", "secret-access-key", "addr", "dbs", "exec", "logging"},
    "dbs": {"path", "replicas", "meta-path", "monitor-interval", "checkpoint-interval", "min-checkpoint-page-count", "max-checkpoint-page-count"},
    "replicas": {"type", "name", "path", "url", "retention", "retention-check-interval", "sync-interval", "snapshot-interval", "validation-interval",
                 "bucket", "region", "endpoint", "force-path-style", "skip-verify", "host", "user", "password", "key-path", "access-key-id", "secret-access-key"},
}


def lint(path):
    import yaml
    conf = yaml.safe_load(open(path))
    wrong = [k for k in conf if k not in KEYS[""]]
    for db in conf["dbs"]:
        wrong += ["dbs." + k for k in db if k not in KEYS["dbs"]]
        for replica in db["replicas"]:
            wrong += ["replicas." + k for k in replica if k not in KEYS["replicas"]]
            wrong += ["replicas.%s: %s" % (k, v) for k, v in replica.items()
                      if k.endswith(("interval", "retention")) and not re.fullmatch(r"(\d+(h|m|s|ms))+", str(v))]
            if not ({"path", "url"} & set(replica)):
                wrong.append("a replica without a place")
    if wrong or len(conf["dbs"]) != 1:
        sys.exit("unknown or wrong: " + ", ".join(wrong))
    print(conf["dbs"][0]["path"])


if __name__ == "__main__":
    {"replicate": replicate, "restore": restore, "lint": lint}[sys.argv[1]](*sys.argv[2:])
