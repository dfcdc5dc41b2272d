/** Nine tasks of an analyst over data that are made here, and what their answers must be. */

export interface AnalystTask {
  readonly title: string;
  /** Files of the container, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** What a model writes, as one call. */
  readonly code: string;
  /** What must be printed, as the last line. */
  readonly printed: string;
  /** Pictures that must be shown. */
  readonly pictures: number;
  /** Files that must be there afterwards, by name. */
  readonly kept: readonly string[];
}

interface Sale {
  readonly day: Date;
  readonly region: string;
  readonly units: number;
  /** Null where the file has none. */
  readonly price: number | null;
}

const SALES = 400;
const REGIONS = ["North", "South", "East", "West"];
const DAYS = 365;
const DAY_MS = 86_400_000;
const START = Date.UTC(2025, 0, 1);
const QUARTERS = 4;
const MONTHS_A_QUARTER = 3;
const POINTS = 60;
const SLOPE = 2.5;
const OFFSET = 7;
const ORDERS = 120;
const CUSTOMERS = 12;

const random = randomNumbers(7);
const sales = Array.from({ length: SALES }, (): Sale => {
  const day = new Date(START + Math.floor(random() * DAYS) * DAY_MS);
  const region = REGIONS[Math.floor(random() * REGIONS.length)] ?? "";
  const price = random() < 0.1 ? null : Math.round(random() * 10_000) / 100;
  return { day, region, units: 1 + Math.floor(random() * 20), price };
});
const points = Array.from({ length: POINTS }, (_, x) => ({ x, y: OFFSET + SLOPE * x + (random() - 0.5) }));
const customers = Array.from({ length: CUSTOMERS }, (_, id) => ({ id, joined: START + id * 30 * DAY_MS }));
const orders = Array.from({ length: ORDERS }, () => ({
  customer: Math.floor(random() * (CUSTOMERS + 3)),
  day: START + Math.floor(random() * DAYS) * DAY_MS,
}));

const SALES_FILE = {
  "sales.csv": csv(
    "date,region,units,price",
    sales.map(({ day, region, units, price }) => [isoDay(day.getTime()), region, units, price?.toFixed(2) ?? ""]),
  ),
};
const READ_SALES = "import pandas as pd\nsales = pd.read_csv('/mnt/data/sales.csv', parse_dates=['date'])\n";

export const ANALYST_TASKS: readonly AnalystTask[] = [
  {
    title: "a CSV file read with pandas, with gaps",
    files: SALES_FILE,
    code: `!pip install -q pandas\n${READ_SALES}print(len(sales), int(sales['price'].isna().sum()), round((sales['units'] * sales['price']).sum(), 2))`,
    printed: `${SALES} ${sales.filter(({ price }) => price === null).length} ${plain(revenue(sales))}`,
    pictures: 0,
    kept: [],
  },
  {
    title: "sums of groups, the largest first",
    files: SALES_FILE,
    code: `${READ_SALES}units = sales.groupby('region')['units'].sum().sort_values(ascending=False)\nprint(', '.join(f'{region} {count}' for region, count in units.items()))`,
    printed: regionsByUnits(),
    pictures: 0,
    kept: [],
  },
  {
    title: "a plot of months",
    files: SALES_FILE,
    code: `%matplotlib inline\n${READ_SALES}import matplotlib.pyplot as plt\nmonths = sales.set_index('date')['units'].resample('MS').sum()\nfigure, axes = plt.subplots(figsize=(6, 3))\naxes.bar(months.index, months.values, width=20)\naxes.set_title('Units a month')\nplt.savefig('/mnt/data/months.png')\nprint(len(months))\nplt.show()`,
    printed: String(new Set(sales.map(({ day }) => day.getUTCMonth())).size),
    pictures: 1,
    kept: ["months.png"],
  },
  {
    title: "a workbook written and read again",
    files: SALES_FILE,
    code: `${READ_SALES}sales.to_excel('/mnt/data/report.xlsx', index=False, sheet_name='Sales')\nfrom openpyxl import load_workbook\nbook = load_workbook('/mnt/data/report.xlsx')\nsheet = book['Sales']\nsheet['F1'] = '=SUM(C2:C%d)' % sheet.max_row\nbook.save('/mnt/data/report.xlsx')\nagain = load_workbook('/mnt/data/report.xlsx')['Sales']\nprint(again.max_row, again['F1'].value, sum(cell.value for cell in again['C'][1:]))`,
    printed: `${SALES + 1} =SUM(C2:C${SALES + 1}) ${sales.reduce((sum, { units }) => sum + units, 0)}`,
    pictures: 0,
    kept: ["report.xlsx"],
  },
  {
    title: "a picture drawn and made smaller",
    files: {},
    code: "from PIL import Image, ImageDraw\nimage = Image.new('RGB', (640, 480), 'white')\nImageDraw.Draw(image).ellipse((120, 40, 520, 440), fill=(200, 30, 30))\nimage.thumbnail((160, 160))\nimage.save('/mnt/data/small.png')\nprint(*Image.open('/mnt/data/small.png').size, image.getpixel((80, 60)))\nimage",
    printed: "160 120 (200, 30, 30)",
    pictures: 1,
    kept: ["small.png"],
  },
  {
    title: "a regression",
    files: {
      "points.csv": csv(
        "x,y",
        points.map(({ x, y }) => [x, y]),
      ),
    },
    code: "import pandas as pd\nfrom scipy import stats\nfrom sklearn.linear_model import LinearRegression\npoints = pd.read_csv('/mnt/data/points.csv')\nmodel = LinearRegression().fit(points[['x']], points['y'])\nline = stats.linregress(points['x'], points['y'])\nassert abs(model.coef_[0] - line.slope) < 1e-9\nprint(f'{line.slope:.4f} {model.intercept_:.4f} {line.rvalue ** 2:.4f}')",
    printed: regression(),
    pictures: 0,
    kept: [],
  },
  {
    title: "an integral and an equation, by symbols",
    files: {},
    code: "import sympy as sp\nx = sp.symbols('x')\nprint(sp.integrate(x * sp.exp(x), (x, 0, 1)), sorted(sp.solve(x**2 - 5*x + 6, x)), sp.diff(sp.sin(x)**2, x).subs(x, sp.pi / 4))",
    printed: "1 [2, 3] 1",
    pictures: 0,
    kept: [],
  },
  {
    title: "two files with dates merged",
    files: {
      "orders.csv": csv(
        "customer,day",
        orders.map(({ customer, day }) => [customer, germanDay(day)]),
      ),
      "customers.json": JSON.stringify(customers.map(({ id, joined }) => ({ id, joined: isoDay(joined) }))),
    },
    code: "import pandas as pd\norders = pd.read_csv('/mnt/data/orders.csv')\norders['day'] = pd.to_datetime(orders['day'], format='%d.%m.%Y')\ncustomers = pd.read_json('/mnt/data/customers.json', convert_dates=['joined'])\nmerged = orders.merge(customers, left_on='customer', right_on='id', how='left', indicator=True)\nknown = merged[merged['_merge'] == 'both']\nprint(int((merged['_merge'] == 'left_only').sum()), int((known['day'] < known['joined']).sum()), int((known['day'] - known['joined']).dt.days.max()))",
    printed: mergedOrders(),
    pictures: 0,
    kept: [],
  },
  {
    title: "a pivot of regions and quarters",
    files: SALES_FILE,
    code: `${READ_SALES}table = sales.pivot_table(index='region', columns=sales['date'].dt.quarter, values='units', aggfunc='sum', fill_value=0)\ntable.to_csv('/mnt/data/pivot.csv')\nprint(table.astype(int).to_numpy().tolist())`,
    printed: pivot(),
    pictures: 0,
    kept: ["pivot.csv"],
  },
];

function revenue(list: readonly Sale[]): number {
  return Math.round(list.reduce((sum, { units, price }) => sum + units * (price ?? 0) * 100, 0)) / 100;
}

function regionsByUnits(): string {
  const sums = REGIONS.map((region) => ({ region, units: unitsOf((sale) => sale.region === region) }));
  return sums
    .toSorted((one, other) => other.units - one.units)
    .map(({ region, units }) => `${region} ${units}`)
    .join(", ");
}

function unitsOf(belongs: (sale: Sale) => boolean): number {
  return sales.filter(belongs).reduce((sum, { units }) => sum + units, 0);
}

function regression(): string {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = { x: mean(points.map(({ x }) => x)), y: mean(points.map(({ y }) => y)) };
  const products = (one: "x" | "y", other: "x" | "y"): number =>
    points.reduce((sum, point) => sum + (point[one] - middle[one]) * (point[other] - middle[other]), 0);
  const slope = products("x", "y") / products("x", "x");
  const share = products("x", "y") ** 2 / (products("x", "x") * products("y", "y"));
  return [slope, middle.y - slope * middle.x, share].map((value) => value.toFixed(4)).join(" ");
}

function mergedOrders(): string {
  const known = orders.flatMap(({ customer, day }) => {
    const joined = customers[customer]?.joined;
    return joined === undefined ? [] : [(day - joined) / DAY_MS];
  });
  return `${orders.length - known.length} ${known.filter((days) => days < 0).length} ${Math.max(...known)}`;
}

function pivot(): string {
  const rows = REGIONS.toSorted().map((region) =>
    Array.from({ length: QUARTERS }, (_, quarter) =>
      unitsOf(({ day, region: own }) => own === region && Math.floor(day.getUTCMonth() / MONTHS_A_QUARTER) === quarter),
    ),
  );
  return `[${rows.map((row) => `[${row.join(", ")}]`).join(", ")}]`;
}

function csv(head: string, rows: readonly (readonly (string | number)[])[]): string {
  return `${[head, ...rows.map((row) => row.join(","))].join("\n")}\n`;
}

function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, "2025-01-01".length);
}

function germanDay(time: number): string {
  return isoDay(time).split("-").toReversed().join(".");
}

/** As Python writes a number. */
function plain(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

/** Numbers from 0 to 1, the same in each run: a linear congruential generator. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
