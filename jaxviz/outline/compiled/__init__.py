"""The outlines of the stages after the jaxpr: their operations stand where those stand that they come from."""
