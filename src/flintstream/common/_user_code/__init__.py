"""Objects and functions of the program: pickled, looked through, and kept from leaving their process."""
