import type OpenAI from "openai";
import type { Records } from "./records.ts";
import type { World } from "./world.ts";

/** What the clients of a trial work with. */
export interface Desk {
  /** The official client. Each call may reach another node. */
  readonly client: OpenAI;
  readonly world: World;
  readonly records: Records;
}

/** The model servers of these tests accept every name. */
export const MODEL = "m";
/** How long a client tries again before it says that the cluster does not heal. */
export const PATIENCE_MS = 60_000;
/** Between two tries. */
export const REST_MS = 150;
