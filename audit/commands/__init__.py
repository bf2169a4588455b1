"""The commands of ``python -m audit``: options, text and exit codes; nothing else of audit parses or prints."""
