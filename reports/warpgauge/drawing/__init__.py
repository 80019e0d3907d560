"""Pictures as files: their style, grids, heat maps."""
