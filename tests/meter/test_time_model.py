"""The time model against figures that papers print."""
from meter import time_model
from meter.time_model import GB, Traffic


def test_the_fit_is_within_four_percent_of_the_sixteen_values():
    found = time_model.errors(time_model.fit())
    assert len(found) == 16
    assert max(map(abs, found)) < 0.04


def test_no_neighbour_fits_better():
    best = time_model.fit()

    def error(speeds: time_model.Speeds) -> float:
        return sum(e * e for e in time_model.errors(speeds))
    for factor in (0.99, 1.01):
        assert error(best) < error(time_model.Speeds(best.dram * factor, best.pmem_read, best.pmem_written))
        assert error(best) < error(time_model.Speeds(best.dram, best.pmem_read * factor, best.pmem_written))
        assert error(best) < error(time_model.Speeds(best.dram, best.pmem_read, best.pmem_written * factor))


def test_copy_from_pmem_to_dram():
    """8 bytes read there, 8 written here and read before: 136 GB/s of DRAM alone, 80 of both in paper 004."""
    assert time_model.stream(8, 8, "read") == Traffic(dram=16, pmem_read=8, pmem_written=0)


def test_errors_elsewhere_are_stated():
    found = time_model.predict(Traffic(dram=GB))
    assert found.error < 0.04 < found.error_elsewhere == max(map(abs, time_model.checks(time_model.fit()).values()))


def test_random_access_is_a_band():
    low, high = time_model.predict(Traffic(pmem_read=64)).random_seconds
    assert (round(low * 1e9, 1), round(high * 1e9)) == (17.4, 304)
