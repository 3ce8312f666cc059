"""The interfaces of user programs: functions, state, windows, timers and output tags.

This package knows nothing of plans or engines. ``flintstream.datastream`` exports the names.
"""
