"""Connections between processes of one user, whose ends prove to each other that they know a key.

What arrives through a channel may be unpickled, so the process at the other end must not be a stranger's: any user of
a machine can connect to a port, and can bind the port of a process that has ended. ``channel`` has the handshake and
the messages, ``listener`` the end that waits for connections, ``tls`` the encryption between machines.
"""
