"""`python -m mnemark`."""

from mnemark_interfaces.main import command

if __name__ == "__main__":
    command()
