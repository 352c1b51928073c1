"""The order of gsort --shuffle, written down a second time."""

_MASK = 2**64 - 1


def _mixed(x: int) -> int:
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & _MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & _MASK
    return x ^ x >> 31


def order_of(seed: int, count: int) -> list[int]:
    """Which element comes first, second and so on."""
    keys = [_mixed(seed + i * 0x9e3779b97f4a7c15 & _MASK) for i in (1, 2, 3)]
    numbers = []
    for position in range(count):
        number = position
        for key in keys:
            number = _mixed(number ^ key)
        numbers.append(number)
    return sorted(range(count), key=numbers.__getitem__)
