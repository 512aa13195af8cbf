"""slurmdbd on MariaDB, for benches that are clusters of one database.

The bench that is started with --accounting has both, below its folder: MariaDB on a socket there, slurmdbd on 127.0.0.1. A
further cluster joins with --accounting-of: it has the munge key of the first one, as clusters of a database must.
"""

import socket
import subprocess
import time
from pathlib import Path

START_S = 60

# Small and without a network: one client, slurmdbd, which comes through the socket.
MARIADB = ("--no-defaults", "--user=root", "--skip-networking", "--skip-log-bin", "--innodb-log-file-size=8M",
           "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0", "--innodb-lock-wait-timeout=900",
           "--innodb-autoextend-increment=1", "--performance-schema=off")

# With libmariadb 11.8.9 slurmdbd 24.11 ends at its start if it has to make its database itself.
DATABASE = "CREATE DATABASE IF NOT EXISTS slurm_acct_db;\n"


def port_of(directory: Path) -> int:
    return int((directory / "slurmdbd_port").read_text())


def munge_key(own: Path, database: Path | None) -> str | None:
    """The other cluster's; None without one."""
    return (database / "etc" / "munge.key").read_text() if database not in (None, own) else None


def slurm_conf(own: Path, database: Path) -> str:
    """The password is munge's socket."""
    return f"""\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={port_of(database)}
AccountingStoragePass={own}/run/munge.socket
"""


def write_slurmdbd(directory: Path, port: int) -> None:
    (directory / "slurmdbd_port").write_text(str(port))
    conf = directory / "etc" / "slurmdbd.conf"
    conf.write_text(f"""\
AuthType=auth/munge
AuthInfo=socket={directory}/run/munge.socket
DbdHost=localhost
DbdPort={port}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
LogFile={directory}/log/slurmdbd.log
PidFile={directory}/run/slurmdbd.pid
""")
    conf.chmod(0o600)


def wait_until(happened) -> None:
    end_at = time.monotonic() + START_S
    while not happened() and time.monotonic() < end_at:
        time.sleep(0.1)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def install_mariadb(directory: Path) -> None:
    (directory / "etc" / "mariadb.sql").write_text(DATABASE)
    subprocess.run(["mariadb-install-db", "--no-defaults", "--user=root", "--skip-test-db", f"--datadir={directory}/mariadb",
                    "--auth-root-authentication-method=socket"], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)


def mariadb_socket(directory: Path) -> Path:
    return directory / "run" / "mariadb.socket"


def start_mariadbd(daemons) -> None:
    directory = daemons.bench.dir
    mariadb_socket(directory).unlink(missing_ok=True)
    daemons.start("mariadbd", "mariadbd", *MARIADB, f"--datadir={directory}/mariadb", f"--socket={mariadb_socket(directory)}",
                  f"--pid-file={directory}/run/mariadb.pid", f"--init-file={directory}/etc/mariadb.sql")
    wait_until(mariadb_socket(directory).exists)


def start_slurmdbd(daemons) -> None:
    """Returns when it takes requests. Its files are in the folder "database"."""
    directory = daemons.bench.dir
    daemons.start("slurmdbd", *daemons.places("database"), "slurmdbd", "-D", MYSQL_UNIX_PORT=str(mariadb_socket(directory)))
    wait_until(lambda: answers(port_of(directory)))


def start(daemons) -> None:
    """For a bench with accounting: slurmctld wants its cluster in the database when it starts."""
    conf = daemons.bench.dir / "etc" / "slurm.conf"
    if "accounting_storage/slurmdbd" not in conf.read_text():
        return
    if (daemons.bench.dir / "etc" / "slurmdbd.conf").exists():
        install_mariadb(daemons.bench.dir)
        start_mariadbd(daemons)
        start_slurmdbd(daemons)
    name = conf.read_text().partition("ClusterName=")[2].split()[0]
    subprocess.run(["sacctmgr", "--immediate", "add", "cluster", name], env=daemons.bench.environment(), check=True)
