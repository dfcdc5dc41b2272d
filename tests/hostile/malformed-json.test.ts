import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";

const MODEL = "antiphon-built-in";
const GOOD = `{"model":"${MODEL}","input":"Say hello"}`;

/** Bodies that are not JSON, or are not encoded in UTF-8. */
const BROKEN: Readonly<Record<string, string | Uint8Array>> = {
  "nothing at all": "",
  "only white space": " \n\t ",
  "a NUL": "\0",
  "a NUL after the end": `${GOOD}\0`,
  "a NUL in the middle": GOOD.replace(",", ",\0"),
  "a bare control character in a string": GOOD.replace("Say", "S\u0001ay"),
  "a newline in a string": GOOD.replace("Say", "Say\n"),
  "a trailing comma in an object": GOOD.replace("}", ",}"),
  "a trailing comma in an array": `{"model":"${MODEL}","input":[1,]}`,
  "two values": GOOD + GOOD,
  "lines of values": `${GOOD}\n${GOOD}`,
  comments: `/* */ ${GOOD}`,
  "single quotes": GOOD.replaceAll('"', "'"),
  "bare names": `{model:"${MODEL}",input:"hi"}`,
  NaN: `{"model":"${MODEL}","input":"hi","temperature":NaN}`,
  Infinity: `{"model":"${MODEL}","input":"hi","temperature":-Infinity}`,
  "a hexadecimal number": `{"model":"${MODEL}","input":"hi","top_logprobs":0x1}`,
  "a number with a leading zero": `{"model":"${MODEL}","input":"hi","top_logprobs":01}`,
  "a bad escape": GOOD.replace("Say", "\\x41"),
  "half an escape": GOOD.replace("Say hello", "\\u12"),
  "a form": `model=${MODEL}&input=hi`,
  XML: "<request/>",
  "an event stream": `data: ${GOOD}\n\n`,
  "UTF-16": Buffer.from(GOOD, "utf16le"),
  "bytes that no UTF-8 has": Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
  "half a character": Buffer.concat([Buffer.from('{"model":"x'), Buffer.from([0xe2, 0x82]), Buffer.from('"}')]),
  "a surrogate written as UTF-8": Buffer.concat([
    Buffer.from('{"model":"x'),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from('"}'),
  ]),
  "an overlong slash": Buffer.concat([Buffer.from('{"model":"x'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
};

/** Valid but unusual JSON, with the param of the error it gets, or null if it is accepted. */
const STRANGE: Readonly<Record<string, readonly [body: string, param: string | null]>> = {
  "a byte order mark": [`\uFEFF${GOOD}`, null],
  "half of a pair, escaped": [GOOD.replace("Say", "\\ud800"), null],
  "a NUL, escaped": [GOOD.replace("Say", "\\u0000"), null],
  "a name given twice": [`{"model":"no-such-model","model":"${MODEL}","input":"hi"}`, null],
  "an empty object": ["{}", "model"],
  "a member named __proto__": [GOOD.replace("{", '{"__proto__":{"stream":true},'), "__proto__"],
  "a member named constructor": [GOOD.replace("{", '{"constructor":1,'), "constructor"],
  "a member named toString": [GOOD.replace("{", '{"toString":1,'), "toString"],
  "a member without a name": [GOOD.replace("{", '{"":1,'), ""],
  "a nested __proto__": [GOOD.replace("{", '{"reasoning":{"__proto__":{"effort":"low"}},'), "reasoning.__proto__"],
  "an item with a __proto__": [
    `{"model":"${MODEL}","input":[{"role":"user","content":"hi","__proto__":{}}]}`,
    "input[0].__proto__",
  ],
  "a number beyond all numbers": [GOOD.replace("{", '{"temperature":1e999,'), "temperature"],
  "an integer beyond all numbers": [GOOD.replace("{", '{"max_output_tokens":1e999,'), "max_output_tokens"],
  "an integer of 400 digits": [GOOD.replace("{", `{"max_output_tokens":${"9".repeat(400)},`), "max_output_tokens"],
  "an integer just too precise": [GOOD.replace("{", '{"top_logprobs":20.000000000000001,'), null],
  "minus zero": [GOOD.replace("{", '{"temperature":-0,'), null],
  "a number smaller than all numbers": [GOOD.replace("{", '{"temperature":1e-999,'), null],
};

describe("a body that is not JSON", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const post = (body: string | Uint8Array, contentType = "application/json"): Promise<Response> =>
    server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": contentType },
      body: typeof body === "string" ? body : new Uint8Array(body),
    });

  const expectServing = async (): Promise<void> => expect((await post(GOOD)).status).toBe(200);

  test.each(Object.keys(BROKEN))("gets 400 invalid_json: %s", async (name) => {
    verifies("errors.catalogue.invalid-json", "errors.envelope.four-members-always", "errors.messages.no-internals");
    expect(await errorOf(await post(BROKEN[name] ?? ""))).toMatchObject({
      status: 400,
      code: "invalid_json",
      param: null,
    });
  });

  test.each(["null", '"hi"', "7", `[${GOOD}]`])("differs from JSON that is not an object: %s", async (body) => {
    expect(await errorOf(await post(body))).toMatchObject({ status: 400, code: "invalid_type", param: null });
  });

  test("gets 400 wherever it is cut", async () => {
    verifies("transport.faults.no-request-ends-the-process");
    for (let length = 1; length < GOOD.length; length++) {
      expect(await errorOf(await post(GOOD.slice(0, length))), GOOD.slice(0, length)).toMatchObject({
        status: 400,
        code: "invalid_json",
      });
    }
    await expectServing();
  });

  test.each(Object.keys(STRANGE))("differs from JSON that is merely unusual: %s", async (name) => {
    const [body, param] = STRANGE[name] ?? ["", null];
    const reply = await post(body);
    if (param === null) expect(reply.status, await reply.clone().text()).toBe(200);
    else expect(await errorOf(reply)).toMatchObject({ status: 400, param });
    await expectServing();
  });

  test("cannot reach the prototype of objects through names, and such names come back unchanged", async () => {
    const parameters = `{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"],"additionalProperties":false}`;
    const metadata = `{"__proto__":"polluted","constructor":"x","hasOwnProperty":"y"}`;
    const tools = `[{"type":"function","name":"f","strict":true,"parameters":${parameters}}]`;
    const reply = await post(GOOD.replace("{", `{"metadata":${metadata},"tools":${tools},`));
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    expect(JSON.stringify(JSON.parse(text).metadata)).toBe(metadata);
    expect(JSON.stringify(JSON.parse(text).tools[0].parameters)).toBe(parameters);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    await expectServing();
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "image/png",
    "x",
    "application/jsonx",
  ])("gets 415 with the content type %s", async (contentType) => {
    expect(await errorOf(await post(GOOD, contentType))).toMatchObject({ status: 415, code: "unsupported_media_type" });
  });

  test.each([
    "APPLICATION/JSON",
    "application/json; charset=UTF-8",
    'application/json;charset="utf-8"',
    "application/json ; x=y",
  ])("is read with the content type %s", async (contentType) =>
    expect((await post(GOOD, contentType)).status).toBe(200),
  );
});
