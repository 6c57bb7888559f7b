"""Launch parameters that the row-wise operators share."""
import triton


def row_block(columns):
    """Block size and number of warps of a program that holds a row in registers."""
    block = triton.next_power_of_2(columns)
    return block, 4 if block <= 2048 else 8 if block <= 8192 else 16
