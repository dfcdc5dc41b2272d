import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { readError } from "./catalogue-error.ts";
import { bodyOf, createCall, createHead, isWhole, RawConnection } from "./raw-connection.ts";

const BODY = { model: "antiphon-built-in", input: "Say hello" };

/**
 * Bytes that are not a request, and the statuses allowed in reply. 0 means that the connection closes without a reply.
 */
const GARBAGE: Readonly<Record<string, readonly [statuses: readonly number[], bytes: string | Uint8Array]>> = {
  "a greeting of TLS": [[400], Buffer.from("16030100c8010000c40303", "hex")],
  "a preface of HTTP/2": [[400, 404, 505], "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  "an unknown version": [[400, 505], "GET /v1/models HTTP/9.9\r\nhost: x\r\n\r\n"],
  "no version": [[400, 401], "GET /v1/models\r\n\r\n"],
  "an unknown method": [[400], "FROB /v1/models HTTP/1.1\r\nhost: x\r\n\r\n"],
  "random bytes": [[400], Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 251))],
  "no host": [[400], "GET /v1/models HTTP/1.1\r\n\r\n"],
  "a NUL in a header": [[400], "GET /v1/models HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n"],
  "a folded header": [[400, 401], "GET /v1/models HTTP/1.1\r\nhost: x\r\nx: a\r\n b\r\n\r\n"],
  "a space before a colon": [[400], "GET /v1/models HTTP/1.1\r\nhost : x\r\n\r\n"],
  "two lengths": [[400], "POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
  "a length and chunks": [
    [400],
    "POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  "invalid chunks": [[400, 401], "POST /v1/responses HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"],
  "a header of 100,000 characters": [[431], `GET /v1/models HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(100_000)}\r\n\r\n`],
  "10,000 headers": [[431], `GET /v1/models HTTP/1.1\r\nhost: x\r\n${"x: y\r\n".repeat(10_000)}\r\n`],
  "a path of 100,000 characters": [[400, 414, 431], `GET /${"y".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  "a path without end": [[404], "GET /v1/../../../../etc/passwd HTTP/1.1\r\nhost: x\r\n\r\n"],
  "a path of broken escapes": [[400, 401, 404], "GET /v1/responses/%zz%ff%00 HTTP/1.1\r\nhost: x\r\n\r\n"],
  "a whole address": [[400, 401, 404], "GET http://127.0.0.1/v1/models HTTP/1.1\r\nhost: x\r\n\r\n"],
  "an address of its own kind": [[400, 404], "OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n"],
  "a tunnel": [[0, 400, 404, 405], "CONNECT example.invalid:443 HTTP/1.1\r\nhost: x\r\n\r\n"],
  "an upgrade to an unknown protocol": [
    [401, 400, 404],
    "GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: zzz\r\n\r\n",
  ],
  "an upgrade to a WebSocket without its key": [
    [400, 401, 404, 426],
    "GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
  ],
  "an unknown expectation": [
    [401],
    "POST /v1/responses HTTP/1.1\r\nhost: x\r\nexpect: zzz\r\ncontent-length: 2\r\n\r\n{}",
  ],
};

describe("a connection with garbage", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  async function exchange(bytes: string | Uint8Array): Promise<string> {
    const connection = await RawConnection.open(server.url);
    connection.send(bytes);
    connection.socket.end();
    return connection.untilClosed();
  }

  async function expectServing(): Promise<void> {
    expect((await server.post("/v1/responses", BODY)).status).toBe(200);
  }

  test.each(Object.keys(GARBAGE))("is answered with an error or closed: %s", async (name) => {
    verifies("transport.faults.no-request-ends-the-process", "transport.faults.upgrade-elsewhere-is-answered");
    const [statuses, bytes] = GARBAGE[name] ?? [[], ""];
    const received = await exchange(bytes);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(received)?.[1] ?? 0);
    expect(statuses, received.slice(0, 500)).toContain(status);
    if (status !== 0) readError(bodyOf(received));
    await expectServing();
  });

  test("after a valid request does not affect its answer", async () => {
    const received = await exchange(`${createCall(server.apiKey, BODY)}\0\0 this is no request \r\n\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 (?:200|400) /);
    await expectServing();
  });

  test("after many valid requests in one write does not end the process", async () => {
    const calls = createCall(server.apiKey, { ...BODY, stream: true }).repeat(50);
    const connection = await RawConnection.open(server.url);
    connection.send(`${calls}NONSENSE\r\n\r\n`);
    await connection.untilClosed();
    await expectServing();
  });

  test("that closes during many pipelined requests ends the runs of all of them", async () => {
    const connection = await RawConnection.open(server.url);
    connection.send(createCall(server.apiKey, { ...BODY, input: "Write 5000 words", stream: true }).repeat(20));
    await connection.until((received) => received.includes("response.output_text.delta"));
    connection.leave();
    await expectServing();
  });

  test("that sends Expect: 100-continue gets it or a refusal, and is then served", async () => {
    const text = JSON.stringify(BODY);
    const connection = await RawConnection.open(server.url);
    connection.send(createHead(server.apiKey, { expect: "100-continue", "content-length": text.length }));
    expect(await connection.until((received) => received.includes("\r\n\r\n"))).toMatch(/^HTTP\/1\.1 100 /);
    connection.send(text);
    await connection.until((received) => received.includes("HTTP/1.1 200 "));
    connection.leave();
  });

  test.each([
    "",
    "Bearer",
    "Bearer ",
    "Basic eDp5",
    "bearer \u00e9",
    "Bearer sk-wrong",
    "Bearer sk-antiphon-' OR 1=1 --",
    "Bearer \t",
  ])("is unauthorised with the key %j", async (authorization) => {
    const call = createCall("x", BODY).replace("Bearer x", authorization);
    const connection = await RawConnection.open(server.url);
    connection.send(Buffer.from(call, "latin1"));
    const received = await connection.until(isWhole);
    connection.leave();
    expect(received).toMatch(/^HTTP\/1\.1 401 /);
    readError(bodyOf(received));
  });

  test.each(["%00", "..%2f..%2fetc", "' OR 1=1 --", "resp_%F0%9F%98%80", "x".repeat(5_000), "__proto__", "%25%32%35"])(
    "names no response: %s",
    async (id) => {
      for (const path of [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`]) {
        const reply = await server.fetch(path);
        expect([400, 404], path).toContain(reply.status);
        readError(await reply.text());
      }
    },
  );
});
