"""jaxviz in a notebook: the magic and the cell output."""
