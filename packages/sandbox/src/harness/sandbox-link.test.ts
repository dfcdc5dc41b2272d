import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { FileRefused, SandboxFailed } from "../ports/sandbox-engine.ts";
import { encodeFrame, FrameDecoder, type SandboxFrame } from "./frames.ts";
import type { LinkEnd } from "./sandbox-channel.ts";
import { SandboxLink } from "./sandbox-link.ts";

const SIGNAL = new AbortController().signal;
const LIMITS = { timeoutMs: 5000, logCharactersMax: 100, imagesMax: 1, imageBytesMax: 1000 };
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

type Said = readonly (SandboxFrame["head"] | readonly [head: SandboxFrame["head"], data: Uint8Array])[];

/** A sandbox that answers as it is told. */
async function open(answer: (head: SandboxFrame["head"]) => Said | null) {
  const decoder = new FrameDecoder();
  const gone = Promise.withResolvers<void>();
  let kills = 0;
  let say: (frames: Said) => void = () => {};
  const start = (end: LinkEnd) => {
    say = (frames) => {
      for (const frame of frames) end.onOutput(isPair(frame) ? encodeFrame(frame[0], frame[1]) : encodeFrame(frame));
    };
    queueMicrotask(() => say([{ is: "ready", python: "3.99", hasShell: true }]));
    return Promise.resolve({
      write: (bytes: Uint8Array) => {
        for (const { head } of decoder.push(bytes)) say(answer(head) ?? []);
        return Promise.resolve();
      },
      kill: () => {
        kills += 1;
        gone.resolve();
      },
      exit: gone.promise,
    });
  };
  const link = await SandboxLink.open({ start, timeoutMs: 5000 }, SIGNAL);
  return { link, say: (frames: Said) => say(frames), kills: () => kills };
}

function isPair(frame: Said[number]): frame is readonly [SandboxFrame["head"], Uint8Array] {
  return Array.isArray(frame);
}

test("what code shows comes back in its order", async () => {
  const { link, kills } = await open(() => [
    [{ is: "log" }, Buffer.from("one ")],
    [{ is: "log" }, Buffer.from("two")],
    [{ is: "image", last: false }, PNG.subarray(0, 5)],
    [{ is: "image", last: true }, PNG.subarray(5)],
    [{ is: "log" }, Buffer.from("three")],
    { is: "ran", traceback: "Oops" },
  ]);
  expect(await link.runCode("1", LIMITS, SIGNAL)).toEqual({
    outputs: [
      { type: "logs", logs: "one two" },
      { type: "image", png: new Uint8Array(PNG) },
      { type: "logs", logs: "three" },
    ],
    traceback: "Oops",
    end: null,
  });
  expect(kills()).toBe(0);
  expect(link.python).toBe("3.99");
});

test("logs are never longer than allowed, whatever the sandbox sends", async () => {
  const { link } = await open(() => [[{ is: "log" }, Buffer.alloc(100_000, "x")], { is: "ran", traceback: null }]);
  const { outputs } = await link.runCode("1", LIMITS, SIGNAL);
  expect(JSON.stringify(outputs).length).toBeLessThan(2000);
});

const LIES: readonly (readonly [what: string, said: Said])[] = [
  ["an unknown reply", [{ is: "hello" }]],
  ["a reply of another request", [{ is: "done" }]],
  ["a picture that is no PNG", [[{ is: "image", last: true }, Buffer.from("GIF89a")]]],
  ["a picture that is too large", [[{ is: "image", last: false }, Buffer.alloc(1001)]]],
  ["a picture without end", [{ is: "image", last: false }]],
  ["more pictures than allowed", [1, 2].map(() => [{ is: "image", last: true }, PNG] as const)],
  ["a traceback that is no text", [{ is: "ran", traceback: {} }]],
];

test.for(LIES)("%s during a call ends the sandbox as crashed", async ([, said]) => {
  const { link, kills } = await open(() => said);
  expect((await link.runCode("1", LIMITS, SIGNAL)).end).toBe("crashed");
  expect(await link.exit).toBe("crashed");
  expect(kills()).toBe(1);
});

test("more bytes than a call can have end it", async () => {
  const { link } = await open(() =>
    Array.from({ length: 100 }, () => [{ is: "log" }, Buffer.alloc(200_000, "x")] as const),
  );
  expect((await link.runCode("1", LIMITS, SIGNAL)).end).toBe("too_much_output");
});

test("words that nobody has asked for end the sandbox", async () => {
  const { link, say } = await open(() => []);
  say([{ is: "ran", traceback: null }]);
  expect(await link.exit).toBe("crashed");
  await expect(link.runCode("1", LIMITS, SIGNAL)).rejects.toThrow(SandboxFailed);
});

test.for(["/etc/passwd", "../x", "a/../../x", "a//b", "", ".", "a\nb", "x".repeat(1025)])(
  "a list with the path %j ends the sandbox",
  async (path) => {
    const { link } = await open(() => [{ is: "files", files: [[path, 1, "1"]], last: true }]);
    await expect(link.listFiles(10, SIGNAL)).rejects.toThrow(SandboxFailed);
    expect(await link.exit).toBe("crashed");
  },
);

test("a list of more files than asked for, or without end, ends the sandbox", async () => {
  const many = await open(() => [
    {
      is: "files",
      files: [
        ["a", 1, "1"],
        ["b", 1, "1"],
      ],
      last: true,
    },
  ]);
  await expect(many.link.listFiles(1, SIGNAL)).rejects.toThrow(SandboxFailed);
  const endless = await open(() => [{ is: "files", files: [], last: false }]);
  await expect(endless.link.listFiles(1, SIGNAL)).rejects.toThrow(SandboxFailed);
});

test("a file that cannot be written is refused, and the sandbox lives", async () => {
  const { link, kills } = await open(() => [{ is: "failed", why: "No space left on device" }]);
  const written = link.writeFile("a", pieces(1), SIGNAL);
  await expect(written).rejects.toThrow(FileRefused);
  expect(kills()).toBe(0);
});

test("a file is written in pieces that each are answered", async () => {
  const heads: SandboxFrame["head"][] = [];
  const { link } = await open((head) => {
    heads.push(head);
    return [{ is: "done" }];
  });
  await link.writeFile("a/b", pieces(1, 600_000), SIGNAL);
  expect(heads.map(({ offset }) => offset)).toEqual([0, 1, 262_145, 524_289]);
});

test("a call that takes too long ends the sandbox", async () => {
  const { link } = await open(() => []);
  expect((await link.runCode("1", { ...LIMITS, timeoutMs: 20 }, SIGNAL)).end).toBe("timed_out");
  expect(await link.exit).toBe("timed_out");
});

test("an abort kills the sandbox and rejects with its reason", async () => {
  const { link, kills } = await open(() => []);
  const stop = new AbortController();
  const run = link.runCode("1", LIMITS, stop.signal);
  await setImmediate();
  stop.abort(new Error("stopped"));
  await expect(run).rejects.toThrow("stopped");
  expect(kills()).toBe(1);
  expect(await link.exit).toBe("killed");
});

async function* pieces(...lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const length of lengths) yield new Uint8Array(length);
}
