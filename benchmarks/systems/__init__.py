"""Messages per second to and from servers, beside their bare clients."""
