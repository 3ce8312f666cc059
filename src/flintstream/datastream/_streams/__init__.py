"""The stream classes; public under :mod:`flintstream.datastream.data_stream`."""
