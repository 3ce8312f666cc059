"""The coordinator: runs a job epoch by epoch, in the driver."""
