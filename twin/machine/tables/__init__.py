"""The ACPI and SMBIOS tables of a node: bytes made from (topology, state), no files."""
from . import nfit, numa, pcat, pmtt, smbios, ssdt

BUILDERS = {"acpi/NFIT": nfit.nfit, "acpi/PCAT": pcat.pcat, "acpi/PMTT": pmtt.pmtt,
            "acpi/SRAT": numa.srat, "acpi/SLIT": numa.slit, "acpi/HMAT": numa.hmat,
            "acpi/SSDT": ssdt.ssdt}
ACPI_FILES = tuple(BUILDERS)


def smbios_files(topology) -> list[str]:
    """One structure a file, as QEMU's -smbios file= takes them."""
    return [f"smbios/type17-{i:02}" for i in range(len(smbios.structures(topology)))]


def all_files(topology, state) -> dict[str, bytes]:
    """Every table, by its path in the node's directory."""
    files = {path: build(topology, state) for path, build in BUILDERS.items()}
    files.update(zip(smbios_files(topology), smbios.structures(topology)))
    files["smbios/DMI"] = smbios.dmi(topology)
    files["smbios/smbios_entry_point"] = smbios.entry_point(topology)
    return files
