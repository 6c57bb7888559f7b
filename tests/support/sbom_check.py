#!/usr/bin/env python3
"""sbom_check.py - holds an SPDX 2.3 document against its specification and against the files that it describes.

  sbom_check.py DOCUMENT.spdx.json FOLDER [LICENCES]

FOLDER has the files. With LICENCES, a folder, the text of each package's licence has to be in it. Prints one line a fault; exits 1 at any.
Names of fields and which of them have to be there are those of the specification's clauses 6 to 11.
"""
import hashlib
import json
import os
import re
import subprocess
import sys

DOCUMENT = ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo")  # clause 6
PACKAGE = ("name", "SPDXID", "downloadLocation", "versionInfo", "licenseConcluded", "licenseDeclared", "copyrightText")  # clause 7
FILE = ("fileName", "SPDXID", "checksums")  # clause 8
KINDS = {"DESCRIBES", "CONTAINS", "DEPENDS_ON", "DYNAMIC_LINK", "STATIC_LINK", "GENERATED_FROM"}  # clause 11
faults = []


def expect(holds, text):
    if not holds:
        faults.append(text)


def filled(element, fields, name):
    for field in fields:
        expect(element.get(field) not in (None, "", []), f"{name}: {field} is missing")


def licences_of(expression):
    return [word for word in re.split(r"\s+|[()]", expression) if word and word not in ("AND", "OR", "WITH", "NOASSERTION", "NONE")]


def hash_of(path, algorithm):
    with open(path, "rb") as file:
        return hashlib.new(algorithm.lower(), file.read()).hexdigest()


def needed(path):
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    shown = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^ +NEEDED +(\S+)", shown, re.M)


def main(path, folder, licences=None):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    packages, files = document.get("packages", []), document.get("files", [])
    extracted, related = document.get("hasExtractedLicensingInfos", []), document.get("relationships", [])
    filled(document, DOCUMENT, "document")
    expect(document.get("spdxVersion") == "SPDX-2.3", "document: spdxVersion")
    expect(document.get("dataLicense") == "CC0-1.0", "document: dataLicense")
    expect(document.get("SPDXID") == "SPDXRef-DOCUMENT", "document: SPDXID")
    expect(re.fullmatch(r"[a-z][a-z0-9+.-]*:[^#\s]+", document.get("documentNamespace", "")), "document: documentNamespace is no URI")
    creation = document.get("creationInfo", {})
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", creation.get("created", "")), "creationInfo: created")
    creators = creation.get("creators", [])
    expect(creators and all(re.match(r"(Tool|Person|Organization): \S", one) for one in creators), "creationInfo: creators")

    ids = ["SPDXRef-DOCUMENT"] + [element.get("SPDXID", "") for element in packages + files]
    for one in ids:
        expect(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one), f"SPDXID {one}")
    expect(len(set(ids)) == len(ids), "an SPDXID is given twice")
    references = {one.get("licenseId") for one in extracted}
    for one in extracted:
        expect(re.fullmatch(r"LicenseRef-[A-Za-z0-9.-]+", one.get("licenseId", "")), f"licenseId {one.get('licenseId')}")
        expect(one.get("extractedText", "").strip(), f"{one.get('licenseId')}: extractedText is missing")
    for element in packages + files:
        for field in ("licenseConcluded", "licenseDeclared"):
            for name in licences_of(element.get(field, "")):
                expect(not name.startswith("LicenseRef-") or name in references, f"{element.get('SPDXID')}: {name} has no text")
    for row in related:
        expect(row.get("relationshipType") in KINDS, f"relationshipType {row.get('relationshipType')}")
        for end in ("spdxElementId", "relatedSpdxElement"):
            expect(row.get(end) in ids, f"relationship with {row.get(end)}, which is not in the document")
    ends = {(row.get("relationshipType"), row.get("spdxElementId"), row.get("relatedSpdxElement")) for row in related}
    described = [end[2] for end in ends if end[:2] == ("DESCRIBES", "SPDXRef-DOCUMENT")]
    expect(len(described) == 1, "the document has to describe one package")

    for package in packages:
        name = "package " + package.get("name", "?")
        filled(package, PACKAGE, name)
        expect(bool(package.get("filesAnalyzed", True)) == ("packageVerificationCode" in package), f"{name}: packageVerificationCode")
        if package.get("SPDXID") not in described:
            expect(any(end[2] == package.get("SPDXID") and end[0] in ("CONTAINS", "DEPENDS_ON") for end in ends), f"{name} belongs to nothing")
            text = os.path.join(licences or "", package.get("name", "?"))
            expect(not licences or package.get("licenseDeclared") == "NOASSERTION" or (os.path.isdir(text) and os.listdir(text)), f"{name}: no text of its licence")

    main_package = next((package for package in packages if package.get("SPDXID") in described), {})
    left_out = main_package.get("packageVerificationCode", {}).get("packageVerificationCodeExcludedFiles", [])
    there = {"./" + os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names
             if not os.path.islink(os.path.join(at, name))} - set(left_out)
    named = {file.get("fileName", "?"): file for file in files}
    expect(len(named) == len(files), "a file is named twice")
    for name in sorted(there - set(named)):
        expect(False, f"file {name} is not in the document")
    for name, file in named.items():
        filled(file, FILE, "file " + name)
        expect(("CONTAINS", main_package.get("SPDXID"), file.get("SPDXID")) in ends, f"file {name} belongs to nothing")
        expect("SHA1" in {one.get("algorithm") for one in file.get("checksums", [])}, f"file {name}: no SHA1")
        for one in file.get("checksums", []) if name in there else []:
            expect(one["checksumValue"] == hash_of(os.path.join(folder, name), one["algorithm"]), f"file {name}: {one['algorithm']} differs")
        expect(name in there, f"file {name} is not there")
        if name.startswith("./lib/"):
            expect(any(end[0] == "GENERATED_FROM" and end[1] == file.get("SPDXID") for end in ends), f"file {name}: its package is not named")
        for library in needed(os.path.join(folder, name)) if name in there else []:
            if "./lib/" + library in named:
                expect(("DYNAMIC_LINK", file.get("SPDXID"), named["./lib/" + library].get("SPDXID")) in ends, f"file {name}: no DYNAMIC_LINK to {library}")
    code = hashlib.sha1("".join(sorted(one["checksumValue"] for file in files for one in file.get("checksums", [])
                                       if one["algorithm"] == "SHA1")).encode()).hexdigest()
    expect(main_package.get("packageVerificationCode", {}).get("packageVerificationCodeValue") == code, "packageVerificationCodeValue differs")


if __name__ == "__main__":
    main(*sys.argv[1:])
    print("\n".join(faults[:20]))
    sys.exit(1 if faults else 0)
