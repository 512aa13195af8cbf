"""What a command line asks for, as the oracle reads it."""

import pytest
from request import read, update

MEMORY, APPDIRECT = {"memory"}, {"appdirect"}


@pytest.mark.parametrize("line, env, modes", [
    ("sbatch", {}, None),
    ("sbatch --pm-mode=memory", {}, MEMORY),
    ("srun --pm-mode=flat", {}, APPDIRECT),
    ("srun -C pm_memory", {}, MEMORY),
    ("srun --constraint=pm_mixed", {}, {"mixed"}),
    ("srun", {"PM_MODE": "memory"}, MEMORY),
    ("srun --pm-mode=appdirect", {"PM_MODE": "memory"}, APPDIRECT),
    ("srun -C pm_appdirect", {"PM_MODE": "memory"}, APPDIRECT),
    ("srun -C rack1", {"PM_MODE": "memory"}, MEMORY),
    ("srun -C rack1", {}, None),
    ("srun -C rack1&pm_memory", {}, MEMORY),
    ("srun -C rack1,pm_memory", {}, MEMORY),
    ("srun -C pm_memory|pm_appdirect", {}, MEMORY | APPDIRECT),
    ("srun -C rack1&(pm_memory|pm_appdirect)", {}, MEMORY | APPDIRECT),
    ("srun -C pm_memory|pm_appdirect --pm-mode=memory", {}, MEMORY),
    ("srun -C pm_memory|rack1", {}, None),
    ("srun -C pm_memory --pm-mode=appdirect", {}, set()),
    ("srun -C pm_memory&pm_mixed", {}, set()),
    ("srun -C pm_memory --prefer=pm_appdirect", {}, MEMORY),
    ("srun --prefer=pm_appdirect", {}, None),
    ("srun --pm-mode=memory --pm-mode=mixed", {}, {"mixed"}),
    ("srun -C pm_memory -C rack1", {}, None),
])
def test_modes(line, env, modes):
    assert read(line.split(), env).modes() == modes


@pytest.mark.parametrize("line, nodes, served", [
    ("sbatch", {"n2"}, True),
    ("sbatch", set(), False),
    ("sbatch -w n1", {"n2", "n3"}, False),
    ("sbatch -w n1,n2", {"n1", "n2"}, True),
    ("sbatch -w n1 -x n1", {"n1", "n2"}, False),
    ("sbatch -x n1", {"n1"}, False),
    ("sbatch -C rack2", {"n1", "n3"}, False),
    ("sbatch -C rack1|rack2", {"n2"}, True),
    ("sbatch -C rack2 -w n1", {"n1", "n2"}, False),
    ("sbatch -N 2", {"n1"}, False),
    ("sbatch -N 2 -w n1", {"n1", "n3"}, True),
    ("sbatch --prefer=rack1", {"n2"}, False),
    ("sbatch --prefer=rack1 -N 2", {"n1", "n2"}, False),
    ("sbatch --prefer=rack1 -C pm_memory", {"n1"}, True),
    ("sbatch --pm-mode=memory -C pm_mixed", {"n1", "n2", "n3"}, False),
    ("sbatch -C rack-2", {"n1", "n3"}, False),
    ("sbatch -C c++&pm_memory", {"n1", "n3"}, True),
    ("sbatch -C (rack1|rack-2)&c++", {"n1", "n3"}, False),
    ("sbatch --pm-mode=memory --pm-dram=100G", {"n1"}, False),
    ("sbatch --pm-mode=memory --pm-dram=64M", {"n1"}, True),
    ("sbatch --pm-dram=100G", {"n1"}, True),
])
def test_nodes(line, nodes, served):
    assert read(line.split(), {}).can_be_served(nodes) is served


@pytest.mark.parametrize("line, odd", [
    ("srun -C pm_memory|pm_appdirect", False),
    ("srun -C pm_memory|rack1", True),
    ("srun -C (pm_memory|pm_appdirect)&rack1", True),
    ("srun -C pm_memory&rack-2", False),
    ("srun --prefer=pm_memory", True),
])
def test_what_may_be_refused(line, odd):
    assert read(line.split(), {}).is_odd() is odd


@pytest.mark.parametrize("line, env, change, modes", [
    ("sbatch -C pm_memory", {}, {"features": "pm_mixed"}, {"mixed"}),
    ("sbatch -C pm_memory", {}, {"features": "rack1"}, None),
    ("sbatch -C pm_memory", {}, {"prefer": "pm_appdirect"}, MEMORY),
    ("sbatch --pm-mode=memory", {}, {"features": "rack1"}, MEMORY),
    ("sbatch --pm-mode=memory", {}, {"features": "pm_mixed"}, set()),
    ("sbatch", {"PM_MODE": "memory"}, {"features": "pm_mixed"}, {"mixed"}),
    ("sbatch", {"PM_MODE": "memory"}, {"reqnodelist": "n1"}, MEMORY),
])
def test_update(line, env, change, modes):
    assert update(read(line.split(), env), change).modes() == modes
