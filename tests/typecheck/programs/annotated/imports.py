"""A name that does not exist is an error, although names are loaded on first use."""

import flintstream.datastream
from flintstream.datastream import Nonsense  # expect: attr-defined reportAttributeAccessIssue

flintstream.datastream.connectors.kafka.KafkaSource.builder()
flintstream.datastream.functions.nonsense()  # expect: attr-defined reportAttributeAccessIssue
