"""The outlines of stages that were opened from files, by what their metadata say."""
