"""A small URL shortener."""
