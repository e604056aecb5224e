"""Builds what is installed on a control cluster: packages of Crossplane, and the image that functions run in."""
