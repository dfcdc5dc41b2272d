import { fetchHealth } from "./server.js";

const SLOW_MS = 5000;
const FAST_MS = 700;

const WORDS = {
  ready: "Ready",
  loading: "The speech model is being loaded",
  building: "The speech engine is being built",
  downloading: "The speech model is being downloaded",
  failed: "Speech is not there",
};

/** Keeps asking the server how it is and shows it. `onReady` is told whether speech can be transcribed. */
export function watchStatus({ state, progress }, onReady) {
  const look = async () => {
    const health = await fetchHealth();
    const sentence = health === null ? "The server does not answer." : describe(health);
    if (state.textContent !== sentence) state.textContent = sentence;
    showProgress(progress, health?.speech);
    onReady(health?.ok === true);
    setTimeout(look, health?.ok === true ? SLOW_MS : FAST_MS);
  };
  void look();
}

function describe({ speech, formatting }) {
  const model = speech.model === null ? "" : ` · model ${speech.model}`;
  const detail = speech.detail === null ? "" : ` · ${speech.detail}`;
  const provider = formatting.enabled ? ` · formatting by ${formatting.provider}` : " · no formatting";
  return `${WORDS[speech.state]}${model}${detail}${provider}`;
}

function showProgress(progress, speech) {
  progress.hidden = speech?.state !== "downloading";
  if (progress.hidden || speech.total_bytes === null) return progress.removeAttribute("value");
  progress.max = speech.total_bytes;
  progress.value = speech.received_bytes ?? 0;
}
