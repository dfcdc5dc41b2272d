import { promptOf, type RendererCase } from "./cases.fixture.ts";
import type { Masking } from "./masks.fixture.ts";
import type { PageConnection } from "./proxy.fixture.ts";
import type { Snapshot, Viewer } from "./viewer.fixture.ts";

/** An event sent to a page. */
export interface Frame {
  readonly name: string;
  readonly data: unknown;
}

export interface Stream {
  readonly contentType: string;
  readonly frames: readonly Frame[];
}

/** Returns the reply to a page's request. `turn` counts the page's requests from 0. */
export type Source = (request: unknown, turn: number) => Promise<Stream>;

/** A page and the source of its streams. */
export interface PageWithSource {
  readonly viewer: Viewer;
  readonly connection: PageConnection;
  readonly masking: Masking;
  readonly source: Source;
}

/** The page after one event or request. */
export interface Step {
  /** Such as `request 1`, `response.created` or `end of the stream`. */
  readonly name: string;
  /** The body of the request, or null if this step is not a request. */
  readonly request: unknown;
  readonly snapshot: Snapshot;
}

/**
 * The AI SDK reports a failure within 50 ms of `response.created` as a refused request. It counts them by a timer of
 * the page. A longer timer, set in the page after the event was shown, ends after it, however slow the page is.
 */
const REFUSAL_MS = 100;

/**
 * Types the case's question into the page and sends the replies event by event. Each step waits until the caller takes
 * the one before.
 */
export async function* show(
  { viewer, connection, masking, source }: PageWithSource,
  shown: RendererCase,
): AsyncGenerator<Step> {
  let lines = 0;
  await viewer.say(promptOf(shown));
  for (const turn of shown.streams.keys()) {
    const reply = await connection.nextRequest();
    lines += 1;
    const asked = await viewer.snapshot({ lines, isOver: false });
    yield { name: `request ${turn + 1}`, request: reply.request, snapshot: asked };
    const { contentType, frames } = await source(masking.unmask(reply.request), turn);
    reply.begin(contentType);
    lines += 1; // The page also logs the reply's status and type.
    for (const { name, data } of frames) {
      reply.send(`event: ${name}\ndata: ${JSON.stringify(masking.mask(data))}\n\n`);
      lines += 1;
      const snapshot = await viewer.snapshot({ lines, isOver: false });
      if (name === "response.created") await viewer.sleep(REFUSAL_MS);
      yield { name, request: null, snapshot };
    }
    reply.end();
    lines += 1;
  }
  yield { name: "end of the stream", request: null, snapshot: await viewer.snapshot({ lines, isOver: true }) };
}
