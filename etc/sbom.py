#!/usr/bin/env python3
"""sbom.py - writes a software bill of materials, SPDX 2.3 as JSON, of the files of `make bundle`, `make deb` and
`make images`.

  sbom.py bundle FOLDER ORIGINS   FOLDER/flopwatch.spdx.json; the licences of all components go to FOLDER/share/licences
  sbom.py deb PACKAGE.deb         PACKAGE.spdx.json in its folder
  sbom.py image IMAGE.tar ROOT BUNDLE.spdx.json
                                  IMAGE.spdx.json in its folder: the Debian packages of ROOT, an unpacked image, and its files below
                                  /opt/flopwatch, which are those of the bundle

ORIGINS has a line for each component: `shared FILE ORIGINAL` (FILE below FOLDER is a stripped copy of ORIGINAL), `static FILE ARCHIVE` (FILE
contains objects of ARCHIVE), `embedded FILE NAME VERSION LICENCE TEXT` (FILE contains NAME; TEXT is a file). Columns end with tabs.
VERSION and SOURCE_DATE_EPOCH come from the environment. The same input gives the same bytes.
"""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

NAMES = {  # short names of Debian's copyright files -> SPDX License List
    "Apache-2.0": "Apache-2.0", "Artistic": "Artistic-1.0-Perl", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause",
    "BSD-4-clause": "BSD-4-Clause", "CC0-1.0": "CC0-1.0", "Expat": "MIT", "FSFULLR": "FSFULLR", "GPL-1+": "GPL-1.0-or-later",
    "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3": "GPL-3.0-only", "GPL-3+": "GPL-3.0-or-later", "ISC": "ISC",
    "LGPL-2": "LGPL-2.0-only", "LGPL-2+": "LGPL-2.0-or-later", "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-3": "LGPL-3.0-only", "LGPL-3+": "LGPL-3.0-or-later", "MIT": "MIT", "OLDAP-2.8": "OLDAP-2.8", "OpenLDAP-2.8": "OLDAP-2.8",
    "OpenSSL": "OpenSSL", "X11": "X11", "Zlib": "Zlib", "curl": "curl",
}
SPDX_NAMES = {name.lower(): spdx for name, spdx in NAMES.items()}
COMMON = "/usr/share/common-licenses"


def fail(text):
    sys.exit("sbom.py: " + text)


def command(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def spdx_id(kind, name):
    plain = re.sub(r"[^A-Za-z0-9.-]", "-", name)
    return f"SPDXRef-{kind}-{plain}" + ("" if plain == name else "-" + hashlib.sha1(name.encode()).hexdigest()[:8])


def digest(path, algorithm):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


# ---- packages of this system ----------------------------------------------------------------------------------------------------------

def owners_of(paths):
    """The Debian package of each file that belongs to one. A file may be registered below /lib or below /usr/lib."""
    asked = {}
    for path in paths:
        for name in (path, os.path.realpath(path)):
            for known in (name, re.sub(r"^/usr/", "/", name), "/usr" + name):
                asked.setdefault(known, path)
    if not asked:
        return {}
    # It prints the packages that it found, and fails if one is missing.
    found = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True, check=False).stdout
    rows = [line.rsplit(": ", 1) for line in found.splitlines() if not line.startswith("diversion ")]
    return {asked[name]: package.split(",")[0] for package, name in rows if name in asked}


class Licences:
    """Declared packages, and the texts of licences that the SPDX License List does not have."""

    def __init__(self):
        self.extracted = {}

    def own_text(self, name, text):
        reference = "LicenseRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")
        if reference not in self.extracted:
            self.extracted[reference] = {"licenseId": reference, "name": name, "extractedText": text.strip() or "The text is in the copyright file."}
        return reference

    def declared(self, package, text):
        """The licence of `Files: *` in a copyright file of Debian's format; a file in another format is treated as one licence text."""
        if not text.startswith("Format:"):
            return self.own_text(package, text), None
        stanzas, texts, main, all_names = re.split(r"\n[ \t]*\n", text), {}, None, set()
        for stanza in stanzas:
            licence = re.search(r"^License:[ \t]*(.*)\n?((?:[ \t].*\n?)*)", stanza, re.M)
            if not licence:
                continue
            name, body = licence.group(1).strip(), re.sub(r"^[ \t]\.?", "", licence.group(2), flags=re.M)
            all_names.add(name)
            if body.strip():
                texts.setdefault(name, body)
            if re.search(r"^Files:\s*\*\s*$", stanza, re.M):
                main = main or name
        if not main:
            return self.own_text(package, text), None
        others = sorted(all_names - {main})
        comment = "Other files of its source are under: " + "; ".join(others) if others else None
        return self.expression(package, main, texts, text), comment

    def expression(self, package, name, texts, whole):
        def atom(word):
            return SPDX_NAMES.get(word.lower()) or self.own_text(f"{package}-{word}", texts.get(word) or texts.get(name) or whole)

        if " with " in name:
            return atom(name)
        choices = [" AND ".join(atom(word.strip()) for word in re.split(r",? and |, ", choice)) for choice in re.split(r",? or ", name)]
        return choices[0] if len(choices) == 1 else " OR ".join(f"({c})" if " AND " in c else c for c in choices)


class Packages:
    def __init__(self, licences, texts_to=None, root=""):
        self.licences, self.texts_to, self.root, self.entries = licences, texts_to, root, {}

    def add_debian(self, package):
        """SPDXID of an installed Debian package; its licence is copied, with the common ones that it refers to."""
        name = package.split(":")[0]
        if name in self.entries:
            return self.entries[name]["SPDXID"]
        version, source, source_version, arch = command(
            "dpkg-query", f"--admindir={self.root}/var/lib/dpkg", "-W", "-f", "${Version}\t${source:Package}\t${source:Version}\t${Architecture}\n", package).splitlines()[0].split("\t")
        path = f"{self.root}/usr/share/doc/{name}/copyright"
        if not os.path.exists(path):
            fail(f"the licence of {name} is not on this system: there is no {path}")
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        declared, comment = self.licences.declared(name, text)
        self.keep_text(name, path)
        for common in sorted(set(re.findall(COMMON + r"/([A-Za-z0-9.-]*[A-Za-z0-9])", text))):
            if os.path.exists(f"{COMMON}/{common}"):
                self.keep_text("common", f"{COMMON}/{common}")
        purl = f"pkg:deb/{distribution(self.root)}/{name}@{version.replace('+', '%2B').replace(':', '%3A').replace('~', '%7E')}?arch={arch}"
        entry = self.entry(name, version, declared, f"Debian source package {source} {source_version}", comment)
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
        return entry["SPDXID"]

    def entry(self, name, version, declared, source=None, comment=None):
        entry = {"SPDXID": spdx_id("Package", name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": declared, "copyrightText": "NOASSERTION",
                 "supplier": "NOASSERTION", "primaryPackagePurpose": "LIBRARY"}
        if source:
            entry["sourceInfo"] = "built from " + source
        if comment:
            entry["licenseComments"] = comment
        self.entries[name] = entry
        return entry

    def add_other(self, name, version, licence, path):
        """A component that is in no Debian package; `path` is the text of its licence, or None."""
        if name not in self.entries:
            text = ""
            if path:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read()
                self.keep_text(name, path)
            self.entry(name, version, licence or (self.licences.own_text(name, text) if text else "NOASSERTION"))
        return self.entries[name]["SPDXID"]

    def keep_text(self, name, path):
        if self.texts_to:
            folder = os.path.join(self.texts_to, name)
            os.makedirs(folder, exist_ok=True)
            shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))


def distribution(root=""):
    with open(root + ("/usr/lib/os-release" if root else "/etc/os-release"), encoding="utf-8") as file:
        return re.search(r'^ID="?([a-z]+)', file.read(), re.M).group(1)


# ---- the document ---------------------------------------------------------------------------------------------------------------------

def own_licence(path):
    return "MIT-0" if "/kit/" in path or re.search(r"/include/flopwatch/flopwatch\w*\.h$", path) else "Apache-2.0"


def list_files(folder, left_out):
    found = []
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = os.path.join(where, name)
            if not os.path.islink(path) and os.path.relpath(path, folder) not in left_out:
                found.append("./" + os.path.relpath(path, folder))
    return sorted(found)


def needed(path):
    """Names of the shared libraries that a program or library needs; empty for other files."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    return re.findall(r"\(NEEDED\).*\[(.*)\]", command("readelf", "-dW", path))


class Document:
    def __init__(self, name, folder, left_out=()):
        self.folder, self.name, self.related = folder, name, []
        self.version, self.epoch = os.environ["VERSION"], int(os.environ["SOURCE_DATE_EPOCH"])
        self.files = list_files(folder, left_out)
        self.ids = {path: spdx_id("File", path[2:]) for path in self.files}
        self.sha1 = {path: digest(os.path.join(folder, path), "sha1") for path in self.files}
        self.left_out = [f"./{path}" for path in left_out]
        self.main = {
            "SPDXID": "SPDXRef-Package-flopwatch", "name": "flopwatch", "versionInfo": self.version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": True, "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0 AND MIT-0",
            "licenseInfoFromFiles": ["NOASSERTION"], "copyrightText": "2026 flopwatch contributors", "supplier": "NOASSERTION",
            "primaryPackagePurpose": "APPLICATION",
            "packageVerificationCode": {
                "packageVerificationCodeValue": hashlib.sha1("".join(sorted(self.sha1.values())).encode()).hexdigest()}}
        if self.left_out:
            self.main["packageVerificationCode"]["packageVerificationCodeExcludedFiles"] = self.left_out
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", self.main["SPDXID"])
        for path in self.files:
            self.relate(self.main["SPDXID"], "CONTAINS", self.ids[path])

    def relate(self, element, kind, other):
        row = {"spdxElementId": element, "relationshipType": kind, "relatedSpdxElement": other}
        if row not in self.related:
            self.related.append(row)

    def file_entry(self, path, is_foreign):
        full = os.path.join(self.folder, path)
        licence = "NOASSERTION" if is_foreign else own_licence(path)
        return {"SPDXID": self.ids[path], "fileName": path,
                "checksums": [{"algorithm": "SHA1", "checksumValue": self.sha1[path]},
                              {"algorithm": "SHA256", "checksumValue": digest(full, "sha256")}],
                "licenseConcluded": licence, "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"}

    def write(self, path, packages, foreign):
        everything = [self.main] + [packages.entries[name] for name in sorted(packages.entries)]
        document = {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": self.name,
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.epoch)),
                             "creators": [f"Tool: flopwatch-sbom-{self.version}"]},
            "packages": everything, "files": [self.file_entry(name, name in foreign) for name in self.files],
            "relationships": self.related,
            "hasExtractedLicensingInfos": [packages.licences.extracted[name] for name in sorted(packages.licences.extracted)]}
        # The name of a document is derived from its content, so that it is unique and reproducible.
        content = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).digest()[:16]
        document["documentNamespace"] = f"urn:uuid:{uuid.UUID(bytes=content, version=5)}"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1, sort_keys=True)
            file.write("\n")


def write_bundle(folder, origins):
    licences = os.path.join(folder, "share", "licences")
    packages = Packages(Licences(), licences)
    with open(origins, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    links, foreign = [], set()
    owners = owners_of([rest[0] for kind, _, *rest in rows if kind != "embedded"])
    for kind, path, *rest in rows:
        if kind == "embedded":
            links.append((path, "CONTAINS", packages.add_other(*rest)))
            continue
        package = owners.get(rest[0])
        if kind == "shared":
            foreign.add("./" + path)
            if not package:
                fail(f"no package of this system has {rest[0]}, so its licence is not known")
        if package:
            found = packages.add_debian(package)
        else:  # the runtime library of a CUDA toolkit that is not from a package
            text = toolkit_licence(rest[0])
            if not text:
                print(f"sbom.py: the licence of {rest[0]} was not found beside it, so it is not in the bundle", file=sys.stderr)
            found = packages.add_other(os.path.basename(rest[0]), "NOASSERTION", None, text)
        links.append((path, "GENERATED_FROM" if kind == "shared" else "STATIC_LINK", found))
    document = Document(f"flopwatch-{os.environ['VERSION']}-bundle", folder, ["flopwatch.spdx.json"])
    foreign.update(path for path in document.files if path.startswith("./share/licences/"))
    for entry in sorted(packages.entries.values(), key=lambda entry: entry["SPDXID"]):
        document.relate(document.main["SPDXID"], "CONTAINS", entry["SPDXID"])
    for path, kind, other in sorted(links):
        document.relate(document.ids["./" + path], kind, other)
    for path in document.files:
        for library in needed(os.path.join(folder, path)):
            if "./lib/" + library in document.ids:
                document.relate(document.ids[path], "DYNAMIC_LINK", document.ids["./lib/" + library])
    document.write(os.path.join(folder, "flopwatch.spdx.json"), packages, foreign)


def toolkit_licence(path):
    """NVIDIA's installer puts EULA.txt at the toolkit's root; its Python packages put it in the metadata of nvidia-cuda-runtime."""
    for at in parents(path):
        for pattern in ("EULA.txt", "nvidia_cuda_runtime-*.dist-info/licenses/*.txt", "dist-info/nvidia_cuda_runtime-*.dist-info/licenses/*.txt"):
            found = sorted(glob.glob(os.path.join(glob.escape(at), pattern)))
            if found:
                return found[0]
    return None


def parents(path):
    path = os.path.realpath(path)
    while path != "/":
        path = os.path.dirname(path)
        yield path


def write_deb(deb):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)
        packages = Packages(Licences())
        document = Document(os.path.basename(deb)[:-len(".deb")], folder)
        document.main["versionInfo"] = command("dpkg-deb", "-f", deb, "Version").strip()
        document.main["packageFileName"] = os.path.basename(deb)
        document.main["checksums"] = [{"algorithm": name.upper(), "checksumValue": digest(deb, name)} for name in ("sha1", "sha256")]
        for depends in command("dpkg-deb", "-f", deb, "Depends").strip().split(", "):
            name = re.split(r"[ :(|]", depends)[0]
            there = subprocess.run(["dpkg-query", "-W", name], capture_output=True, check=False).returncode == 0
            found = packages.add_debian(name) if there else packages.add_other(name, "NOASSERTION", "NOASSERTION", None)
            document.relate(document.main["SPDXID"], "DEPENDS_ON", found)
        links = [(path, library) for path in document.files for library in needed(os.path.join(folder, path))]
        at = dict(reversed(re.findall(r"^\s+(\S+) .*=> (\S+)", command("/sbin/ldconfig", "-p"), re.M)))
        owners = owners_of({at[library] for _, library in links if library in at})
        for path, library in links:
            package = owners.get(at.get(library), "").split(":")[0]
            if package in packages.entries:
                document.relate(document.ids[path], "DYNAMIC_LINK", packages.add_debian(package))
        document.write(deb[:-len(".deb")] + ".spdx.json", packages, set())
    print(deb[:-len(".deb")] + ".spdx.json")


def add_bundled(document, packages, bundle):
    """Copy the components of the bundle's files that the image has. Their versions are those of the machine that made the bundle."""
    with open(bundle, encoding="utf-8") as file:
        other = json.load(file)
    paths = {entry["SPDXID"]: entry["fileName"] for entry in other["files"]}
    components = {entry["SPDXID"]: entry for entry in other["packages"] if entry["name"] != "flopwatch"}
    for row in other["relationships"]:
        path, component = paths.get(row["spdxElementId"]), components.get(row["relatedSpdxElement"])
        if path not in document.ids or not component:
            continue
        entry = dict(component, SPDXID=component["SPDXID"].replace("SPDXRef-Package-", "SPDXRef-Bundled-", 1))
        packages.entries["bundled " + entry["name"]] = entry
        document.relate(document.main["SPDXID"], "CONTAINS", entry["SPDXID"])
        document.relate(document.ids[path], row["relationshipType"], entry["SPDXID"])
    declared = " ".join(entry["licenseDeclared"] for entry in packages.entries.values())
    for text in other["hasExtractedLicensingInfos"]:
        if re.search(rf"(?<![\w.-]){re.escape(text['licenseId'])}(?![\w.-])", declared):
            packages.licences.extracted.setdefault(text["licenseId"], text)


def write_image(image, root, bundle):
    name = os.path.basename(image)[:-len(".tar")]
    packages = Packages(Licences(), root=root)
    document = Document(name, os.path.join(root, "opt", "flopwatch"))
    document.main["packageFileName"] = os.path.basename(image)
    document.main["checksums"] = [{"algorithm": kind.upper(), "checksumValue": digest(image, kind)} for kind in ("sha1", "sha256")]
    for package in sorted(command("dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${binary:Package}\n").split()):
        document.relate(document.main["SPDXID"], "CONTAINS", packages.add_debian(package))
    add_bundled(document, packages, bundle)
    foreign = {path for path in document.files if path.startswith(("./lib/", "./share/licences/")) or path == "./bin/bwrap"}
    for path in document.files:
        for library in needed(os.path.join(document.folder, path)):
            if "./lib/" + library in document.ids:
                document.relate(document.ids[path], "DYNAMIC_LINK", document.ids["./lib/" + library])
    document.write(image[:-len(".tar")] + ".spdx.json", packages, foreign)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "bundle":
        write_bundle(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 3 and sys.argv[1] == "deb":
        write_deb(sys.argv[2])
    elif len(sys.argv) == 5 and sys.argv[1] == "image":
        write_image(*sys.argv[2:])
    else:
        sys.exit(__doc__)
