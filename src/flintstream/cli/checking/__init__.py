"""What ``flintstream check`` looks at in a program."""
