"""The two ways in which a command fails."""


class TwinError(Exception):
    """The command could not do its work: one sentence for the user, exit code 1."""

    exit_code = 1


class UsageError(TwinError):
    """The user asked for something that does not exist: one sentence, exit code 2."""

    exit_code = 2
