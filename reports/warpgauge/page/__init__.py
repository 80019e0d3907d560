"""The page: what changed since last night and why, as HTML, pictures and a digest in Markdown."""
