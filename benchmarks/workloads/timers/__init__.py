"""Every record deletes the timer of its key and registers a later one; a timer writes how many records there were.

The input is that of the session windows, and so is the result: sessions, made by hand.
"""
