import { AntiphonSpeech } from "../../src/client/index.ts";
import { openChat } from "./chat.ts";
import { Dictation, type DictationPhase } from "./dictation.ts";
import { byId, setText } from "./elements.ts";
import { Texts } from "./formatting.ts";
import { listenForPresses } from "./press-to-talk.ts";
import { Recordings } from "./recordings.ts";
import { openResponses } from "./responses.ts";
import { ServerStatus } from "./status.ts";

const TALK_STATES: Readonly<Record<Exclude<DictationPhase, "off">, string>> = {
  opening: "Opening the microphone…",
  listening: "Listening. Press again to stop.",
  finishing: "Transcribing the last words…",
};
/** The range of the meter, in decibels below full scale. */
const METER_DB = 50;

const speech = new AntiphonSpeech({ baseUrl: window.location.origin });
const talk = byId("talk", HTMLButtonElement);
const level = byId("level", HTMLMeterElement);
const interim = byId("interim", HTMLElement);
const connection = byId("connection", HTMLElement);
const texts = new Texts(speech);

const dictation = new Dictation({
  speech,
  serverReady: (signal) => status.ready(signal),
  view: {
    phase: showPhase,
    level: (peak) => {
      level.value = peak <= 0 ? 0 : Math.max(0, 1 + (20 * Math.log10(peak)) / METER_DB);
    },
    interim: (text) => setText(interim, text),
    final: (text) => {
      texts.add(text);
      if (text !== "") readOut(text);
    },
    waiting: (reason) =>
      setText(
        connection,
        reason === null ? "" : `${reason} What you say is kept, and transcribed once the server is back.`,
      ),
    failed: showError,
  },
});
const recordings = new Recordings({ speech, addText: (text) => texts.add(text), showError });
const conversations = [openChat(speech, () => texts.result), openResponses(() => texts.result)];
const status = new ServerStatus(speech, (isReady) => {
  talk.disabled = !isReady && dictation.phase === "off";
  showTalkState();
  byId("file", HTMLInputElement).disabled = !isReady;
});

listenForPresses(talk, {
  isOn: () => dictation.phase !== "off",
  start: () => {
    showError("");
    void dictation.start();
  },
  stop: () => dictation.stop(),
});
byId("give-up", HTMLButtonElement).addEventListener("click", () => dictation.giveUp());

document.addEventListener("keydown", ({ key, defaultPrevented }) => {
  if (key !== "Escape" || defaultPrevented) return;
  dictation.stop();
  recordings.stop();
  texts.stop();
  for (const conversation of conversations) conversation.stop();
});

function showPhase(phase: DictationPhase): void {
  showTalkState();
  talk.setAttribute("aria-pressed", String(phase === "opening" || phase === "listening"));
  talk.dataset["phase"] = phase;
  byId("give-up", HTMLElement).hidden = phase !== "finishing";
  if (phase === "off" && texts.wantsFormatting) void texts.format();
}

function showTalkState(): void {
  const whenOff = talk.disabled
    ? "The microphone is available once speech can be transcribed."
    : "Press to switch the microphone on, or hold while you talk.";
  setText(byId("talk-state", HTMLElement), dictation.phase === "off" ? whenOff : TALK_STATES[dictation.phase]);
}

/** Tells screen readers the text that was added. */
function readOut(text: string): void {
  setText(byId("heard", HTMLElement), text);
}

function showError(sentence: string): void {
  setText(byId("speak-trouble", HTMLElement), sentence);
}
