"""Hashes of byte strings that stay the same for ever: FarmHash's Fingerprint64 and SipHash-2-4, as published."""
import struct

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _word(s, at):
    return int.from_bytes(s[at:at + 8], "little")


def _rotate(v, by):
    return ((v >> by) | (v << (64 - by))) & _MASK


def _mix(v):
    return v ^ (v >> 47)


def _pair(u, v, mul):
    a = _mix(((u ^ v) * mul) & _MASK)
    return (_mix(((v ^ a) * mul) & _MASK) * mul) & _MASK


def _short(s):
    n = len(s)
    mul = (_K2 + 2 * n) & _MASK
    if n >= 8:
        a, b = (_word(s, 0) + _K2) & _MASK, _word(s, n - 8)
        return _pair((_rotate(b, 37) * mul + a) & _MASK, ((_rotate(a, 25) + b) * mul) & _MASK, mul)
    if n >= 4:
        first, last = struct.unpack("<I", s[:4])[0], struct.unpack("<I", s[-4:])[0]
        return _pair((n + (first << 3)) & _MASK, last, mul)
    if n > 0:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[-1] << 2)
        return (_mix(((y * _K2) & _MASK) ^ ((z * _K0) & _MASK)) * _K2) & _MASK
    return _K2


def _medium(s):
    n = len(s)
    mul = (_K2 + 2 * n) & _MASK
    a, b = (_word(s, 0) * (_K1 if n <= 32 else _K2)) & _MASK, _word(s, 8)
    c, d = (_word(s, n - 8) * mul) & _MASK, (_word(s, n - 16) * _K2) & _MASK
    y = (_rotate((a + b) & _MASK, 43) + _rotate(c, 30) + d) & _MASK
    z = _pair(y, (a + _rotate((b + _K2) & _MASK, 18) + c) & _MASK, mul)
    if n <= 32:
        return z
    e, f = (_word(s, 16) * mul) & _MASK, _word(s, 24)
    g, h = ((y + _word(s, n - 32)) * mul) & _MASK, ((z + _word(s, n - 24)) * mul) & _MASK
    return _pair((_rotate((e + f) & _MASK, 43) + _rotate(g, 30) + h) & _MASK,
                 (e + _rotate((f + a) & _MASK, 18) + g) & _MASK, mul)


def _weak(s, at, a, b):
    w, x, y, z = struct.unpack("<4Q", s[at:at + 32])
    a = (a + w) & _MASK
    b = _rotate((b + a + z) & _MASK, 21)
    c = a
    a = (a + x + y) & _MASK
    b = (b + _rotate(a, 44)) & _MASK
    return (a + z) & _MASK, (b + c) & _MASK


def fingerprint64(s):
    """FarmHash's Fingerprint64, a number below 2^64."""
    n = len(s)
    if n <= 16:
        return _short(s)
    if n <= 64:
        return _medium(s)
    x, y = 81, (81 * _K1 + 113) & _MASK
    z = (_mix((y * _K2 + 113) & _MASK) * _K2) & _MASK
    v, w = (0, 0), (0, 0)
    x = (x * _K2 + _word(s, 0)) & _MASK

    def step(at, mul, nine):
        nonlocal x, y, z, v, w
        x = (_rotate((x + y + v[0] + _word(s, at + 8)) & _MASK, 37) * mul) & _MASK
        y = (_rotate((y + v[1] + _word(s, at + 48)) & _MASK, 42) * mul) & _MASK
        x ^= (w[1] * nine) & _MASK
        y = (y + v[0] * nine + _word(s, at + 40)) & _MASK
        z = (_rotate((z + w[0]) & _MASK, 33) * mul) & _MASK
        v = _weak(s, at, (v[1] * mul) & _MASK, (x + w[0]) & _MASK)
        w = _weak(s, at + 32, (z + w[1]) & _MASK, (y + _word(s, at + 16)) & _MASK)
        x, z = z, x

    for at in range(0, (n - 1) // 64 * 64, 64):
        step(at, _K1, 1)
    mul = (_K1 + ((z & 0xFF) << 1)) & _MASK
    w = ((w[0] + ((n - 1) & 63)) & _MASK, w[1])
    v = ((v[0] + w[0]) & _MASK, v[1])
    w = ((w[0] + v[0]) & _MASK, w[1])
    step(n - 64, mul, 9)
    return _pair((_pair(v[0], w[0], mul) + _mix(y) * _K0 + z) & _MASK, (_pair(v[1], w[1], mul) + x) & _MASK, mul)


def siphash24(key, s):
    """SipHash-2-4 with a key of two numbers, a number below 2^64."""
    v0, v1 = key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D
    v2, v3 = key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & _MASK
            v1 = _rotate(v1, 51) ^ v0
            v0 = _rotate(v0, 32)
            v2 = (v2 + v3) & _MASK
            v3 = _rotate(v3, 48) ^ v2
            v0 = (v0 + v3) & _MASK
            v3 = _rotate(v3, 43) ^ v0
            v2 = (v2 + v1) & _MASK
            v1 = _rotate(v1, 47) ^ v2
            v2 = _rotate(v2, 32)

    padded = s + b"\0" * (7 - len(s) % 8) + bytes([len(s) & 0xFF])
    for at in range(0, len(padded), 8):
        word = _word(padded, at)
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3
