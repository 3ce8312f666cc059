"""DataFrames beside Polars, Daft and the pandas functions of PyFlink."""
