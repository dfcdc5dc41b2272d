import { describe, expect, test } from "vitest";
import { sends, serveHttp } from "../kit/http-server.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, says, serveBehind } from "./behind-upstream.ts";
import { checkReply, missing, type Refusal } from "./check-refusal.ts";
import { PIXEL, PIXEL_BYTES, pdfOf } from "./media-samples.ts";
import { readResponse } from "./read-stream.ts";

const LOOPBACK = { EGRESS_ALLOW: "127.0.0.1" };
const FETCHES_BY_ITSELF = { MODEL_INPUT: "text,image,image_url" };

const showing = (image: object): object => ({
  input: [{ role: "user", content: [{ type: "input_image", ...image }] }],
});

function serve(env: Readonly<Record<string, string>> = LOOPBACK): Promise<BehindUpstream> {
  return serveBehind(says("I see."), env);
}

function shown(url: string, detail?: string): object {
  const part = { type: "image_url", image_url: { url, ...(detail === undefined ? {} : { detail }) } };
  return { messages: [{ role: "user", content: [part] }] };
}

const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString("base64");
const data = (type: string, bytes: Buffer | string): string => `data:${type};base64,${base64(bytes)}`;
const GIF = Buffer.from("GIF89a\u0001\0\u0001\0\0\0\0;", "latin1");
const JPEG = Buffer.from("\u00ff\u00d8\u00ff\u00e0\0\u0010JFIF", "latin1");
const WEBP = Buffer.from("RIFF\u001a\0\0\0WEBPVP8L", "latin1");

describe("an image", () => {
  verifies("media.image.fetched-and-inlined", "chat-engine.upstream.images-and-files-map");
  test("by URL is fetched and reaches the model server as a data URL", async () => {
    const remote = await serveHttp(sends(PIXEL_BYTES, { "content-type": "image/png" }));
    const behind = await serve();
    expect((await behind.create(showing({ image_url: `${remote.url}/a.png`, detail: "high" }))).status).toBe(200);
    expect(behind.asked()).toMatchObject(shown(PIXEL, "high"));
    expect(remote.paths).toEqual(["/a.png"]);
  });

  test("by URL is sent unchanged to a model server that fetches by itself", async () => {
    const remote = await serveHttp(sends(PIXEL_BYTES));
    const behind = await serve(FETCHES_BY_ITSELF);
    expect((await behind.create(showing({ image_url: remote.url }))).status).toBe(200);
    expect(behind.asked()).toMatchObject(shown(remote.url));
    expect(remote.paths).toEqual([]);
  });

  test("is listed as sent, and the next turn shows it again", async () => {
    const remote = await serveHttp(sends(PIXEL_BYTES));
    const behind = await serve();
    const { id } = await readResponse(await behind.create(showing({ image_url: remote.url })));
    const listed = await (await behind.server.fetch(`/v1/responses/${id}/input_items`)).json();
    expect(listed).toMatchObject({ data: [{ content: [{ type: "input_image", image_url: remote.url }] }] });
    await behind.create({ previous_response_id: id, input: "And now?" });
    const content = [{ type: "image_url", image_url: { url: PIXEL } }];
    expect(behind.asked()).toMatchObject({ messages: [{ role: "user", content }, {}, { content: "And now?" }] });
  });

  test.each([
    ["image/png", PIXEL_BYTES],
    ["image/gif", GIF],
    ["image/jpeg", JPEG],
    ["image/webp", WEBP],
  ])("of type %s is told by its bytes, whatever it is called", async (type, bytes) => {
    const behind = await serve();
    for (const called of ["image/png", "image/bmp", "application/octet-stream"]) {
      expect((await behind.create(showing({ image_url: data(called, bytes) }))).status).toBe(200);
      expect(behind.asked()).toMatchObject(shown(data(type, bytes)));
    }
    const remote = await serveHttp(sends(bytes, { "content-type": "application/octet-stream" }));
    expect((await behind.create(showing({ image_url: remote.url }))).status).toBe(200);
    expect(behind.asked()).toMatchObject(shown(data(type, bytes)));
  });

  test("in base64 with line breaks is sent without them", async () => {
    const behind = await serve();
    const broken = PIXEL.replace(/.{40}$/, (end) => `\n${end}`);
    expect((await behind.create(showing({ image_url: broken }))).status).toBe(200);
    expect(behind.asked()).toMatchObject(shown(PIXEL));
  });

  test("in the output of a tool and in a tool_result follows that output", async () => {
    const remote = await serveHttp(sends(PIXEL_BYTES));
    const behind = await serve();
    const call = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
    const output = [
      { type: "input_text", text: "Look" },
      { type: "input_image", image_url: remote.url },
    ];
    for (const type of ["function_call_output", "tool_result"]) {
      const reply = await behind.create({ input: [call, { type, call_id: "call_1", output }] });
      expect(reply.status, await reply.text()).toBe(200);
      const follows = [{ type: "text" }, { type: "image_url", image_url: { url: PIXEL } }];
      expect(behind.asked()).toMatchObject({
        messages: [{}, { role: "tool", content: expect.stringMatching(/^Look\n/) }, { role: "user", content: follows }],
      });
    }
  });

  test("of a computer's screen is sent too", async () => {
    const remote = await serveHttp(sends(PIXEL_BYTES));
    const behind = await serve();
    const call = { type: "computer_call", call_id: "c", action: { type: "screenshot" }, pending_safety_checks: [] };
    const output = { type: "computer_screenshot", image_url: remote.url };
    const reply = await behind.create({ input: [call, { type: "computer_call_output", call_id: "c", output }] });
    expect(reply.status, await reply.text()).toBe(200);
    const follows = [{ type: "text" }, { type: "image_url", image_url: { url: PIXEL } }];
    expect(behind.asked()).toMatchObject({ messages: [{}, {}, { role: "user", content: follows }] });
  });

  test("is mentioned by the built-in engine, which fetches nothing", async () => {
    const remote = await serveHttp(sends(PIXEL_BYTES));
    const server = await startTestServer({ env: LOOPBACK });
    const reply = await server.post("/v1/responses", {
      model: "antiphon-built-in",
      ...showing({ image_url: remote.url }),
    });
    expect(await reply.text()).toContain("I received 1 image. I can't see images");
    expect(remote.paths).toEqual([]);
    await server.close();
  });
});

const IMAGE_URL = "input[0].content[0].image_url";
const UNREAL: Readonly<Record<string, readonly [image: object, refusal: Refusal]>> = {
  "that is not there": [{}, { ...missing(IMAGE_URL), message: "Missing required parameter: 'image_url'." }],
  "at no URL": [
    { image_url: "a.png" },
    { code: "invalid_image_url", param: IMAGE_URL, message: /^Invalid image URL\. Expected an http or https URL/ },
  ],
  "at a URL of another kind": [
    { image_url: "ftp://example.com/a.png" },
    { code: "invalid_image_url", param: IMAGE_URL, message: /^Invalid image URL\./ },
  ],
  "that is not base64": [
    { image_url: "data:image/png;base64,!!!!" },
    { code: "invalid_base64_image", param: IMAGE_URL, message: /^Invalid image data\./ },
  ],
  "whose data is not base64-encoded": [
    { image_url: "data:image/svg+xml,<svg/>" },
    { code: "invalid_base64_image", param: IMAGE_URL, message: /^Invalid image data\./ },
  ],
  "that is empty": [
    { image_url: "data:image/png;base64," },
    { code: "empty_image_file", param: IMAGE_URL, message: "The image is empty." },
  ],
  "of an unknown kind": [
    { image_url: data("image/png", "no picture") },
    { code: "invalid_image_format", param: IMAGE_URL, message: /^The image could not be recognised\. Supported are/ },
  ],
  "of a kind that models do not take": [
    { image_url: data("image/png", "<svg xmlns='x'/>") },
    { code: "unsupported_image_media_type", param: IMAGE_URL, message: /type 'image\/svg\+xml'\. Supported are/ },
  ],
  "that is a PDF": [
    { image_url: data("image/png", pdfOf("Hi")) },
    { code: "unsupported_image_media_type", param: IMAGE_URL, message: /type 'application\/pdf'/ },
  ],
  "that is too large": [
    { image_url: data("image/png", Buffer.concat([PIXEL_BYTES, Buffer.alloc(5000)])) },
    { code: "image_too_large", param: IMAGE_URL, message: "The image is larger than 4096 bytes." },
  ],
  "in a file that is not there": [
    { file_id: "file-x" },
    {
      code: "image_file_not_found",
      param: "input[0].content[0].file_id",
      message: "The image file 'file-x' was not found.",
    },
  ],
};

describe("before a run starts, an image", () => {
  const small = { ...LOOPBACK, INPUT_IMAGE_BYTES_MAX: "4096" };

  verifies("media.image.refused-by-name");
  test.each(Object.entries(UNREAL))("%s is refused", async (_title, [image, refusal]) => {
    for (const env of [small, { ...small, ...FETCHES_BY_ITSELF }]) {
      const behind = await serve(env);
      await checkReply(await behind.create({ ...showing(image), stream: true }), refusal);
      expect(behind.upstream.calls).toEqual([]);
    }
  });

  test.each([
    ["with status 404", "failed_to_download_image", /status 404/, { status: 404 }],
    ["that is a page", "unsupported_image_media_type", /type 'text\/html'/, { type: "text/html" }],
    ["that is empty", "empty_image_file", /empty/, { body: "" }],
    ["that is called an image and is none", "invalid_image_format", /not be recognised/, { body: "GIF" }],
    ["that is too large", "image_too_large", /larger than 4096 bytes/, { body: "x".repeat(5000) }],
  ])(
    "at a URL %s is refused",
    async (_title, code, message, {
      status = 200,
      type = "image/png",
      body = "x",
    }: object & {
      status?: number;
      type?: string;
      body?: string;
    }) => {
      const remote = await serveHttp((_request, response) => {
        response.writeHead(status, { "content-type": type });
        response.end(body);
      });
      const behind = await serve(small);
      await checkReply(await behind.create(showing({ image_url: remote.url })), { code, param: IMAGE_URL, message });
      expect(behind.upstream.calls).toEqual([]);
    },
  );

  test("from a slow server is given up", async () => {
    const remote = await serveHttp(() => {});
    const behind = await serve({ ...LOOPBACK, EGRESS_TIMEOUT_MS: "100" });
    const refusal = { code: "failed_to_download_image", param: IMAGE_URL, message: /in time\.$/ };
    await checkReply(await behind.create(showing({ image_url: remote.url })), refusal);
  });

  verifies("tools.egress.private-addresses-refused");
  test.each([
    ["public", {}],
    ["listed", { EGRESS: "listed", EGRESS_ALLOW: "images.example" }],
    ["denied", { EGRESS_ALLOW: "127.0.0.1", EGRESS_DENY: "127.0.0.0/8" }],
  ])("at an address that is not allowed is refused, and nothing is touched: %s", async (_title, env) => {
    const remote = await serveHttp(sends(PIXEL_BYTES));
    const behind = await serve(env);
    const reply = await behind.create(showing({ image_url: remote.url }));
    const message =
      /^Error while downloading 'image_url': The URL leads to an address that this server does not call: .*EGRESS_ALLOW\.$/;
    await checkReply(reply, { code: "invalid_image_url", param: IMAGE_URL, message });
    expect(remote.paths).toEqual([]);
    expect(behind.upstream.calls).toEqual([]);
  });

  test("behind a redirect to a forbidden address is refused, and nothing is fetched", async () => {
    const inside = await serveHttp(sends(PIXEL_BYTES));
    const remote = await serveHttp((_request, response) => {
      response.writeHead(302, { location: inside.url });
      response.end();
    });
    const behind = await serve({ EGRESS_ALLOW: new URL(remote.url).host });
    const reply = await behind.create(showing({ image_url: remote.url }));
    await checkReply(reply, { code: "invalid_image_url", param: IMAGE_URL, message: /does not call/ });
    expect(inside.paths).toEqual([]);
  });

  test("by URL is refused if fetching is off", async () => {
    const behind = await serve({ EGRESS: "off" });
    const reply = await behind.create(showing({ image_url: "https://example.com/a.png" }));
    await checkReply(reply, { code: "invalid_image_url", param: IMAGE_URL, message: /fetches no URLs/ });
  });

  test("is refused if the model has no image input", async () => {
    const behind = await serve({ MODEL_INPUT: "text" });
    const reply = await behind.create(showing({ image_url: PIXEL }));
    await checkReply(reply, { code: "unsupported_value", param: "input", message: /takes no images.*MODEL_INPUT/ });
  });

  test("of an earlier turn has no place in the current request's errors", async () => {
    let status = 200;
    const remote = await serveHttp((_request, response) => {
      response.writeHead(status);
      response.end(PIXEL_BYTES);
    });
    const behind = await serve();
    const { id } = await readResponse(await behind.create(showing({ image_url: remote.url })));
    status = 410;
    const again = await behind.create({ previous_response_id: id, input: "And now?" });
    await checkReply(again, { code: "failed_to_download_image", param: "input", message: /status 410/ });
  });

  test("is refused if all images together are too large", async () => {
    const big = Buffer.concat([PIXEL_BYTES, Buffer.alloc(3000)]);
    const remote = await serveHttp(sends(big));
    const behind = await serve({ ...LOOPBACK, INPUT_MEDIA_BYTES_MAX: "10000" });
    const content = Array.from({ length: 4 }, () => ({ type: "input_image", image_url: remote.url }));
    const reply = await behind.create({ input: [{ role: "user", content }] });
    await checkReply(reply, { code: "file_too_large", param: "input", message: /larger than 10000 bytes together/ });
  });
});
