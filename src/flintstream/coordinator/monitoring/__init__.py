"""What others see of a job: metrics, checkpoints, logs and output, while it runs and afterwards."""
