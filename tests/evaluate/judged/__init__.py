"""The evaluation's results, judged and as a page."""
