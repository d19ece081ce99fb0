"""What stands again and again becomes a stack of copies."""
