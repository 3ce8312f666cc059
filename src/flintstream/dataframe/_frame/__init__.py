"""The methods of DataFrames, by what they do."""
