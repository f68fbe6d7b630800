#!/usr/bin/env python3
"""Prints what the packages are made of, as SPDX 2.3 JSON: sbom.py --version V [options] FILE…

The files are the packages. Listed are the Swift packages at the versions that were built, Swift itself, and for each file the Debian
packages whose shared libraries its program needs, and whose static ones it holds.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import time
import uuid
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--version", required=True)
parser.add_argument("--resolved", type=Path, required=True, help="Package.resolved")
parser.add_argument("--checkouts", type=Path, required=True, help="the sources of the packages")
parser.add_argument("--program", required=True, help="the program of the Debian package")
parser.add_argument("--portable", required=True, help="the program of the archive and of the image")
parser.add_argument("--sysroot", type=Path, help="where that one's libraries are from")
parser.add_argument("files", nargs="+", type=Path)
options = parser.parse_args()

# The Debian packages of the sysroot whose libraries the portable program holds.
HELD = ("libpcap0.8-dev", "libzstd-dev", "zlib1g-dev")
packages, relations = [], []


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def add(name, version, licence="NOASSERTION", location="NOASSERTION", purl=None, **more):
    """Lists a package; returns its identifier."""
    identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}" if purl else name)
    if all(package["SPDXID"] != identifier for package in packages):
        packages.append({
            "SPDXID": identifier, "name": name, "versionInfo": version, "downloadLocation": location, "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            **({"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]} if purl else {}),
            **more})
    return identifier


def relate(one, kind, other):
    relations.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})


def licence_of(folder):
    """What the package's licence file says, where it is one of those that Swift packages have."""
    text = next((file.read_text(encoding="utf-8") for file in sorted(folder.glob("LICENSE*"))), "")
    if "Runtime Library Exception" in text:
        return "Apache-2.0 WITH Swift-exception"
    if "Apache License" in text:
        return "Apache-2.0"
    return "MIT" if "Permission is hereby granted, free of charge" in text else "NOASSERTION"


def debian(name, version):
    name = name.split(":")[0]
    return add(name, version, purl=f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}")


def owner(library):
    """The Debian package that a file is of. Where /lib is a link to /usr/lib, dpkg knows one of the two names."""
    for path in (library, str(Path(library).resolve()), library.removeprefix("/usr"), "/usr" + library):
        found = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0]
    raise SystemExit(f"{library} is of no package")


program = add("frametap", options.version, "Apache-2.0", purl=f"pkg:generic/frametap@{options.version}", primaryPackagePurpose="APPLICATION")
relate("SPDXRef-DOCUMENT", "DESCRIBES", program)

for pin in json.loads(options.resolved.read_text(encoding="utf-8"))["pins"]:
    location, state = pin["location"].removesuffix(".git"), pin["state"]
    name = location.rsplit("/", 1)[-1]
    relate(program, "STATIC_LINK", add(
        name, state["version"], licence_of(options.checkouts / name), f"git+{location}@{state['version']}",
        f"pkg:swift/{location.split('://')[-1]}@{state['version']}"))
swift = re.search(r"Swift version (\S+)", output_of("swift", "--version"))[1]
relate(program, "STATIC_LINK", add("swift", swift, "Apache-2.0 WITH Swift-exception", purl=f"pkg:generic/swift@{swift}"))



def shared_by(program):
    """The Debian packages of the shared libraries that a program needs."""
    owners = sorted({owner(library) for library in re.findall(r"=> (/\S+)", output_of("ldd", program))})
    return [debian(name, output_of("dpkg-query", "-W", "-f", "${Version}", name)) for name in owners]


def held():
    """The Debian packages of the static libraries that the portable program holds."""
    if options.sysroot:
        database = f"--admindir={options.sysroot}/var/lib/dpkg"
        yield from (debian(name, output_of("dpkg-query", database, "-W", "-f", "${Version}", name)) for name in HELD)
        for name in ("libstdc++.a", "libyaml.a"):
            package = owner(os.path.realpath(output_of("gcc", f"-print-file-name={name}").strip()))
            yield debian(package, output_of("dpkg-query", "-W", "-f", "${Version}", package))


for file in options.files:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    made = add(file.name, options.version, "Apache-2.0", packageFileName=file.name, checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
    relate(made, "CONTAINS", program)
    is_portable = file.suffix != ".deb"
    for library in shared_by(options.portable if is_portable else options.program):
        relate(made, "DYNAMIC_LINK", library)
    for library in held() if is_portable else ():
        relate(made, "STATIC_LINK", library)

created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
digests = " ".join(package["checksums"][0]["checksumValue"] for package in packages if "checksums" in package)
print(json.dumps({
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"frametap-{options.version}",
    "documentNamespace": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_OID, digests)),
    "creationInfo": {"created": created, "creators": ["Tool: frametap-packaging"]},
    "packages": packages, "relationships": relations}, indent=2))
