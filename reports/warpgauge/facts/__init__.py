"""Facts: the reader, the catalog of metrics, and the selection of facts."""
