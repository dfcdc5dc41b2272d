import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OutputItem, Response } from "@antiphon/contracts/responses-api/types.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import { describe, expect, test } from "vitest";
import { serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { responseFrames, responsesEngineFor } from "../../src/model-engines/responses/responses-server.fixture.ts";
import { verifies } from "../verifies.ts";
import { runThrough } from "./run-through.ts";

/** An item of a tool that the reference runs. */
const OTHER_ITEMS = /"item":\{[^{}]*"type":"(?!message"|reasoning"|function_call")/;

/** Streams recorded from the reference: `NAME.chunks.txt` with one event a line. */
const folder = process.env["REFERENCE_RECORDINGS"];
const streams = folder === undefined ? [] : recordedStreams(folder);

interface RecordedRun {
  readonly name: string;
  readonly lines: readonly string[];
}

describe.skipIf(folder === undefined)("streams recorded from the reference (REFERENCE_RECORDINGS)", () => {
  test("there are some without tools that a server runs", () => expect(streams.length).toBeGreaterThan(4));

  test.each(streams)("$name gives its texts, calls and usage, or its error", async ({ lines }) => {
    verifies("responses-engine.recordings.read-whole");
    const server = await serveChat((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const line of lines) response.write(`data: ${line}\n\n`);
      response.end(responseFrames("[DONE]"));
    });
    const { response }: { response: Response } = JSON.parse(lines.at(-1) ?? "");
    const warnings: string[] = [];
    const engine = responsesEngineFor(server, { onWarning: (warning) => warnings.push(warning) });
    const reasoning = { effort: null, summary: response.reasoning?.summary ?? null };
    const run = runThrough(engine, aRequest({ model: response.model, reasoning }));
    if (response.status === "failed") {
      const [beforeUrl = ""] = (response.error?.message ?? "").split("https:"); // URLs are not passed on.
      const message = expect.stringContaining(beforeUrl.trim());
      await expect(run).rejects.toMatchObject({ code: response.error?.code, message });
      return;
    }
    const { output, usage, status } = await run;
    expect(output.map(said)).toEqual(response.output.map(said));
    expect([status, usage?.input_tokens, usage?.output_tokens, usage?.output_tokens_details]).toEqual([
      response.status,
      response.usage?.input_tokens,
      response.usage?.output_tokens,
      response.usage?.output_tokens_details,
    ]);
    expect(warnings).toEqual([]);
  });
});

/** What the model says in an item, and the encrypted form of reasoning. */
function said(item: OutputItem): unknown {
  if (item.type === "message")
    return [item.phase ?? null, item.content.map((part) => (part.type === "output_text" ? part.text : part.refusal))];
  if (item.type === "reasoning") return [item.summary.map(({ text }) => text), item.encrypted_content != null];
  return item.type === "function_call" ? [item.call_id, item.name, item.arguments] : item.type;
}

/** A file may hold several streams one after the other. Streams with tools that the reference runs are left out. */
function recordedStreams(path: string): readonly RecordedRun[] {
  const runs: { name: string; lines: string[] }[] = [];
  for (const file of readdirSync(path).filter((name) => name.endsWith(".chunks.txt"))) {
    for (const line of readFileSync(join(path, file), "utf8").split("\n")) {
      if (line.trim() === "") continue;
      if (line.includes('"type":"response.created"')) runs.push({ name: `${file} #${runs.length + 1}`, lines: [] });
      runs.at(-1)?.lines.push(line);
    }
  }
  return runs.filter(({ lines }) => !lines.some((line) => OTHER_ITEMS.test(line)));
}
