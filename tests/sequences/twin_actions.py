"""Actions for sites with nodes of their own kernel: what users do with the memory that they get, and pmctl killed."""

import random

from actions import OfNode, Submit, other_words, place_words

# guest/mess says what each of them does; the last one closes the directory to its own user.
MESSES = ("bytes", "inodes", "projects", "names", "deep", "sparse", "mounts", "processes", "links", "closed")
KILL_S = 8


class Mess(Submit):
    """A job leaves its directories in a state that whoever cleans up behind it does not expect."""

    def choose(self, world, chance):
        step = super().choose(world, chance)
        if not step:
            return None
        kinds = world.messes or MESSES
        mess = sorted(chance.sample(kinds, min(chance.randrange(1, 4), len(kinds))), key=MESSES.index)
        size = self.size(mess, chance)
        if not size:
            return step | {"mess": mess}
        words = [f"inodes={size}" if kind == "inodes" else kind for kind in mess]
        return step | {"argv": [*step["argv"], f"--pm-size={size}"], "mess": words}

    @staticmethod
    def size(mess: list[str], chance: random.Random) -> str:
        """A guest makes so many files as go with 64M in seconds, and those that go with nothing in minutes."""
        if "projects" in mess or chance.random() < (0.7 if "inodes" in mess else 0.2):
            return "64M" if "inodes" in mess else chance.choice(("64M", "1G"))
        return ""

    def request(self, world, chance, modes, ways):
        words = [f"--pm-mode={chance.choice(('appdirect', 'appdirect', 'mixed'))}"]
        return place_words(words, world.site.nodes, chance, ways) + other_words(world.site.nodes, chance), {}


class Flat(Submit):
    """A job fills memory of the nodes that PM_NODE0 and PM_NODE1 name."""

    def choose(self, world, chance):
        step = super().choose(world, chance)
        return step and step | {"mess": ["flat"]}

    def request(self, world, chance, modes, ways):
        return place_words(["--pm-mode=flat"], world.site.nodes, chance, ways), {}


class Devices(Submit):
    """A job writes to the devices that it gets instead of directories."""

    def choose(self, world, chance):
        step = super().choose(world, chance)
        return step and step | {"mess": ["devices"]}

    def request(self, world, chance, modes, ways):
        return place_words(["--pm-mode=appdirect", "--pm-namespace=devdax"], world.site.nodes, chance, ways), {}


class KillPmctl(OfNode):
    """Any pmctl that runs there in the next seconds, as Slurm's time limit or the kernel's may kill it."""

    name = "kill pmctl"

    def fits(self, world, node):
        state = world.state(node)
        return node not in world.rebooting and any(word in state for word in ("ALLOC", "MIXED", "COMPLETING", "REBOOT"))

    def change(self, world, node, step):
        world.disturb(node)
        world.said.append(f"killed: {world.site.kill_pmctl(node, KILL_S)}")


class SlowRemoval(OfNode):
    """The removal of what jobs have left is slow on a node for a while. No job waits for it."""

    name = "slow removal"

    def fits(self, world, node):
        return bool(world.site.boot_id(node))

    def change(self, world, node, step):
        world.site.slow_removal(node)


ON_NODES = (Mess("mess", "sbatch", 4), Flat("flat memory", "srun", 1), Devices("devices", "sbatch", 1), KillPmctl(),
            SlowRemoval())
