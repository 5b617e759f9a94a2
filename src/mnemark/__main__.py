"""`python -m mnemark`."""

from mnemark.interfaces.main import main

if __name__ == "__main__":
    main()
