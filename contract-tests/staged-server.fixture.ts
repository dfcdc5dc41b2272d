import { once } from "node:events";
import { type FrontDoor, openFrontDoor, serverAt, type Target } from "./front-door.fixture.ts";

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

export interface Stage {
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

export async function openStagedServer(stage: Stage): Promise<StagedServer> {
  const door = await openFrontDoor();
  let leave = async (): Promise<void> => {};
  const enter = async (state: string): Promise<void> => {
    await leave();
    leave = await play(stage, state, door);
  };
  const close = async (): Promise<void> => {
    await Promise.all([door.close(), leave()]);
    await stage.close();
  };
  return { url: door.url, enter, leave: () => leave(), close };
}

/** Starts the server in a state and returns a function that stops it. */
async function play(stage: Stage, state: string, door: FrontDoor): Promise<() => Promise<void>> {
  const server = await stage.start(state);
  const target = serverAt(server.url);
  const prelude = stage.prelude(state);
  const breakOff = prelude === null ? () => {} : await stage.openStream(server.url, state);
  door.leadTo(prelude === "stop" ? await stopped(server, target) : target, stage.bytesCarried?.(state));
  return async () => {
    breakOff();
    await server.close();
  };
}

/**
 * Opens a connection and then stops the server. A stopping server accepts no new connections, so callers use this one.
 */
async function stopped(server: { close(): Promise<void> }, target: Target): Promise<Target> {
  const early = target();
  await once(early, "connect");
  void server.close();
  return () => early;
}
