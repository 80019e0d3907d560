"""The files that `warpgauge init` writes; documents quote them."""
