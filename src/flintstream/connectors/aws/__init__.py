"""Amazon Web Services: the Kinesis source, and sinks of Kinesis and Firehose, on boto3.

They need the extra ``aws``.
"""
