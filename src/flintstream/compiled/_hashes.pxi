# The hash of whole numbers and strings that flintstream/runtime/keys.py defines.

from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    """
    static const unsigned long long MIX = 0x9E3779B97F4A7C15ULL;  /* that of flintstream.runtime.keys */
    """
    const uint64_t MIX


cdef extern from *:
    """
    /* CRC-32 as in zlib, four bytes at a time: table[n] is for a byte that n others of the four follow. */
    static uint32_t crc_table[4][256];

    static void fill_crc_table(void) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t rest = byte;
            for (int bit = 0; bit < 8; bit++)
                rest = rest & 1 ? rest >> 1 ^ 0xEDB88320u : rest >> 1;
            crc_table[0][byte] = rest;
        }
        for (int n = 1; n < 4; n++)
            for (int byte = 0; byte < 256; byte++) {
                uint32_t before = crc_table[n - 1][byte];
                crc_table[n][byte] = before >> 8 ^ crc_table[0][before & 255];
            }
    }

    static uint32_t crc_of(const char *text, Py_ssize_t length) {
        const unsigned char *at = (const unsigned char *)text, *end = at + length;
        uint32_t crc = 0xFFFFFFFFu;
        for (; end - at >= 4; at += 4)
            crc = crc_table[3][(crc ^ at[0]) & 255] ^ crc_table[2][(crc >> 8 ^ at[1]) & 255]
                ^ crc_table[1][(crc >> 16 ^ at[2]) & 255] ^ crc_table[0][crc >> 24 ^ at[3]];
        for (; at < end; at++)
            crc = crc >> 8 ^ crc_table[0][(crc ^ *at) & 255];
        return ~crc;
    }
    """
    void fill_crc_table()
    uint32_t crc_of(const char*, Py_ssize_t) nogil

fill_crc_table()
