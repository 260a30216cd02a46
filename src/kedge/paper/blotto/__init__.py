"""The paper's Blotto figure and its theory, measured."""
