"""Subjects of audits: our releases, mechanisms of known loss, programs, other libraries."""
