"""Python's DB-API over Tessera's ADBC driver: connect("tessera:///data/shop.db?device=cpu"), or a path."""

import adbc_driver_manager.dbapi
from adbc_driver_manager.dbapi import *  # noqa: F401,F403: the names that PEP 249 asks for

from . import driver


def connect(uri, db_kwargs=None, conn_kwargs=None, **options):
    """Opens a connection. Options of the database (device, threads, gpu_memory) are db_kwargs, or are in the URI."""
    return adbc_driver_manager.dbapi.connect(driver=driver(), db_kwargs={"uri": uri, **(db_kwargs or {})},
                                             conn_kwargs=conn_kwargs, **options)
