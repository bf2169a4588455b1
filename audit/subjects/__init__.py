"""What is audited: our releases, mechanisms of known loss, programs, other libraries."""
