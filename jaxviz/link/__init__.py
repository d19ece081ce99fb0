"""How the stages of a program hang together: tags, links between graphs, and the fate of every equation."""
