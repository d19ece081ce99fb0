"""What a function takes from around itself, and what it changes there: arrays, names and objects."""
