"""The gate of `audit.commands`."""
