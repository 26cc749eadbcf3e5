"""What the scripts of a page hold as data, packed or not."""

import base64
import gzip
import json
from typing import Any


def loaded(text: str) -> Any:
    """Return the data of a script of a page."""
    found = json.loads(text)
    return json.loads(gzip.decompress(base64.b64decode(found))) if isinstance(found, str) else found
