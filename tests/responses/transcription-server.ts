import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { serveHttp } from "../kit/http-server.ts";

/** What a transcription server received. */
export interface ReceivedRecording {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The fields of the form without its file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly type: string;
  readonly filename: string;
  readonly bytes: Buffer;
  /** Settles when the call has ended, answered or not. */
  readonly closed: Promise<void>;
}

export interface TranscriptionServer {
  readonly baseUrl: string;
  readonly received: readonly ReceivedRecording[];
}

export interface Transcription {
  readonly status?: number;
  readonly body?: unknown;
  /** Never answers. */
  readonly isSilent?: boolean;
}

/** A server of the test with `/v1/audio/transcriptions`, on a real port, until the test ends. */
export async function serveTranscriptions(answer: Transcription): Promise<TranscriptionServer> {
  const received: ReceivedRecording[] = [];
  const { url } = await serveHttp((request, response) => {
    const closed = new Promise<void>((resolve) => response.once("close", () => resolve()));
    void read(request).then((recording) => {
      received.push({ ...recording, closed });
      if (answer.isSilent === true) return;
      response.writeHead(answer.status ?? 200, { "content-type": "application/json" });
      response.end(JSON.stringify(answer.body ?? { text: "Hello from the tape." }));
    });
  });
  return { baseUrl: `${url}/v1`, received };
}

async function read(request: IncomingMessage): Promise<Omit<ReceivedRecording, "closed">> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece));
  const { url = "", headers } = request;
  const form = await new Response(Buffer.concat(pieces), {
    headers: { "content-type": headers["content-type"] ?? "" },
  }).formData();
  const file = form.get("file");
  if (!(file instanceof File)) throw new Error("the form has no file");
  form.delete("file");
  const fields = Object.fromEntries(
    [...form].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
  const bytes = Buffer.from(await file.arrayBuffer());
  return { path: url, headers, fields, type: file.type, filename: file.name, bytes };
}
