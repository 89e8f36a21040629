"""`python -m evenhand`."""

from evenhand.cli.entry import main

main()
