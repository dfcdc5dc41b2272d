import { once } from "node:events";
import { openTcpProxy, serverAt, type Target, type TcpProxy } from "./tcp-proxy.fixture.ts";

const drop = (): void => {};
/** A logger that drops everything, for servers that fail on purpose. */
export const NO_LOG = { debug: drop, info: drop, warn: drop, error: drop };

/** A server with one address for all its states. */
export interface StagedServer {
  readonly url: string;
  /** Stops the current server and starts one in this state. */
  enter(state: string): Promise<void>;
  /** Stops the server. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface ServerStates {
  /** Starts a server in this state. */
  start(state: string): Promise<{ readonly url: string; close(): Promise<void> }>;
  /**
   * What happens before the first request. `hold_stream` opens a stream. `stop` opens a stream and then stops the
   * server, which waits for the stream's end.
   */
  prelude(state: string): "hold_stream" | "stop" | null;
  /** How many bytes of a request arrive in this state. All by default. */
  bytesCarried?(state: string): number | undefined;
  /** Opens a silent stream and returns a function that closes it. */
  openStream(url: string, state: string): Promise<() => void>;
  /** Closes what all servers share. */
  close(): Promise<void>;
}

export async function openStagedServer(states: ServerStates): Promise<StagedServer> {
  const proxy = await openTcpProxy();
  let leave = async (): Promise<void> => {};
  const enter = async (state: string): Promise<void> => {
    await leave();
    leave = await startServer(states, state, proxy);
  };
  const close = async (): Promise<void> => {
    await Promise.all([proxy.close(), leave()]);
    await states.close();
  };
  return { url: proxy.url, enter, leave: () => leave(), close };
}

/** Starts the server in a state and returns a function that stops it. */
async function startServer(states: ServerStates, state: string, proxy: TcpProxy): Promise<() => Promise<void>> {
  const server = await states.start(state);
  const target = serverAt(server.url);
  const prelude = states.prelude(state);
  const closeStream = prelude === null ? () => {} : await states.openStream(server.url, state);
  proxy.setTarget(prelude === "stop" ? await stopAfterConnect(server, target) : target, states.bytesCarried?.(state));
  return async () => {
    closeStream();
    await server.close();
  };
}

/**
 * Opens a connection and then stops the server. A stopping server accepts no new connections, so callers use this one.
 */
async function stopAfterConnect(server: { close(): Promise<void> }, target: Target): Promise<Target> {
  const early = target();
  await once(early, "connect");
  void server.close();
  return () => early;
}
