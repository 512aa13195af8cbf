"""The SSDT's methods, executed by ACPICA's own interpreter (acpiexec) over memory of zeros."""
import re
import subprocess

import pytest
from machine import Node, Topology, aml, mailbox

MAILBOX = "0x50000000"
GET, SET = (0x06, 0x01), (0x07, 0x01)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    directory = tmp_path_factory.mktemp("dsm")
    node = Node(directory / "node", Topology())
    node.power_on()
    path = directory / "SSDT.aml"
    path.write_bytes((node.directory / "acpi/SSDT").read_bytes())
    return path


def evaluate(table, calls: list[str]) -> list[bytes]:
    """The buffers that these method calls return: a session takes 1023 characters and a second."""
    if len(calls) > 8:
        return evaluate(table, calls[:8]) + evaluate(table, calls[8:])
    batch = ";".join(f"execute {call}" for call in calls)
    done = subprocess.run(["acpiexec", "-b", batch, table.name], cwd=table.parent,
                          capture_output=True, text=True, timeout=60)
    outputs = done.stdout.split("returned object")[1:]
    assert len(outputs) == len(calls), done.stdout + done.stderr
    return [bytes.fromhex("".join(re.findall(r" [0-9A-F]{4}: ((?:[0-9A-F]{2} )+)", text)))
            for text in outputs]


def call(function: int, data: bytes) -> str:
    return f"\\_SB_.NVDR.NDSM {MAILBOX} {function} ({data.hex(' ')})"


def command(opcode: int, subop: int, payload: bytes = b"") -> str:
    return call(9, bytes((opcode, subop, 0, 0, 128, 0, 0, 0)) + payload)


def config(partition: int, offset: int, option: int = 1) -> bytes:
    return bytes((partition, option)) + offset.to_bytes(4, "little")


def labels(function: int, offset: int, length: int, data: bytes = b"") -> str:
    return call(function, offset.to_bytes(4, "little") + length.to_bytes(4, "little") + data)


def status(output: bytes) -> tuple[int, int]:
    """(_DSM status, error of the DIMM's firmware)."""
    value = int.from_bytes(output[:4], "little")
    return value & 0xFFFF, value >> 16


OK, BAD = (0, 0), (mailbox.DSM_FIRMWARE_ERROR, mailbox.FIS_BAD_PARAMETER)
LAST_GET, LAST_SET = mailbox.PCD_SIZE - 128, mailbox.PCD_SIZE - 64


def test_config_data_stays_within_its_partition(table):
    cases = [(GET, 1, 0, OK), (GET, 2, 0, OK), (GET, 1, LAST_GET, OK), (SET, 2, LAST_SET, OK),
             (GET, 0, 0, BAD), (GET, 3, 0, BAD), (SET, 0, 0, BAD), (SET, 255, 0, BAD),
             (GET, 1, LAST_GET + 1, BAD), (GET, 2, mailbox.PCD_SIZE, BAD),
             (SET, 1, LAST_SET + 1, BAD), (SET, 1, 0xFFFFFFF0, BAD), (GET, 1, 0xFFFFFFFF, BAD)]
    outputs = evaluate(table, [command(*kind, config(part, at)) for kind, part, at, _ in cases])
    assert [status(o) for o in outputs] == [expected for *_, expected in cases]
    assert {len(o) for o in outputs} == {136}


def test_replies(table):
    size, reply, short = evaluate(table, [
        command(*GET, config(1, 0, mailbox.PCD_OPTION_SIZE)), command(0x01, 0x00),
        call(9, bytes((1, 0, 0, 0, 0, 0, 0, 0)))])
    assert status(size) == OK and int.from_bytes(size[8:12], "little") == mailbox.PCD_SIZE
    for output in (size, reply, short):
        assert status(output) == OK
        assert int.from_bytes(output[4:8], "little") == 128 and len(output) == 136


def test_labels_stay_within_their_area(table):
    end = mailbox.PCD_SIZE
    cases = [(0, 4096, True), (0, 256, True), (end - 4096, 4096, True), (end - 256, 256, True),
             (end - 255, 256, False), (0, 4097, False), (end, 1, False), (0xFFFFFFFF, 1, False)]
    outputs = evaluate(table, [labels(5, offset, length) for offset, length, _ in cases])
    for output, (_, length, good) in zip(outputs, cases):
        assert status(output) == (OK if good else (mailbox.DSM_BAD_INPUT, 0))
        assert not good or len(output) == 4 + length


def test_labels_are_written_and_read_back(table):
    first, second = bytes(range(16)), b"\xee" * 4
    outputs = evaluate(table, [labels(6, 512, 16, first), labels(6, 512, 4, second),
                               labels(5, 512, 20), call(7, b"\0")])
    assert outputs[:2] == [bytes(4), bytes(4)]
    assert outputs[2] == bytes(4) + second + first[4:] + bytes(4)
    assert status(outputs[3]) == (mailbox.DSM_NOT_SUPPORTED, 0), "function 7 is not offered"


# --- the encoder ---------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [0, 1, 60, 61, 62, 63, 64, 4090, 4092, 4093, 4094, 70_000])
def test_package_length_counts_itself(size):
    """ACPI 6.5, 20.2.4: decoded as the specification says, it spans the whole term."""
    term = aml.scope(b"", bytes(size))[1:]
    extra, first = term[0] >> 6, term[0]
    if extra == 0:
        length = first & 0x3F
    else:
        length = first & 0xF | int.from_bytes(term[1:1 + extra], "little") << 4
    assert length == len(term)


@pytest.mark.parametrize("value, encoded", [
    (0, "00"), (1, "01"), (2, "0a02"), (255, "0aff"), (256, "0b0001"), (0x10000, "0c00000100"),
    (1 << 32, "0e0000000001000000")])
def test_integers(value, encoded):
    assert aml.integer(value).hex() == encoded


def test_integers_end_at_64_bits():
    with pytest.raises(ValueError, match="64 bits"):
        aml.integer(1 << 64)
