"""What is written on the rows of an outline."""
