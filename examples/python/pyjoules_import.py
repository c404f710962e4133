"""A program for pyJoules, with its import lines changed."""

from wattle.compat.pyjoules.energy_meter import measure_energy
from wattle.compat.pyjoules.handler.csv_handler import CSVHandler

handler = CSVHandler("result.csv")


@measure_energy(handler=handler)
def work():
    return sum(range(500_000))


for _ in range(3):
    work()
handler.save_data()
with open("result.csv") as file:
    print(file.read())
