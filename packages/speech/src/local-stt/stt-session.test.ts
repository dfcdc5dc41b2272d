import { assertNever } from "@antiphon/base/assert.ts";
import type { SttClientMessage } from "@antiphon/contracts/local-stt/types.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { pcmBytes } from "../audio/pcm.ts";
import { transcriptionFailed, unsupportedLanguage } from "./errors.ts";
import { type SessionCommand, SttSession } from "./stt-session.ts";

const RATE = 16_000;
const FLUSH: SttClientMessage = { type: "flush" };
const END: SttClientMessage = { type: "end" };

/** One second of tone for each `o`, one second of silence for each `_`. */
function speech(pattern: string): Extract<SttClientMessage, { type: "chunk" }> {
  const samples = [...pattern].flatMap((one) =>
    Array.from({ length: RATE }, (_, n) =>
      one === "o" ? Math.round(6000 * Math.sin((2 * Math.PI * 440 * n) / RATE)) : 0,
    ),
  );
  const bytes = pcmBytes(Int16Array.from(samples));
  return { type: "chunk", audio_base64: Buffer.from(bytes).toString("base64") };
}

/** Drives a session and describes its commands in short words. */
class Talk {
  readonly session: SttSession;

  constructor(interim = false, finals: "asked" | "at_pauses" = "asked") {
    this.session = new SttSession({ interim, finals }, (named) => {
      if (named === "tlh") throw unsupportedLanguage(named, "base");
      return named;
    });
  }

  open(): string[] {
    return said(this.session.open());
  }

  say(...messages: readonly SttClientMessage[]): string[] {
    return messages.flatMap((message) => said(this.session.receive(message)));
  }

  hear(part: number, text: string): string[] {
    return said(this.session.takeTranscript(part, { text, language: null }));
  }
}

function said(commands: readonly SessionCommand[]): string[] {
  return commands.map((command) => {
    switch (command.type) {
      case "transcribe":
        return `transcribe ${command.part}${command.isAwaited ? " now" : ""}`;
      case "close":
        return `close ${command.error?.code ?? ""}`.trim();
      case "send":
        switch (command.message.type) {
          case "transcript.final":
            return `final '${command.message.text}' of '${command.message.full_text}'`;
          case "transcript.partial":
            return `partial '${command.message.text}'`;
          case "hello":
          case "ack":
          case "error":
          case "stream.closed":
            return command.message.type;
          default:
            return assertNever(command.message);
        }
      case "hurry":
      case "guess":
      case "drop_guess":
        return command.type;
      default:
        return assertNever(command);
    }
  });
}

describe("a session", () => {
  test("transcribes speech before a pause while audio arrives, and only the tail at the end", () => {
    const talk = new Talk();
    expect(talk.open()).toEqual(["hello"]);
    expect(talk.say(speech("o_"))).toEqual(["ack", "transcribe 0"]);
    expect(talk.say(speech("o_"))).toEqual(["ack"]);
    expect(talk.hear(0, "one")).toEqual(["transcribe 1"]);
    expect(talk.hear(1, "two")).toEqual([]);
    expect(talk.say(speech("o"), END)).toEqual(["ack", "transcribe 2 now"]);
    expect(talk.hear(2, "three")).toEqual(["final 'one two three' of 'one two three'", "stream.closed", "close"]);
    expect(talk.session.isReceiving).toBe(false);
  });

  test("answers an end at once if everything is transcribed", () => {
    const talk = new Talk();
    talk.say(speech("o_"));
    talk.hear(0, "one");
    expect(talk.say(END)).toEqual(["final 'one' of 'one'", "stream.closed", "close"]);
  });

  test("hurries the running part when a client begins to wait for it", () => {
    const talk = new Talk();
    expect(talk.say(speech("o_"), FLUSH, FLUSH)).toEqual(["ack", "transcribe 0", "hurry"]);
    expect(talk.hear(0, "one")).toEqual(["final 'one' of 'one'", "final '' of 'one'"]);
  });

  test("keeps the order of replies: those after a flush wait for its final", () => {
    const talk = new Talk();
    expect(talk.say(speech("o"), FLUSH, speech("o_"), FLUSH, speech("_"))).toEqual(["ack", "transcribe 0 now"]);
    expect(talk.hear(0, "one")).toEqual(["final 'one' of 'one'", "ack", "transcribe 1 now"]);
    expect(talk.hear(1, "two")).toEqual(["final 'two' of 'one two'", "ack"]);
  });

  test("whose client hangs up sends the requested finals, and transcribes nothing else", () => {
    const talk = new Talk();
    talk.say(speech("o"), FLUSH, speech("o_o_"));
    expect(said(talk.session.hangUp())).toEqual([]);
    expect(talk.hear(0, "one")).toEqual(["final 'one' of 'one'", "ack", "close"]);
    expect(said(new Talk().session.hangUp())).toEqual(["close"]);
  });

  test("that fails sends the outstanding final before the error, if there is one", () => {
    const talk = new Talk();
    talk.say(speech("o"));
    expect(talk.say({ type: "chunk", audio_base64: "AAAA", encoding: "opus" })).toEqual(["transcribe 0 now"]);
    expect(talk.hear(0, "one")).toEqual(["final 'one' of 'one'", "close unsupported_format"]);
    const other = new Talk();
    other.say(speech("_"), FLUSH);
    expect(other.say({ type: "chunk", audio_base64: "AAA" })).toEqual(["close invalid_message"]);
  });

  test("whose engine fails ends without a final, even if replies are waiting", () => {
    const talk = new Talk();
    talk.say(speech("o"), FLUSH, speech("o"));
    expect(said(talk.session.breakOff(transcriptionFailed("It broke.")))).toEqual(["close transcription_failed"]);
    expect(talk.hear(0, "one")).toEqual([]);
  });

  test("is behind while too much audio is waiting", () => {
    const talk = new Talk();
    for (let minute = 0; minute < 2; minute += 1) talk.say(...Array.from({ length: 15 }, () => speech("oo__")));
    expect(talk.session.isBehind).toBe(false);
    for (let more = 0; more < 30; more += 1) talk.say(speech("ooooo_"));
    expect(talk.session.isBehind).toBe(true);
    for (let part = 0; talk.session.isBehind; part += 1) talk.hear(part, "word");
    expect(talk.say(speech("_"))).toEqual(["ack"]);
  });

  test("makes a final at each pause, and a last one at the end, if finals come at pauses", () => {
    const talk = new Talk(true, "at_pauses");
    expect(talk.say(speech("o_"))).toEqual(["ack", "transcribe 0 now"]);
    expect(talk.say(speech("_o_"))).toEqual([]);
    expect(talk.session.finalsAsked).toBe(2);
    expect(talk.hear(0, "one")).toEqual(["final 'one' of 'one'", "ack", "transcribe 1 now"]);
    expect(talk.hear(1, "")).toEqual(["final '' of 'one'"]);
    expect(talk.say(speech("o"))).toEqual(["ack", "guess"]);
    expect(said(talk.session.takeGuess("tw"))).toEqual(["partial 'tw'"]);
    expect(talk.say({ ...speech("_"), last: true })).toEqual(["ack", "transcribe 2 now"]);
    expect(talk.hear(2, "two")).toEqual([
      "final 'two' of 'one two'",
      "final '' of 'one two'",
      "stream.closed",
      "close",
    ]);
  });

  test("sends partial transcripts if they are enabled", () => {
    const talk = new Talk(true);
    expect(talk.say(speech("o"))).toEqual(["ack", "guess"]);
    expect(said(talk.session.takeGuess("on"))).toEqual(["partial 'on'"]);
    expect(talk.say(speech("_"))).toEqual(["ack", "transcribe 0"]);
    expect(talk.hear(0, "one")).toEqual(["partial 'one'"]);
    expect(talk.say(speech("_"))).toEqual(["ack"]);
    expect(talk.say(speech("o"))).toEqual(["ack", "guess"]);
    expect(talk.say(FLUSH)).toEqual(["drop_guess", "transcribe 1 now"]);
    expect(said(talk.session.takeGuess("late"))).toEqual([]);
    expect(talk.hear(1, "two")).toEqual(["final 'one two' of 'one two'"]);
  });
});

describe("what the engine gets besides the sound", () => {
  function contexts(commands: readonly SessionCommand[]): object[] {
    return commands.flatMap((command) => (command.type === "transcribe" ? [command.context] : []));
  }

  test("is the end of the preceding text in whole words, if it ends within a sentence", () => {
    verifies("stt.stream.text-carries-over");
    const { session } = new Talk();
    const first = contexts(session.receive(speech("o_o_o_")));
    expect(first).toEqual([{ language: null, prompt: null }]);
    const heard = { text: " Ask not what", language: "en" };
    expect(contexts(session.takeTranscript(0, heard))).toEqual([{ language: null, prompt: "Ask not what" }]);
    const long = contexts(session.takeTranscript(1, { text: "word ".repeat(100), language: "en" }));
    expect(long).toEqual([{ language: null, prompt: "word ".repeat(40).trim() }]);
  });

  test.each([".", "?", "!", "。", '."', ".)"])("is no prompt after the end of a sentence: %s", (mark) => {
    const { session } = new Talk();
    session.receive(speech("o_o_"));
    const heard = { text: `She said so${mark}`, language: "en" };
    expect(contexts(session.takeTranscript(0, heard))).toEqual([{ language: null, prompt: null }]);
  });

  test("is the language of the first chunk, which later chunks may repeat", () => {
    const { session } = new Talk();
    expect(contexts(session.receive({ ...speech("o_"), language: "de" }))).toEqual([{ language: "de", prompt: null }]);
    session.receive({ ...speech("_"), language: "DE" });
    expect(session.isReceiving).toBe(true);
  });

  test.each<{ what: string; chunks: readonly object[]; code: string }>([
    { what: "another language later", chunks: [{ language: "de" }, { language: "en" }], code: "invalid_message" },
    { what: "a language after a first chunk without one", chunks: [{}, { language: "de" }], code: "invalid_message" },
    { what: "a language that the engine does not know", chunks: [{ language: "tlh" }], code: "unsupported_language" },
  ])("$what ends the stream", ({ chunks, code }) => {
    const talk = new Talk();
    const answers = chunks.flatMap((members) => talk.say({ ...speech("_"), ...members }));
    expect(answers.at(-1)).toBe(`close ${code}`);
  });

  test("finals name the detected language, if anything was said", () => {
    const { session } = new Talk();
    session.receive(speech("o_o_"));
    session.takeTranscript(0, { text: "", language: "en" });
    session.takeTranscript(1, { text: "Guten Tag.", language: "de" });
    const finals = [...session.receive(FLUSH), ...session.receive(FLUSH)].flatMap((command) =>
      command.type === "send" && command.message.type === "transcript.final" ? [command.message] : [],
    );
    expect(finals).toMatchObject([{ text: "Guten Tag.", language: "de" }, { text: "" }]);
    expect(finals[1]).not.toHaveProperty("language");
  });
});
