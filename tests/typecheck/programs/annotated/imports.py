"""A name that is not there is an error, although names are loaded when they are used."""

import flintstream.datastream
from flintstream.datastream import Nonsense  # expect: attr-defined reportAttributeAccessIssue

flintstream.datastream.connectors.kafka.KafkaSource.builder()
flintstream.datastream.functions.nonsense()  # expect: attr-defined reportAttributeAccessIssue
