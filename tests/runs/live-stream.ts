import { type ReadStream, readStream } from "../responses/read-stream.ts";

/** A stream that is being read while the test goes on. */
export interface LiveStream {
  /** The id of its response, once its first event is there. */
  readonly id: Promise<string>;
  /** The whole of it, once it has ended. */
  readonly whole: Promise<ReadStream>;
}

export function readLive(reply: Response): LiveStream {
  const first = Promise.withResolvers<string>();
  const whole = async (): Promise<ReadStream> => {
    let text = "";
    for await (const piece of (reply.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
      text += piece;
      const id = /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1];
      if (id !== undefined) first.resolve(id);
    }
    return await readStream(new Response(text, { status: reply.status }));
  };
  return { id: first.promise, whole: whole() };
}
