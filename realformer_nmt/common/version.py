"""Version of the package, without an import of the package's own front door."""

VERSION = "0.4.0"
