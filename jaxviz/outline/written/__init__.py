"""What the person wrote: the source as syntax trees, and names for the expressions in it."""
