"""The guests' image: stock Debian packages in one read-only file system, built without root and cached by its recipe."""
