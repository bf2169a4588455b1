"""How another implementation answers the vectors, and which bug it has where it answers wrongly."""
