import { once } from "node:events";
import { type FrontDoor, openFrontDoor, serverAt, type Target } from "./front-door.fixture.ts";

const drop = (): void => {};
/** For servers that are meant to fail. */
export const NO_LOG = { debug: drop, info: drop, warn: drop, error: drop };

/** Stays at one address, whatever state its server is in. */
export interface StagedServer {
  readonly url: string;
  /** Starts a server in this state; the one before ends. */
  enter(state: string): Promise<void>;
  /** Stops the server. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface Stage {
  /** Starts a server in this state. */
  start(state: string): Promise<{ readonly url: string; close(): Promise<void> }>;
  /**
   * What is done with it before anybody asks. `hold_stream`: one is open. `stop`: one is open, and the server waits for
   * its end.
   */
  prelude(state: string): "hold_stream" | "stop" | null;
  /** How many bytes of a request arrive in this state; left out: all. */
  bytesCarried?(state: string): number | undefined;
  /** Opens a stream that says nothing, and gives what breaks it off. */
  openStream(url: string, state: string): Promise<() => void>;
  /** Ends what all servers share. */
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

/** Gives what ends the server. */
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

/** A server that is stopping takes no more connections: this one was there before. */
async function stopped(server: { close(): Promise<void> }, target: Target): Promise<Target> {
  const early = target();
  await once(early, "connect");
  void server.close();
  return () => early;
}
