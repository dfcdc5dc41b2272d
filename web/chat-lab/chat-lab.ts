import { AntiphonSpeech } from "../../packages/client/src/index.ts";
import { openChat } from "./chat.ts";
import { Dictation, type DictationPhase } from "./dictation.ts";
import { byId, setText } from "./elements.ts";
import { Formatting } from "./formatting.ts";
import { listenForPresses } from "./press-to-talk.ts";
import { Recordings } from "./recordings.ts";
import { openResponses } from "./responses.ts";
import { ServerStatus } from "./status.ts";
import { Timer } from "./timer.ts";
import { Transcript } from "./transcript.ts";

const TALK_STATES: Readonly<Record<Exclude<DictationPhase, "off">, string>> = {
  opening: "Opening the microphone…",
  listening: "Listening. Press Stop when you are done.",
  finishing: "Transcribing the last words…",
};
/** The range of the meter, in decibels below full scale. */
const METER_DB = 50;

const speech = new AntiphonSpeech({ baseUrl: window.location.origin });
const talk = byId("talk", HTMLButtonElement);
const level = byId("level", HTMLMeterElement);
const connection = byId("connection", HTMLElement);
const timer = new Timer(byId("timer", HTMLElement));
const transcript = new Transcript();
const formatting = new Formatting(speech, transcript);

const dictation = new Dictation({
  speech,
  serverReady: (signal) => status.ready(signal),
  view: {
    phase: showPhase,
    level: (peak) => {
      level.value = peak <= 0 ? 0 : Math.max(0, 1 + (20 * Math.log10(peak)) / METER_DB);
    },
    interim: (text) => transcript.showLive(text),
    final: (text) => {
      transcript.addFinal(text);
      if (text !== "") readOut(text);
    },
    discarded: () => transcript.discardDictation(),
    waiting: (reason) =>
      setText(
        connection,
        reason === null ? "" : `${reason} What you say is kept, and transcribed once the server is back.`,
      ),
    failed: showError,
  },
});
const recordings = new Recordings({ speech, addText: (text) => transcript.add(text), showError });
const conversations = [openChat(speech, () => transcript.text), openResponses(speech, () => transcript.text)];
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
byId("accept", HTMLButtonElement).addEventListener("click", () => {
  talk.focus(); // The button goes away.
  dictation.accept();
});
byId("discard", HTMLButtonElement).addEventListener("click", () => {
  talk.focus();
  dictation.discard();
});

document.addEventListener("keydown", ({ key, defaultPrevented }) => {
  if (key !== "Escape" || defaultPrevented) return;
  dictation.stop();
  recordings.stop();
  formatting.stop();
  for (const conversation of conversations) conversation.stop();
});

// Sound and files cannot be kept over a reload, so the browser asks whether to leave.
window.addEventListener("beforeunload", (event) => {
  if (dictation.phase !== "off" || recordings.isBusy) event.preventDefault();
});

function showPhase(phase: DictationPhase): void {
  const isOn = phase === "opening" || phase === "listening";
  setText(byId("talk-label", HTMLElement), isOn ? "Stop" : "Talk");
  showTalkState();
  talk.dataset["phase"] = phase;
  byId("dictating", HTMLElement).hidden = phase === "off";
  if (phase === "opening") transcript.beginDictation();
  if (phase === "listening") timer.start();
  if (phase === "finishing") timer.stop();
  if (phase === "off") endDictation();
}

function endDictation(): void {
  timer.stop();
  transcript.endDictation();
  if (!dictation.isDiscarded) formatting.afterDictation();
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
