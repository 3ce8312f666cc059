"""What a program implements or is handed: functions, state, windows, timers and output tags.

Nothing here knows a plan or an engine. ``flintstream.datastream`` exports the names.
"""
