"""`python -m evenhand`."""

from evenhand.cli import main

main()
