"""Tools for an assistant, over the Model Context Protocol: each calls a workflow and tells briefly what came of it."""
