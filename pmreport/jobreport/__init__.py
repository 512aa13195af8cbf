"""The page of one job, from `pmctl report --json`."""
