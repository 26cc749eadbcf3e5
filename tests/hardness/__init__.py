"""Commands that try to break headscope, and the record of what they tried: docs/hardness.json."""
