import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readResponse, readResponseStreamEvent } from "@antiphon/contracts/responses-api/readers.js";
import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { describe, expect, test } from "vitest";
import { foldEvents } from "../src/runs/fold/fold-events.ts";
import { verifies } from "./verifies.ts";

/**
 * Streams and bodies recorded from the reference: `NAME.chunks.txt` with one event a line, `NAME.json` with a plain
 * body.
 */
const folder = process.env["REFERENCE_RECORDINGS"];
const files = folder === undefined ? [] : readdirSync(folder);

describe.skipIf(folder === undefined)("streams recorded from the reference (REFERENCE_RECORDINGS)", () => {
  const streams = files.filter((file) => file.endsWith(".chunks.txt")).flatMap((file) => streamsOf(file));

  test("there are recordings", () => expect(streams.length).toBeGreaterThan(5));

  test.each(streams)("$name: our contract knows every event", ({ lines }) => {
    verifies("contract.parity.superset-of-reference");
    for (const line of lines) {
      const valid = readResponseStreamEvent(line);
      expect(
        valid,
        `${JSON.stringify(line).slice(0, 200)}: ${JSON.stringify(readResponseStreamEvent.errors?.slice(0, 3))}`,
      ).toBe(true);
    }
  });

  test.each(streams)("$name: folding the stream gives its final response", ({ lines }) => {
    verifies("contract.parity.reference-recordings-fold");
    const events = lines.filter((line): line is ResponseStreamEvent => readResponseStreamEvent(line));
    const last = events.at(-1);
    if (last === undefined || !("response" in last)) throw new Error("the stream does not end with a snapshot");
    expect(withoutCiphertext(foldEvents(events))).toEqual(withoutCiphertext(last.response));
  });

  test.each(streams)("$name: items built from deltas equal the finished items", ({ lines }) => {
    const events = lines.filter((line): line is ResponseStreamEvent => readResponseStreamEvent(line));
    const texts = foldEvents(
      events.filter(({ type }) => type !== "response.output_item.done" && !isTerminal(type)),
    ).output.map(textOf);
    const done = foldEvents(events).output.map(textOf);
    expect(texts).toEqual(done);
  });
});

describe.skipIf(folder === undefined)("bodies recorded from the reference (REFERENCE_RECORDINGS)", () => {
  const bodies = files.filter((file) => file.endsWith(".json") && !file.includes("error"));
  test.each(bodies)("%s is a response of our contract", (file) => {
    const body: unknown = JSON.parse(readFileSync(join(folder ?? "", file), "utf8"));
    expect(readResponse(body), JSON.stringify(readResponse.errors?.slice(0, 3))).toBe(true);
  });
});

/** A file may hold several streams one after the other. */
function streamsOf(file: string): { name: string; lines: unknown[] }[] {
  const streams: { name: string; lines: unknown[] }[] = [];
  for (const text of readFileSync(join(folder ?? "", file), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")) {
    if (text.includes('"type":"response.created"')) streams.push({ name: `${file} #${streams.length + 1}`, lines: [] });
    streams.at(-1)?.lines.push(JSON.parse(text));
  }
  return streams;
}

function isTerminal(type: string): boolean {
  return ["response.completed", "response.incomplete", "response.failed"].includes(type);
}

/** The reference encrypts the same content differently each time. */
function withoutCiphertext(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, member: unknown) => (key === "encrypted_content" ? null : member)));
}

/** The parts of an item that deltas carry, without members that only its last event has. */
function textOf(item: ReturnType<typeof foldEvents>["output"][number]): unknown {
  switch (item.type) {
    case "message":
      return item.content.map((part) => (part.type === "output_text" ? [part.text, part.annotations] : part));
    case "reasoning":
      return [item.summary, item.content];
    case "function_call":
    case "mcp_call":
      return item.arguments;
    case "code_interpreter_call":
      return item.code;
    case "custom_tool_call":
      return item.input;
    case "shell_call":
      return item.action.commands;
    default:
      return item.type;
  }
}
