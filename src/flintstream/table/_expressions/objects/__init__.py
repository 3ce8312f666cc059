"""Values that SQL has and Python lacks: documents and bitmaps, and the functions that generated code calls."""
