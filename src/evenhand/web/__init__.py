"""The workbench: pages in a browser over what is stored. They come from the service, and compute nothing themselves."""
