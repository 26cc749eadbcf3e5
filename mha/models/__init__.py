"""Models as the rest reads them: by name, with word-level maps, circuits and masked-LM predictions."""
