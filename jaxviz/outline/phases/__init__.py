"""Forward, backward, what comes before and the update after it, and which part of one belongs to which of the other."""
