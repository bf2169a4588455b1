"""The commands of the reference: their options and text."""
