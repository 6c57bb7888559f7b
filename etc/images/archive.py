#!/usr/bin/env python3
"""archive.py - writes an image from the tarball of its root, as `docker save` does. The same input gives the same bytes.

  archive.py NAME ROOT.tar CONFIG.json ARCHIVE.tar

CONFIG has the member `config` of the image: user, command, health check. VERSION and SOURCE_DATE_EPOCH come from the environment. Prints
the image's id, the hash of its configuration, which contains the hash of its layer.
"""
import hashlib
import io
import json
import os
import platform
import sys
import tarfile
import time

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def add(archive, name, size, content):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, int(os.environ["SOURCE_DATE_EPOCH"]), 0o644
    archive.addfile(entry, content)


def as_bytes(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main(name, root, config, output):
    with open(root, "rb") as layer:
        layer_hash = hashlib.file_digest(layer, "sha256").hexdigest()
    with open(config, encoding="utf-8") as file:
        settings = json.load(file)
    version = os.environ["VERSION"]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    settings["Labels"] = {"org.opencontainers.image.title": f"flopwatch-{name}", "org.opencontainers.image.version": version,
                          "org.opencontainers.image.licenses": "Apache-2.0 AND MIT-0"}
    machine = platform.machine()
    image = as_bytes({
        "architecture": ARCHITECTURES.get(machine, machine), "os": "linux", "created": created, "config": settings,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + layer_hash]},
        "history": [{"created": created, "created_by": "make images", "comment": f"flopwatch {version}"}]})
    image_hash = hashlib.sha256(image).hexdigest()
    manifest = as_bytes([{"Config": image_hash + ".json", "Layers": [layer_hash + ".tar"],
                          "RepoTags": [f"localhost/flopwatch-{name}:{version}", f"localhost/flopwatch-{name}:latest"]}])
    with tarfile.open(output, "w", format=tarfile.GNU_FORMAT) as archive:
        add(archive, "manifest.json", len(manifest), io.BytesIO(manifest))
        add(archive, image_hash + ".json", len(image), io.BytesIO(image))
        with open(root, "rb") as layer:
            add(archive, layer_hash + ".tar", os.path.getsize(root), layer)
    print("sha256:" + image_hash)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
