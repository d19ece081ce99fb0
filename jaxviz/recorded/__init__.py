"""What one process of a program recorded: what it compiled and ran, as a document, kept in a file as it goes."""
