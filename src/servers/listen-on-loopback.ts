import { isRecord } from "../base/json/records.ts";
import type { Application } from "../transport/http/application.ts";
import { type ListenOptions, listen, type RunningServer } from "../transport/http/server.ts";

/** Listens on 127.0.0.1, and on the same port of ::1 if this machine has IPv6 and the port is free. */
export async function listenOnLoopback(
  application: Application,
  options: Omit<ListenOptions, "host">,
): Promise<RunningServer> {
  const server = await listen(application, { ...options, host: "127.0.0.1" });
  const other = await listen(application, { ...options, host: "::1", port: server.address.port }).catch(
    async (error: unknown) => {
      if (isUnavailable(error)) return null;
      await server.close();
      throw error;
    },
  );
  return {
    ...server,
    close: async () => {
      await Promise.all([server.close(), other?.close()]);
    },
  };
}

const UNAVAILABLE: ReadonlySet<unknown> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT", "EADDRINUSE", "EINVAL"]);

function isUnavailable(error: unknown): boolean {
  return isRecord(error) && UNAVAILABLE.has(error["code"]);
}
