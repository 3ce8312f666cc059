"""Programs that run in the environment of one engine, where nothing else of this project is but the workloads.

``run_ENGINE.py`` is given one run of a workload as JSON and writes the results below its directory.
"""
