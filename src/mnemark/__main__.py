"""`python -m mnemark`."""

from mnemark.interfaces.main import command

if __name__ == "__main__":
    command()
