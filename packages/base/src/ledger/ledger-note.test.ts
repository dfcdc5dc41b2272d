import { expect, test } from "vitest";
import { type EngineKind, ledgerNote } from "./ledger-note.ts";

function check(note: string | undefined, engine: EngineKind, said: string | null): void {
  expect(ledgerNote(note, engine)).toBe(said);
}

test("a note is what stands before the parts of engines, unless the engine has a part of its own", () => {
  check(
    "sent to some; others need none; built-in: nothing to cache",
    "chat-completions",
    "sent to some; others need none",
  );
  check("sent to some; others need none; built-in: nothing to cache", "built-in", "nothing to cache");
  check("see its execution; chat-completions: a function; called", "chat-completions", "a function; called");
});

test("a note of another engine, and a mere pointer, say nothing", () => {
  check("built-in: accepted without effect", "chat-completions", null);
  check("see its members", "chat-completions", null);
  check(undefined, "built-in", null);
  check("extension: shows the reasoning", "built-in", "shows the reasoning");
});
