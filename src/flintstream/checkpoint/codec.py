"""A first, plain version; the checksummed format takes its place."""
import pickle
encode = encode_one = lambda v: pickle.dumps(v)
decode = decode_one = lambda v: pickle.loads(v)
