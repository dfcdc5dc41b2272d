import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/kit/temporary-folder.ts";
import { connectionOwner } from "./connection-owner.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const REST = "00000000:00000000 00:00000000 00000000";
const V4 = "0100007F";
const V6 = "00000000000000000000000001000000";
/** From port 40000 to 8237. */
const CONNECTION = { remoteAddress: "127.0.0.1", remotePort: 40_000, localPort: 8237 };

async function table(...rows: readonly string[]): Promise<string> {
  const folder = temporaryFolder();
  const file = join(folder, "tcp");
  await writeFile(file, `${[HEAD, ...rows].join("\n")}\n`);
  return file;
}

test("the owner is that of the client's end of the connection", async () => {
  const rows = [
    `0: ${V4}:202D ${V4}:9C40 01 ${REST} 0 0 1`, // The server's end.
    `1: ${V4}:9C41 ${V4}:202D 01 ${REST} 7 0 2`, // Another client.
    `2: 0200A8C0:9C40 0300A8C0:202D 01 ${REST} 8 0 3`, // The same ports of other machines.
    `3: ${V4}:9C40 ${V4}:202D 06 ${REST} 9 0 4`, // An earlier connection with these ports, waiting to be forgotten.
    `4: ${V4}:9C40 ${V4}:202D 01 ${REST} 1000 0 5`,
  ];
  expect(await connectionOwner(CONNECTION, [await table(...rows)])).toBe(1000);
});

test("connections of IPv6 are found in the second table", async () => {
  const tables = [await table(), await table(`0: ${V6}:9C40 ${V6}:202D 01 ${REST} 1000 0 1`)];
  expect(await connectionOwner(CONNECTION, tables)).toBe(1000);
});

test("a system without such tables does not tell the owner", async () => {
  expect(await connectionOwner(CONNECTION, ["/no/such/table", "/nor/this"])).toBeNull();
});
