"""Makes the wheel `tessera` (a build backend by PEP 517, of the standard library alone): the package in the folder tessera, the
library, the ADBC driver and its module for Python. There is no extension to compile.

The libraries are those in the folder TESSERA_BUILD; else those of build/release, if they are built; else they are built
into build/wheel. They use the system's shared libraries (xxHash, zstd, ...), so a wheel is for the system that it was made
on, or one that has the same; its tag names the platform."""

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 3))
LIBRARIES = ("libtessera.so", "libtessera_adbc.so")
PACKAGES = ("engine/library/python/tessera", "engine/adbc/python/adbc_driver_tessera")
METADATA = """Metadata-Version: 2.1
Name: tessera
Version: {version}
Summary: Compressed columnar engine for star schemas, on GPU and CPU
License: MIT
Requires-Python: >=3.8
Provides-Extra: arrow
Requires-Dist: pyarrow>=15; extra == "arrow"
Provides-Extra: pandas
Requires-Dist: pyarrow>=15; extra == "pandas"
Requires-Dist: pandas>=2; extra == "pandas"
Provides-Extra: adbc
Requires-Dist: adbc-driver-manager>=1; extra == "adbc"
Requires-Dist: pyarrow>=15; extra == "adbc"
"""


class UnsupportedOperation(Exception):
    """PEP 517: this backend does not make what was asked for."""


def _has_libraries(folder):
    return all(os.path.exists(os.path.join(folder, name)) for name in LIBRARIES)


def _build():
    """The folder of the libraries."""
    named, release = os.environ.get("TESSERA_BUILD"), os.path.join(ROOT, "build", "release")
    if named and not _has_libraries(named):
        raise SystemExit(f"TESSERA_BUILD={named} does not have {' and '.join(LIBRARIES)}: build them there, or unset it")
    if named or _has_libraries(release):
        return named or release
    folder = os.path.join(ROOT, "build", "wheel")
    subprocess.check_call(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DTESSERA_TESTS=OFF"])
    subprocess.check_call(["cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", "tessera_shared",
                           "tessera_adbc"])
    return folder


def _version(library):
    """The library's file ends with it: libtessera.so.N.x.y."""
    return re.search(r"\.so\.(\d+\.\d+\.\d+)$", os.path.realpath(library)).group(1)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = _build()
    version = _version(os.path.join(folder, "libtessera.so"))
    tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    files = {}  # name in the wheel -> file, or bytes
    for package in PACKAGES:
        path = os.path.join(ROOT, package)
        for name in sorted(os.listdir(path)):
            if name.endswith(".py"):
                files[f"{os.path.basename(package)}/{name}"] = os.path.join(path, name)
    # The loader opens the library by its soname, and a wheel has no links.
    files[f"tessera/libtessera.so.{version.split('.')[0]}"] = os.path.join(folder, "libtessera.so")
    files["tessera/libtessera_adbc.so"] = os.path.join(folder, "libtessera_adbc.so")
    information = f"tessera-{version}.dist-info"
    files[f"{information}/LICENSE"] = os.path.join(ROOT, "LICENSE")
    files[f"{information}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{information}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: tessera_build\nRoot-Is-Purelib: false\nTag: {tag}\n"
                                     ).encode()
    wheel, record = f"tessera-{version}-{tag}.whl", []
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, content):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same wheel from the same files
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, content)

        for name, source in files.items():
            if not isinstance(source, bytes):
                with open(source, "rb") as file:
                    source = file.read()
            digest = base64.urlsafe_b64encode(hashlib.sha256(source).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(source)}\n")
            add(name, source)
        add(f"{information}/RECORD", "".join(record) + f"{information}/RECORD,,\n")
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("a release's tarball is the source; this makes wheels alone")
