import { setUpChat } from "./chat.js";
import { openMicrophone } from "./microphone.js";
import { format, transcribe } from "./server.js";
import { SpeechStream } from "./speech-stream.js";
import { watchStatus } from "./status.js";

const element = (id) => document.getElementById(id);
const [talk, level, partial, file, drop] = ["talk", "level", "partial", "file", "drop"].map(element);
const [raw, formatted, trouble] = ["raw", "formatted", "trouble"].map(element);
const TALK_KEY = "F2";

function showTrouble(sentence) {
  trouble.textContent = sentence;
}

function addText(text) {
  if (text !== "") raw.value = raw.value === "" ? text : `${raw.value} ${text}`;
}

// ---- The microphone

/** What is being dictated; null: nothing. `wanted` false: it shall end as soon as it can. */
let dictation = null;

async function startTalking() {
  if (dictation !== null || talk.disabled) return;
  showTrouble("");
  dictation = { wanted: true, microphone: null, stream: null };
  const current = dictation;
  talk.setAttribute("aria-pressed", "true");
  talk.textContent = "Stop the microphone";
  try {
    current.microphone = await openMicrophone((samples, loudest) => {
      level.value = loudest;
      current.stream?.send(samples);
    });
  } catch {
    stopped("The microphone cannot be used. Allow it in the browser's settings.");
    return;
  }
  current.stream = new SpeechStream(current.microphone.sampleRate, {
    partial: (text) => {
      partial.textContent = text;
    },
    final: ({ text }) => addText(text),
    closed: () => stopped(""),
    broken: stopped,
  });
  if (!current.wanted) stopTalking();
}

function stopTalking() {
  if (dictation === null) return;
  dictation.wanted = false;
  dictation.microphone?.close();
  level.value = 0;
  dictation.stream?.end();
}

function stopped(reason) {
  dictation?.microphone?.close();
  dictation = null;
  level.value = 0;
  addText(reason === "" ? "" : partial.textContent); // Words that are known are not lost with the connection.
  partial.textContent = "";
  talk.setAttribute("aria-pressed", "false");
  talk.textContent = "Start the microphone";
  if (reason !== "") showTrouble(reason);
}

talk.addEventListener("click", () => (dictation === null ? void startTalking() : stopTalking()));
document.addEventListener("keydown", (event) => {
  if (event.key !== TALK_KEY || event.repeat) return;
  event.preventDefault();
  void startTalking();
});
document.addEventListener("keyup", (event) => {
  if (event.key === TALK_KEY) stopTalking();
});

// ---- Recordings

async function readFile(recording) {
  if (recording === undefined || file.disabled) return;
  showTrouble("");
  partial.textContent = `Listening to ${recording.name}…`;
  try {
    addText((await transcribe(recording)).text);
  } catch (error) {
    showTrouble(error.message);
  } finally {
    partial.textContent = "";
    file.value = "";
  }
}

file.addEventListener("change", () => void readFile(file.files[0]));
for (const name of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
    if (name === "drop") void readFile(event.dataTransfer.files[0]);
  });
}

// ---- Formatting

async function formatText() {
  showTrouble("");
  const note = element("format-note");
  note.textContent = "Formatting…";
  try {
    const reply = await format({
      text: raw.value,
      assistive: element("assistive").checked,
      instruction: element("instruction").value,
    });
    formatted.value = reply.text;
    note.textContent = reply.formatted ? "Done." : (reply.warning ?? "Not formatted: this is the raw text.");
  } catch (error) {
    note.textContent = "";
    showTrouble(error.message);
  }
}

element("format").addEventListener("submit", (event) => {
  event.preventDefault();
  void formatText();
});

// ---- Chat and status

setUpChat(
  {
    log: element("chat-log"),
    form: element("chat"),
    text: element("chat-text"),
    send: element("chat-send"),
    take: element("chat-take"),
    clear: element("chat-clear"),
  },
  () => formatted.value || raw.value,
  showTrouble,
);

watchStatus({ state: element("state"), progress: element("progress") }, (isReady) => {
  if (dictation === null) talk.disabled = !isReady;
  file.disabled = !isReady;
});
