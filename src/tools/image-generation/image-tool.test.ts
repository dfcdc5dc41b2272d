import type { IncomingMessage, ServerResponse } from "node:http";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { StoredItem, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, OpenTool, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import { createEgress } from "@antiphon/egress/egress.ts";
import { describe, expect, it } from "vitest";
import { serveHttp } from "../../../tests/kit/http-server.ts";
import { MADE, runCall, toolScope, USER } from "../tool-scope.fixture.ts";
import { ImageServer } from "./image-server.ts";
import { imageTool } from "./image-tool.ts";

type ImageInput = Extract<ToolInput, { type: "image_generation" }>;

/** A PNG of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const USAGE = {
  input_tokens: 12,
  input_tokens_details: { text_tokens: 10, image_tokens: 2 },
  output_tokens: 100,
  total_tokens: 112,
};

interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

type Reply = (response: ServerResponse, asked: Asked) => void;

const draws: Reply = (response) => {
  const body = {
    created: 1,
    data: [{ b64_json: PIXEL, revised_prompt: "A red boat." }],
    size: "1024x1024",
    usage: USAGE,
  };
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));
};

const streams: Reply = (response, asked) => {
  if (!asked.body.includes('"stream":true')) return draws(response, asked);
  response.setHeader("content-type", "text/event-stream");
  for (const index of [0, 1, 2]) {
    const partial = {
      type: "image_generation.partial_image",
      partial_image_index: index,
      b64_json: PIXEL,
      size: "1x1",
    };
    response.write(`event: ${partial.type}\ndata: ${JSON.stringify(partial)}\n\n`);
  }
  const last = { type: "image_generation.completed", b64_json: PIXEL, quality: "high", usage: USAGE };
  response.end(`event: ${last.type}\ndata: ${JSON.stringify(last)}\n\n`);
};

function refuses(status: number, message: string): Reply {
  return (response) => void response.writeHead(status).end(JSON.stringify({ error: { message } }));
}

describe("a picture", () => {
  it("is drawn, shown to client and model, and counted", async () => {
    const { tool, asked } = await serve(draws);
    const { outcome, steps } = await call(await opened(tool), { prompt: "A boat." });
    expect(steps).toStrictEqual([{ type: "generating" }]);
    expect(outcome).toMatchObject({
      type: "ran",
      item: {
        id: "ig_1",
        type: "image_generation_call",
        status: "completed",
        action: "generate",
        result: PIXEL,
        revised_prompt: "A red boat.",
        size: "1024x1024",
        output_format: "png",
      },
      parts: [{ type: "input_image", image_url: `data:image/png;base64,${PIXEL}` }],
      usage: { imageInputTokens: { text: 10, image: 2 }, imageOutputTokens: { text: 0, image: 100 } },
    });
    expect(asked[0]).toMatchObject({ path: "/v1/images/generations", authorization: "Bearer key" });
    expect(JSON.parse(asked[0]?.body ?? "")).toStrictEqual({
      prompt: "A boat.",
      n: 1,
      model: "draws",
      response_format: "b64_json",
    });
  });

  it("is drawn with the options of the request, without those that say auto", async () => {
    const { tool, asked } = await serve(draws);
    const options = { size: "512x512", quality: "auto", background: "opaque", output_compression: 100 } as const;
    await call(await opened(tool, { type: "image_generation", model: "gpt-image-1", ...options }), {
      prompt: "A boat.",
    });
    expect(JSON.parse(asked[0]?.body ?? "")).toStrictEqual({
      prompt: "A boat.",
      n: 1,
      model: "gpt-image-1",
      size: "512x512",
      background: "opaque",
    });
  });

  it("comes in parts if the request wants some and the server can", async () => {
    const { tool } = await serve(streams);
    const open = await opened(tool, { type: "image_generation", partial_images: 2 });
    const { outcome, steps } = await call(open, { prompt: "A boat." });
    expect(steps).toMatchObject([
      { type: "generating" },
      { type: "partial_image", partial_image_index: 0, partial_image_b64: PIXEL, size: "1x1" },
      { type: "partial_image", partial_image_index: 1 },
    ]);
    expect(outcome).toMatchObject({ item: { status: "completed", quality: "high", result: PIXEL } });
  });

  it("is asked for again without options that the server refuses", async () => {
    const { tool, asked } = await serve((response, one) =>
      one.body.includes("quality") ? refuses(400, "unknown parameter quality")(response, one) : draws(response, one),
    );
    const open = await opened(tool, { type: "image_generation", quality: "high", size: "512x512" });
    expect((await call(open, { prompt: "A boat." })).outcome).toMatchObject({ item: { status: "completed" } });
    expect(JSON.parse(asked[1]?.body ?? "")).toMatchObject({ size: "512x512" });
    expect(asked).toHaveLength(2);
  });

  it("that was drawn is changed by the next call", async () => {
    const { tool, asked } = await serve(draws);
    const open = await opened(tool);
    await call(open, { prompt: "A boat." });
    const { outcome } = await call(open, { prompt: "Make it blue.", action: "edit" });
    expect(outcome).toMatchObject({ item: { action: "edit" } });
    expect(asked[1]?.path).toBe("/v1/images/edits");
    expect(asked[1]?.body).toContain('name="image"; filename="image.png"');
    expect(asked[1]?.body).toContain("Make it blue.");
  });

  it("of the user is changed if none was drawn; without any the model is told", async () => {
    const { tool, asked } = await serve(draws);
    const message: StoredItem = {
      id: "msg_1",
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_image", image_url: `data:image/webp;base64,${PIXEL}`, file_id: null, detail: "auto" }],
    };
    const open = await opened(tool, { type: "image_generation", action: "edit" }, { context: [message] });
    expect((await call(open, { prompt: "Bluer." })).outcome).toMatchObject({ item: { action: "edit" } });
    expect(asked[0]?.body).toContain("Content-Type: image/webp");
    const bare = await opened(tool, { type: "image_generation", action: "edit" });
    expect((await call(bare, { prompt: "Bluer." })).outcome).toMatchObject({
      item: { status: "failed" },
      output: "There is no picture to change. Ask for a new one.",
    });
  });

  it.each([
    ["refuses the key", refuses(401, "no"), "refused this server's key"],
    ["has no room", refuses(429, "slow down"), "draws no more pictures for now"],
    ["breaks", refuses(500, "see https://secret.example/x"), "failed with status 500: see …"],
    ["sends no picture", ((response) => void response.end("{}")) satisfies Reply, "sent no picture"],
    [
      "sends an address",
      ((response) => void response.end('{"data":[{"url":"http://127.0.0.1/x.png"}]}')) satisfies Reply,
      "an address instead of a picture",
    ],
    ["hangs up", ((response) => void response.destroy()) satisfies Reply, "cannot be reached"],
  ])("of a server that %s is a failed item, and the model hears why", async (_what, reply, sentence) => {
    const { tool } = await serve(reply);
    const { outcome } = await call(await opened(tool), { prompt: "A boat." });
    expect(outcome).toMatchObject({ item: { status: "failed" }, output: expect.stringContaining(sentence) });
  });

  it("without a prompt fails", async () => {
    const { tool } = await serve(draws);
    expect((await call(await opened(tool), {})).outcome).toMatchObject({ output: "The arguments need `prompt`." });
  });

  it("is left when the signal aborts", async () => {
    const { tool } = await serve(() => {});
    const stop = new AbortController();
    const open = await opened(tool);
    const running = open.call("generate_image", MADE).run('{"prompt":"A boat."}', stop.signal);
    await running.next();
    const drawing = running.next();
    stop.abort(new Error("left"));
    await expect(drawing).rejects.toThrow("left");
  });
});

it("cannot be had without a server, as SVG or with frames", async () => {
  const { tool } = await serve(draws);
  expect(imageTool(null).refusal({ type: "image_generation" }, USER)?.reason).toContain("IMAGE_BASE_URL");
  expect(tool.refusal({ type: "image_generation", output_format: "svg" }, USER)).toMatchObject({
    member: "output_format",
  });
  expect(tool.refusal({ type: "image_generation", frame_count: 2 }, USER)).toMatchObject({ member: "frame_count" });
  expect(tool.refusal({ type: "image_generation" }, USER)).toBeNull();
});

async function serve(reply: Reply): Promise<{ tool: HostedTool; asked: Asked[] }> {
  const asked: Asked[] = [];
  const { url } = await serveHttp((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("latin1");
      const one = { path: request.url ?? "", authorization: request.headers.authorization, body };
      asked.push(one);
      reply(response, one);
    });
  });
  const egress = createEgress({
    policy: { mode: "off", allow: [], deny: [], ports: [] },
    timeouts: { connectMs: 1000, idleMs: 1000, totalMs: 2000 },
    log: silentLogger,
  });
  const server = new ImageServer({ baseUrl: `${url}/v1`, apiKey: "key", model: "draws", timeoutMs: 10_000 });
  return { tool: imageTool({ server, egress }), asked };
}

function opened(
  tool: HostedTool,
  asked: ImageInput = { type: "image_generation" },
  scope: Partial<ToolScope> = {},
): Promise<OpenTool> {
  return tool.open(asked, toolScope(scope));
}

function call(open: OpenTool, args: object): ReturnType<typeof runCall> {
  return runCall(open, "generate_image", args);
}
