"""Every record deletes the timer of its key and registers a later one; a timer writes the number of records.

Input and result are those of the session windows: sessions, implemented by hand.
"""
