import { textPieces } from "../kit/event-stream.ts";
import { type ReadStream, readStream } from "../responses/read-stream.ts";

/** A stream that is read while the test continues. */
export interface LiveStream {
  /** The id of its response, known from its first event. */
  readonly id: Promise<string>;
  /** The complete stream, once it has ended. */
  readonly whole: Promise<ReadStream>;
}

export function readLive(reply: Response): LiveStream {
  const first = Promise.withResolvers<string>();
  const whole = async (): Promise<ReadStream> => {
    let text = "";
    for await (const piece of textPieces(reply)) {
      text += piece;
      const id = /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1];
      if (id !== undefined) first.resolve(id);
    }
    return await readStream(new Response(text, { status: reply.status }));
  };
  return { id: first.promise, whole: whole() };
}
