const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const PORT = /:\d{1,5}$/;

/** Accepts a host with or without a port, such as `[::1]:8080`. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOSTS.has(host.toLowerCase().replace(PORT, ""));
}

/** Whether an origin, such as `http://localhost:3000`, belongs to this machine. */
export function isLoopbackOrigin(origin: string): boolean {
  const host = /^https?:\/\/(.+)$/i.exec(origin)?.[1];
  return host !== undefined && isLoopbackHost(host);
}

/** Returns a function that checks whether an origin is listed. Entries match exactly, such as `https://example.com`. */
export function originsAmong(originTexts: readonly string[]): (origin: string) => boolean {
  const origins = new Set(originTexts.map((origin) => origin.toLowerCase().replace(/\/+$/, "")));
  return (origin) => origins.has(origin.toLowerCase());
}
