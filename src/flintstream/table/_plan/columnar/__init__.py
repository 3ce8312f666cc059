"""Plans whose records are batches of Arrow, from a reader through functions to a writer."""
