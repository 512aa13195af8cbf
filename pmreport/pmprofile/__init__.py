"""Profiles of the placement runtime, read and told: pmreport(1)."""
