import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  /** Does not change when the target does. */
  readonly url: string;
  /**
   * Sends new connections to `target` and passes on at most `bytesMax` bytes from each caller. Closes open connections.
   */
  setTarget(target: Target, bytesMax?: number): void;
  close(): Promise<void>;
}

/** Connects to the server behind the proxy. */
export type Target = () => Socket;

/** Opens a TCP proxy with a fixed address for servers that are replaced during the tests. It does not inspect bytes. */
export async function openTcpProxy(): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let target: Target | null = null;
  let bytesMax = Number.POSITIVE_INFINITY;
  const server = createServer((caller) => {
    if (target === null) return void caller.destroy();
    const behind = target();
    for (const [socket, other] of [
      [caller, behind],
      [behind, caller],
    ] as const) {
      open.add(socket);
      socket.on("error", () => other.destroy());
      socket.once("close", () => {
        open.delete(socket);
        other.end();
      });
    }
    behind.pipe(caller);
    forward(caller, behind, bytesMax);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const hangUp = (): void => {
    for (const socket of open) socket.destroy();
  };
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    setTarget: (next, carried = Number.POSITIVE_INFINITY) => {
      hangUp();
      target = next;
      bytesMax = carried;
    },
    close: async () => {
      hangUp();
      server.close();
      await once(server, "close");
    },
  };
}

/** Passes on the first `bytesMax` bytes and drops the rest. */
function forward(from: Socket, to: Socket, bytesMax: number): void {
  let carried = 0;
  from.on("data", (bytes) => {
    const rest = bytes.subarray(0, Math.max(0, bytesMax - carried));
    carried += rest.length;
    if (rest.length > 0) to.write(rest);
  });
}

export function serverAt(url: string): Target {
  const { hostname, port } = new URL(url);
  return () => connect({ host: hostname, port: Number(port) });
}
