#!/usr/bin/env python3
"""Links the program that was built once more, for a package: link.py BUILD OUTPUT [--sysroot DIR]

BUILD is the folder that `swift build -c release --product frametap` wrote. The command is the build's own, but the program looks
for libraries only where the system does. With --sysroot (see packaging/sysroot) it is linked against the C library there, and holds
libpcap, libyaml, zlib, zstd and libstdc++: it needs nothing that is not on every Linux with that C library, or a newer one.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
HELD = ("libpcap.a", "libz.a", "libzstd.a")


def built_with(build):
    """The command that linked the program."""
    manifest = (build / "release.yaml").read_text(encoding="utf-8")
    found = re.search(r'^  "C\.frametap-[^"]*-release\.exe":\n(?:    .*\n)*?    args: (\[.*\])$', manifest, re.MULTILINE)
    if not found:
        sys.exit(f"{build}/release.yaml does not say how frametap is linked: is this SwiftPM's native build system?")
    return json.loads(found[1])


def without(arguments, unwanted):
    """The arguments but for those, and the -Xlinker that hands one over."""
    kept = []
    for argument in arguments:
        if not unwanted(argument):
            kept.append(argument)
        elif kept[-1:] == ["-Xlinker"]:
            kept.pop()
    return kept


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def hold(sysroot, folder, compiler):
    """The libraries that become part of the program, in a folder of their own: the linker looks there first."""
    libraries = sysroot / "usr/lib" / output_of("gcc", "-print-multiarch")
    for name in HELD:
        shutil.copy(libraries / name, folder)
    subprocess.run(["ar", "d", folder / "libpcap.a", "pcap-dbus.o"], check=True)
    # Those of this machine: Swift's libraries were compiled with its libstdc++, or with one like it; Debian 11's libyaml reads question
    # marks otherwise than later ones.
    for name in ("libstdc++.a", "libyaml.a"):
        shutil.copy(output_of("gcc", f"-print-file-name={name}"), folder)
    subprocess.run([compiler, f"--sysroot={sysroot}", "-O2", "-fPIC", "-c", HERE / "portable.c", "-o", folder / "portable.o"], check=True)


def of_libpcap():
    """Arguments that put libpcap into the program, which looks for its functions there before it loads the system's."""
    header = (HERE.parent / "Sources/CLibpcap/shim.h").read_text(encoding="utf-8")
    functions = re.findall(r"^ +FUNCTION\((\w+)\)", header, re.MULTILINE)
    if not functions:
        sys.exit("Sources/CLibpcap/shim.h names no functions of libpcap")
    return [argument for name in functions for argument in ("-Xlinker", f"--undefined=pcap_{name}")] + ["-lpcap"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--sysroot", type=Path)
    options = parser.parse_args()

    command = without(built_with(options.build), lambda argument: argument.startswith("-rpath="))
    command[command.index("-o") + 1] = str(options.output)
    with tempfile.TemporaryDirectory() as folder:
        if options.sysroot:
            sysroot = options.sysroot.resolve()
            hold(sysroot, Path(folder), str(Path(command[0]).with_name("clang")))
            command = without(command, lambda argument: argument.startswith("-L/usr/"))
            # Only glibc 2.36 and later read them.
            packed = ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
            for at in range(len(command) - len(packed) + 1):
                if command[at:at + len(packed)] == packed:
                    del command[at:at + len(packed)]
                    break
            command[1:1] = [f"-L{folder}", "-Xclang-linker", f"--sysroot={sysroot}"]
            command += [*of_libpcap(), f"{folder}/portable.o", "-lstdc++", "-lm", "-lpthread", "-ldl"]
        # Foundation's use of mktemp is warned of at each link.
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        sys.exit("could not link the program")


if __name__ == "__main__":
    main()
