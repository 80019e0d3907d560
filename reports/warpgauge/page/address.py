"""Addresses of what the page can open, for links from elsewhere; address.js reads them."""

from __future__ import annotations

from urllib.parse import quote

from warpgauge.history.model import SeriesKey

_NONE = "-"  # in the place of an architecture or a source that is not there


def trend(key: SeriesKey) -> str:
    """ "#trend/ID/METRIC/ARCH/SOURCE/DEVICE"; without a GPU there is no device."""
    parts = ["trend", key.id, key.metric, key.arch or _NONE, key.source or _NONE]
    parts += [key.device_name] if key.device_name else []
    return f"#{'/'.join(quote(part, safe='') for part in parts)}"
