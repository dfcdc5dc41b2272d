import { setTimeout as sleep } from "node:timers/promises";
import { promptOf, type RendererCase } from "./cases.fixture.ts";
import type { Masking } from "./masks.fixture.ts";
import type { Stage } from "./proxy.fixture.ts";
import type { Snapshot, Viewer } from "./viewer.fixture.ts";

/** An event as it is sent to a page. */
export interface Frame {
  readonly name: string;
  readonly data: unknown;
}

export interface Stream {
  readonly contentType: string;
  readonly frames: readonly Frame[];
}

/** Where the replies to a page come from; `turn` counts its requests, from 0. */
export type Source = (request: unknown, turn: number) => Promise<Stream>;

/** A page in front of one source. */
export interface Seat {
  readonly viewer: Viewer;
  readonly stage: Stage;
  readonly masking: Masking;
  readonly source: Source;
}

/** What the page looks like after each thing that happens to it. */
export interface Step {
  /** `request 1`, `response.created`, `end of the stream`. */
  readonly name: string;
  /** What the page asked for, where this step is a request. */
  readonly request: unknown;
  readonly snapshot: Snapshot;
}

/**
 * The AI SDK takes a failure within 50 ms of the beginning for a refused request, and says so in other words. Both
 * pages are shown later ones.
 */
const REFUSAL_MS = 100;

/**
 * Asks the question of the case and shows the replies to the page event by event; each step waits until someone takes
 * it.
 */
export async function* show({ viewer, stage, masking, source }: Seat, shown: RendererCase): AsyncGenerator<Step> {
  let lines = 0;
  await viewer.say(promptOf(shown));
  for (const turn of shown.streams.keys()) {
    const reply = await stage.nextRequest();
    lines += 1;
    const asked = await viewer.snapshot({ lines, isOver: false });
    yield { name: `request ${turn + 1}`, request: reply.request, snapshot: asked };
    const { contentType, frames } = await source(masking.unmask(reply.request), turn);
    reply.begin(contentType);
    lines += 1; // The page writes status and type down, too.
    for (const { name, data } of frames) {
      reply.send(`event: ${name}\ndata: ${JSON.stringify(masking.mask(data))}\n\n`);
      lines += 1;
      if (name === "response.created") await sleep(REFUSAL_MS);
      yield { name, request: null, snapshot: await viewer.snapshot({ lines, isOver: false }) };
    }
    reply.end();
    lines += 1;
  }
  yield { name: "end of the stream", request: null, snapshot: await viewer.snapshot({ lines, isOver: true }) };
}
