import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { type SigningKey, signatureFault } from "./s3-signature.ts";

/** What the storage does wrong with a call. */
export type S3Fault =
  /** Answers with an error of its own. */
  | { readonly type: "error"; readonly status: number; readonly code: string }
  /** Carries the call out, and breaks the connection instead of answering. */
  | { readonly type: "lost-answer" }
  /** Never answers. */
  | { readonly type: "silence" }
  /** Sends so many bytes of an object, and breaks the connection. */
  | { readonly type: "broken-body"; readonly afterBytes: number }
  /** The end of an upload fails after its status was sent. */
  | { readonly type: "late-error"; readonly code: string };

export interface S3Server extends SigningKey {
  readonly endpoint: string;
  readonly bucket: string;
  /** The objects by their keys. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** The keys of unfinished uploads. */
  readonly unfinished: () => readonly string[];
  /** Each call as its method and path, with the range that was asked for. */
  readonly calls: readonly string[];
  /** Plans what is done wrong with calls like this, one after the other. */
  readonly plan: (method: string, ...faults: readonly (S3Fault | null)[]) => void;
  /** Stops listening and breaks all connections. */
  readonly goAway: () => Promise<void>;
  readonly comeBack: () => Promise<void>;
}

interface StoredObject {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly meta: Readonly<Record<string, string>>;
}

interface Upload {
  readonly key: string;
  readonly meta: Readonly<Record<string, string>>;
  readonly parts: Map<number, StoredObject>;
}

interface Call {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

const BUCKET = "antiphon-tests";
const KEY: SigningKey = {
  accessKeyId: "AKIATESTSOFANTIPHON",
  secretAccessKey: "secret/of+the/tests+0123456789abcdef",
  region: "eu-test-1",
};
/** Of all parts but the last. */
const PART_BYTES_MIN = 5 * 1024 * 1024;

/** A storage of one bucket that speaks the part of S3 that we use, strictly. It ends with the test. */
export async function startS3Server(): Promise<S3Server> {
  const bucket = new Bucket();
  const calls: string[] = [];
  const faults = new Map<string, (S3Fault | null)[]>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await readCall(request);
    const { range } = request.headers;
    calls.push(`${call.method} ${request.url ?? ""}${range === undefined ? "" : ` ${range}`}`);
    const fault = faults.get(call.method)?.shift() ?? null;
    if (fault?.type === "silence") return;
    if (fault?.type === "error") return send(response, call, errorAnswer(fault.status, fault.code));
    if (fault?.type === "late-error") return send(response, call, errorAnswer(200, fault.code));
    const answered = bucket.carryOut(call);
    if (fault?.type === "lost-answer") return void response.destroy();
    if (fault?.type === "broken-body") return breakBody(response, answered, fault.afterBytes);
    send(response, call, answered);
  };
  const listen = async (port: number): Promise<number> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  };
  const goAway = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const port = await listen(0);
  onTestFinished(goAway);
  return {
    ...KEY,
    endpoint: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    objects: bucket.contents,
    unfinished: () => [...bucket.uploads.values()].map(({ key }) => key),
    calls,
    plan: (method, ...planned) => void faults.set(method, [...planned]),
    goAway,
    comeBack: async () => void (await listen(port)),
  };
}

class Bucket {
  readonly contents = new Map<string, Buffer>();
  readonly uploads = new Map<string, Upload>();
  readonly #objects = new Map<string, StoredObject>();

  carryOut(call: Call): Answer {
    const fault = signatureFault(call.request, call.body, KEY);
    if (fault !== null) return errorAnswer(fault === "XAmzContentSHA256Mismatch" ? 400 : 403, fault);
    const { method, query, key } = call;
    const uploadId = query.get("uploadId");
    if (key === "") return query.has("uploads") ? this.#listUploads(query) : errorAnswer(501, "NotImplemented");
    if (uploadId !== null) return this.#withUpload(call, uploadId);
    if (method === "POST" && query.has("uploads")) return this.#beginUpload(call);
    if (method === "PUT") return this.#put(call, objectOf(call.body, metaOf(call.request)));
    if (method === "GET" || method === "HEAD") return this.#get(call);
    if (method === "DELETE") return this.#remove(key);
    return errorAnswer(405, "MethodNotAllowed");
  }

  #put({ key, request }: Call, object: StoredObject): Answer {
    if (request.headers["if-none-match"] === "*" && this.#objects.has(key))
      return errorAnswer(412, "PreconditionFailed");
    this.#objects.set(key, object);
    this.contents.set(key, object.bytes);
    return { status: 200, headers: { etag: object.etag } };
  }

  #get({ key, request }: Call): Answer {
    const object = this.#objects.get(key);
    if (object === undefined) return errorAnswer(404, "NoSuchKey");
    const { bytes, etag, meta } = object;
    const headers = { ...meta, etag, "accept-ranges": "bytes" };
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    if (range === null) return { status: 200, headers, body: bytes };
    const [first, last] = [Number(range[1]), range[2] === "" ? bytes.length - 1 : Number(range[2])];
    if (first >= bytes.length) return errorAnswer(416, "InvalidRange");
    const contentRange = `bytes ${first}-${Math.min(last, bytes.length - 1)}/${bytes.length}`;
    return {
      status: 206,
      headers: { ...headers, "content-range": contentRange },
      body: bytes.subarray(first, last + 1),
    };
  }

  #remove(key: string): Answer {
    this.#objects.delete(key);
    this.contents.delete(key);
    return { status: 204 };
  }

  #beginUpload({ key, request }: Call): Answer {
    const uploadId = randomUUID();
    this.uploads.set(uploadId, { key, meta: metaOf(request), parts: new Map() });
    return xml(200, `<InitiateMultipartUploadResult><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`);
  }

  #withUpload(call: Call, uploadId: string): Answer {
    const { method, key, query, body } = call;
    const upload = this.uploads.get(uploadId);
    if (upload?.key !== key) return errorAnswer(404, "NoSuchUpload");
    if (method === "PUT") {
      const part = objectOf(body, {});
      upload.parts.set(Number(query.get("partNumber")), part);
      return { status: 200, headers: { etag: part.etag } };
    }
    if (method === "POST") return this.#endUpload(call, uploadId, upload);
    this.uploads.delete(uploadId);
    return { status: 204 };
  }

  #endUpload(call: Call, uploadId: string, { meta, parts }: Upload): Answer {
    const listed = [
      ...call.body.toString().matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag><\/Part>/g),
    ];
    const chosen = listed.map(([, number, etag]) => ({ part: parts.get(Number(number)), etag }));
    if (chosen.length === 0) return errorAnswer(400, "MalformedXML");
    if (chosen.some(({ part, etag = "" }) => part?.etag !== etag.replaceAll("&quot;", '"')))
      return errorAnswer(400, "InvalidPart");
    const pieces = chosen.flatMap(({ part }) => (part === undefined ? [] : [part.bytes]));
    if (pieces.slice(0, -1).some(({ length }) => length < PART_BYTES_MIN)) return errorAnswer(400, "EntityTooSmall");
    const done = this.#put(call, objectOf(Buffer.concat(pieces), meta));
    if (done.status !== 200) return done;
    this.uploads.delete(uploadId);
    return xml(200, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>");
  }

  #listUploads(query: URLSearchParams): Answer {
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(query.get("prefix") ?? ""));
    const listed = found.map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    return xml(200, `<ListMultipartUploadsResult>${listed.join("")}</ListMultipartUploadsResult>`);
  }
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const url = new URL(request.url ?? "", "http://storage");
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece));
  const key = decodeURIComponent(url.pathname.slice(`/${BUCKET}`.length).replace(/^\//, ""));
  return { method: request.method ?? "", key, query: url.searchParams, request, body: Buffer.concat(pieces) };
}

function send(response: ServerResponse, { method }: Call, { status, headers = {}, body = "" }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) });
  response.end(method === "HEAD" || status === 204 ? undefined : body);
}

function breakBody(response: ServerResponse, { status, headers, body = "" }: Answer, afterBytes: number): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, "content-length": String(bytes.length) });
  response.write(bytes.subarray(0, afterBytes), () => setTimeout(() => response.destroy(), 20));
}

function objectOf(bytes: Buffer, meta: StoredObject["meta"]): StoredObject {
  return { bytes, etag: `"${createHash("md5").update(bytes).digest("hex")}"`, meta };
}

function metaOf(request: IncomingMessage): StoredObject["meta"] {
  const names = Object.keys(request.headers).filter((name) => name.startsWith("x-amz-meta-"));
  return Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
}

function errorAnswer(status: number, code: string): Answer {
  return xml(status, `<Error><Code>${code}</Code><Message>as planned</Message></Error>`);
}

function xml(status: number, text: string): Answer {
  return {
    status,
    headers: { "content-type": "application/xml" },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${text}`,
  };
}
