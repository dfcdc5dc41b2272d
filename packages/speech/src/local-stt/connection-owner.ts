import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** A connection over the loopback interface, from the server's side. */
export interface LoopbackConnection {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localPort: number;
}

/** Linux lists the connections of this machine here, one per line, with the user that owns each end. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** Maximum lines read of a table. */
const LINES_MAX = 200_000;

/** 127.0.0.1, ::1 and 127.0.0.1 in an IPv6 socket, in the tables' notation. */
const LOOPBACK = new Set([
  "0100007F",
  "00000000000000000000000001000000",
  "0000000000000000FFFF00000100007F",
  "00000000000000000000FFFF0100007F",
]);
const ESTABLISHED = "01";

/**
 * The number of the user whose program opened the connection; null if the system does not report it, as outside Linux.
 * Other users of a machine can reach its loopback address, so the address does not identify the caller.
 */
export async function connectionOwner(
  connection: LoopbackConnection,
  tables: readonly string[] = TABLES,
): Promise<number | null> {
  for (const table of tables) {
    const owner = await ownerIn(table, connection).catch(() => null); // There is no such table here.
    if (owner !== null) return owner;
  }
  return null;
}

async function ownerIn(table: string, { remotePort, localPort }: LoopbackConnection): Promise<number | null> {
  const file = createReadStream(table, { encoding: "utf8" });
  let count = 0;
  try {
    for await (const line of createInterface({ input: file })) {
      count += 1;
      if (count > LINES_MAX) return null;
      const row = readRow(line);
      // The row of the client's end: its own port is the server's remote port.
      if (row?.ownPort === remotePort && row.otherPort === localPort) return row.owner;
    }
    return null;
  } finally {
    file.destroy();
  }
}

interface Row {
  readonly ownPort: number;
  readonly otherPort: number;
  readonly owner: number;
}

/** Null for headings, and for connections that are not established between loopback addresses. */
function readRow(line: string): Row | null {
  const [, own = "", other = "", state, , , , owner = ""] = line.trim().split(/\s+/);
  const [ownAddress = "", ownPort = ""] = own.split(":");
  const [otherAddress = "", otherPort = ""] = other.split(":");
  if (state !== ESTABLISHED || !LOOPBACK.has(ownAddress) || !LOOPBACK.has(otherAddress)) return null;
  if (!/^\d+$/.test(owner)) return null;
  return { ownPort: Number.parseInt(ownPort, 16), otherPort: Number.parseInt(otherPort, 16), owner: Number(owner) };
}
