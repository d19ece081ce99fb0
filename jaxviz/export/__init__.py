"""Pictures and files for use outside the explorer. One file for each format."""
