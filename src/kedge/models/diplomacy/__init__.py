"""Networks for Diplomacy."""
