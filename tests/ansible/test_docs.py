"""The commands of the pages that are typed where Ansible runs: the collection is built and installed, playbooks are read with their options.

What the playbooks do is tested in test_site.py and test_twin.py.
"""
import os
import subprocess
import sys

import pytest
from conftest import BUILD, TOP

sys.path.insert(0, str(TOP / "tests/docs"))
import blocks  # noqa: E402

INVENTORY = "[slurm_controller]\nhead\n[slurm_nodes]\nn07\n"
FOUND = [block for page in blocks.pages() for block in blocks.blocks(page) if block.typed and block.typed[2] == "control host"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the collection's sources and an inventory, and an environment in which the collection is not installed."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "ansible").symlink_to(TOP / "ansible")
    (folder / "inventory").write_text(INVENTORY)
    return folder, os.environ | {"PATH": f"{BUILD}/ansible-venv/bin:{os.environ['PATH']}", "ANSIBLE_HOME": str(folder / "home"),
                                 "ANSIBLE_COLLECTIONS_PATH": str(folder / "home/collections"), "ANSIBLE_NOCOLOR": "1"}


def read_only(line):
    """A playbook is read with the options that stand there, and not run."""
    command, hash_sign, comment = line.partition(" #")
    return f"{command} --syntax-check{hash_sign}{comment}" if line.startswith("ansible-playbook ") else line


def run(desk, commands):
    folder, environment = desk
    done = subprocess.run(["bash", "-e", "-c", "\n".join(map(read_only, commands.splitlines()))], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def installs(block):
    return "collection install" in block.commands


def test_there_is_one_block_that_installs():
    assert [installs(block) for block in FOUND].count(True) == 1 and len(FOUND) > 5


# First the one that installs what the others read.
@pytest.mark.parametrize("block", sorted(FOUND, key=installs, reverse=True), ids=lambda block: f"{block.page}:{block.line}")
def test_commands_are_taken(desk, block):
    run(desk, block.commands)


@pytest.mark.parametrize("line", ["ansible-playbook -i inventory slurm_pmem.cluster.sight", "ansible-playbook -i inventory slurm_pmem.cluster.site --chek"])
def test_a_wrong_name_or_option_is_not(desk, line):
    with pytest.raises(AssertionError):
        run(desk, line)
