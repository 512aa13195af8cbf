"""Parts of the pictures of all reports: axes with round numbers, and SVG."""
