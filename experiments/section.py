"""What every table of a config file is: frozen, and closed to keys that it does not know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ConfigError(ValueError):
    """A config that cannot be used; the message is one line."""


class Section(BaseModel):
    """A table of a config file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
