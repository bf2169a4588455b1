"""Run the vectors against another implementation, and name the bug behind its wrong answers."""
