"""
Weights and what they mean
==========================

tbd
"""

print(1)
