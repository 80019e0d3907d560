"""The page: what changed since the night before and why, as HTML, pictures and a digest."""
