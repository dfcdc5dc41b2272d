import { onTestFinished } from "vitest";
import { TcpProxy } from "./tcp-proxy.ts";

/** Listens on a free port until the test ends, and connects to the host and port of `target`. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const proxy = new TcpProxy(target);
  await proxy.listen();
  onTestFinished(() => proxy.close());
  return proxy;
}
