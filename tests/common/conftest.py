"""A server of one archive, and no proxy before it."""

from archive_fixtures import _no_proxy as _no_proxy
from archive_fixtures import server as server
from archive_fixtures import shared_server as shared_server
from archive_fixtures import waits as waits
