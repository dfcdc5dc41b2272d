import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { startPiped } from "./piped-child.ts";

test("a program is talked to over its input and output, and ends when it is killed", async () => {
  let heard = "";
  const answered = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const child = await startPiped({
    program: "/bin/sh",
    args: ["-c", 'echo "$GREETING"; exec cat'],
    folder: tmpdir(),
    environment: { GREETING: "hello" },
    onOutput: (bytes) => {
      heard += String(bytes);
      if (heard.includes("twice\n")) answered.resolve();
    },
    onEnd: () => ended.resolve(),
  });
  await child.write("once\n");
  await child.write("twice\n");
  await answered.promise;
  expect(heard).toBe("hello\nonce\ntwice\n");
  child.kill();
  await ended.promise;
  await expect(child.write("more\n")).rejects.toThrow("destroyed");
});

test("a program that does not exist ends at once", async () => {
  const ended = Promise.withResolvers<void>();
  await startPiped({
    program: "/does/not/exist",
    args: [],
    folder: tmpdir(),
    environment: {},
    onOutput: () => {},
    onEnd: () => ended.resolve(),
  });
  await ended.promise;
});
