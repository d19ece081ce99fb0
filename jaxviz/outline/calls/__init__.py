"""Call stacks and name stacks: which functions and modules an operation stands in."""
