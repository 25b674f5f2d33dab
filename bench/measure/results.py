"""What was measured, and what is said of it: medians, spread, outliers. One value is a row of the CSV."""
import csv
import statistics


class Results:
    COLUMNS = ("part", "case", "variant", "run", "quantity", "unit", "value")

    def __init__(self):
        self.rows = []

    def add(self, part, case, variant, run, quantity, unit, value):
        self.rows.append((part, case, variant, run, quantity, unit, value))

    def values(self, part, case, variant, quantity):
        """In the order of the runs."""
        return [row[6] for row in self.rows if (row[0], row[1], row[2], row[4]) == (part, case, variant, quantity)]

    def median(self, part, case, variant, quantity):
        values = self.values(part, case, variant, quantity)
        return statistics.median(values) if values else None

    def names(self, part, column):
        """The different entries of a column of a part, as they came."""
        place = self.COLUMNS.index(column)
        return list(dict.fromkeys(row[place] for row in self.rows if row[0] == part))

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.COLUMNS)
            writer.writerows(self.rows)


def outliers(values):
    """Those further from the quartiles than 1.5 times their distance (J. W. Tukey, Exploratory Data Analysis, 1977, 2C)."""
    if len(values) < 4:
        return []
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    reach = 1.5 * (third - first)
    return [value for value in values if not first - reach <= value <= third + reach]


def spread(values):
    """Least, median, greatest, and the outliers among them, as people read it."""
    if not values:
        return "none"
    text = "%.4g (%.4g to %.4g)" % (statistics.median(values), min(values), max(values))
    far = outliers(values)
    return text + (", outliers: " + ", ".join("%.4g" % value for value in far) if far else "")


def percent(over, base):
    return 100.0 * (over / base - 1.0)
