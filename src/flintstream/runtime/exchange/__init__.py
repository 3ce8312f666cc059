"""The exchange of records between one superstep and the next."""
