"""Finds Tessera's ADBC driver, so that Python's programs can name a database by a URI: tessera:///data/shop.db

Polars and others import the module adbc_driver_NAME of a URI NAME:... and call its dbapi.connect. Put the folder that
holds this package on PYTHONPATH; it needs the package adbc-driver-manager.
"""

import glob
import os


def driver():
    """The driver's library: TESSERA_ADBC_DRIVER, the one that was installed with this file, or the system's."""
    named = os.environ.get("TESSERA_ADBC_DRIVER")
    if named:
        return named
    folder = os.path.dirname(os.path.abspath(__file__))
    for pattern in ("../tessera/", "../../../../lib*/", "../../../../lib/*/"):  # of a wheel; of cmake --install
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern + "libtessera_adbc.so"))):
            return os.path.normpath(path)
    return "libtessera_adbc.so"
