"""The version of this package, as its installed metadata has it."""

from importlib import metadata

try:
    __version__ = metadata.version("jupyterlab-jaxviz")
except metadata.PackageNotFoundError:
    # Imported from a folder without being installed.
    __version__ = "0+unknown"
