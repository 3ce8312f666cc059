"""Tables of databases, by JDBC's URLs and names of options."""
