"""What was checked about the mechanisms, how, and how sure that makes us."""
