"""Programs that run in the environment of one engine, which has only the workloads of this project.

``run_ENGINE.py`` takes one run of a workload as JSON and writes the results below its directory.
"""
