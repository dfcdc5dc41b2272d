import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { xlsxOf } from "../responses/office-samples.ts";
import { verifies } from "../verifies.ts";
import { search, takeIn } from "./store-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const COLUMNS = ["customer", "town", "product", "ordered_on", "amount"];
const FIRST_NAMES = ["Mira", "Jonas", "Adele", "Tariq", "Lena", "Oskar", "Priya", "Hugo", "Nadia", "Emil"];
const LAST_NAMES = ["Kessler", "Brandt", "Okafor", "Lindqvist", "Moreau", "Tanaka", "Varga", "Petrov", "Silva", "Haas"];
const TOWNS = ["Graz", "Lyon", "Porto", "Turku", "Gdansk", "Bergen", "Ghent"];
const PRODUCTS = ["kettle", "lamp", "ladder", "drill", "bench", "scale", "heater", "mirror", "ladle", "tent", "rug"];

/** No two rows have the same customer, and no two the same town and product on one day. */
const ROWS = Array.from({ length: 800 }, (_, row) => [
  `${FIRST_NAMES[row % 10]} ${LAST_NAMES[Math.floor(row / 10) % 10]} ${"ABCDEFGH"[Math.floor(row / 100)]}${row % 7}`,
  TOWNS[(row * 3) % TOWNS.length] ?? "",
  PRODUCTS[(row * 5) % PRODUCTS.length] ?? "",
  new Date(Date.UTC(2025, 0, 1 + (row % 365))).toISOString().slice(0, 10),
  `${(row * 7919) % 5000}.50`,
]);

/** Each asks about one row, by its customer, its place and its day, or its amount. */
const QUESTIONS = Array.from({ length: 60 }, (_, index) => {
  const row = (index * 13 + 5) % ROWS.length;
  const [customer, town, product, day, amount] = ROWS[row] ?? [];
  const forms = [
    `What did ${customer} order?`,
    `Who ordered a ${product} in ${town} on ${day}?`,
    `Which customer paid the amount ${amount}?`,
  ];
  return { row: ROWS[row] ?? [], question: forms[index % forms.length] ?? "" };
});

const bars = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const cellXml = (text: string): string => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
const rowXml = (cells: readonly string[]): string => `<row>${cells.map(cellXml).join("")}</row>`;
const rowHtml = (cells: readonly string[], tag: string): string =>
  `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;

test.each<readonly [string, string | Uint8Array, string, columns: string]>([
  ["orders.csv", [COLUMNS, ...ROWS].map((row) => row.join(",")).join("\n"), ",", COLUMNS.join(",")],
  ["orders.xlsx", xlsxOf({ sheets: { Orders: [COLUMNS, ...ROWS].map(rowXml).join("") } }), "\t", COLUMNS.join("\t")],
  [
    "orders.md",
    `# Orders\n\nAll of them.\n\n${[bars(COLUMNS), "|---|---|---|---|---|", ...ROWS.map(bars)].join("\n")}\n`,
    " | ",
    bars(COLUMNS),
  ],
  [
    "orders.html",
    `<title>Our orders</title><h1>Orders</h1><table>${rowHtml(COLUMNS, "th")}${ROWS.map((row) => rowHtml(row, "td")).join("")}</table>`,
    " | ",
    bars(COLUMNS),
  ],
])(
  "60 questions about rows of %s find the right piece first, with the names of its columns",
  async (name, content, between, columns) => {
    verifies("vector-stores.search.context-of-pieces");
    const { storeId } = await takeIn(server, name, content);
    const missed: string[] = [];
    for (const { row, question } of QUESTIONS) {
      const [first] = await search(server, storeId, question);
      const text = first?.content[0]?.text ?? "";
      if (!text.includes(row.join(between)) || !text.includes(columns)) missed.push(question);
    }
    expect(missed).toEqual([]);
  },
);
