"""How records leave one superstep and enter the next."""
