"""Forget and erase what was asked for, with receipts."""
