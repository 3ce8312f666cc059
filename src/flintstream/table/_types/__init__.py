"""What SQL says about types: their names, their order, and the type that several have in common."""
