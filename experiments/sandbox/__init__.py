"""The sandbox: what the statistics of headscope find where the truth is known."""
