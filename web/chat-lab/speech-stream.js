/** Bytes of audio per message: what the server likes best. */
const CHUNK_BYTES = 32_000;
/** What may wait for a slow server before we stop hearing: a minute. */
const WAITING_BYTES_MAX = 6_000_000;

/** One stt-jsonl-v1 stream over a WebSocket. `on` has functions for what comes back: `partial(text)`, `final(message)`, `closed()` and `broken(reason)`. */
export class SpeechStream {
  #socket;
  #on;
  #sampleRate;
  #waiting = [];
  #waitingBytes = 0;
  #isOver = false;

  constructor(sampleRate, on) {
    this.#on = on;
    this.#sampleRate = sampleRate;
    const { host, protocol } = window.location;
    this.#socket = new WebSocket(`${protocol === "https:" ? "wss" : "ws"}://${host}/ws/transcribe?interim=true`);
    this.#socket.addEventListener("message", ({ data }) => this.#hear(JSON.parse(data)));
    this.#socket.addEventListener("close", () =>
      this.#over("The connection to the server broke. What was heard is kept."),
    );
  }

  /** Samples of 16 bits, one channel. */
  send(samples) {
    this.#waiting.push(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
    this.#waitingBytes += samples.byteLength;
    if (this.#waitingBytes >= CHUNK_BYTES) this.#flushChunk();
  }

  /** What was said so far is wanted, and nothing more is said. */
  end() {
    this.#flushChunk();
    this.#say({ type: "end" });
  }

  #flushChunk() {
    if (this.#waitingBytes === 0) return;
    const bytes = new Uint8Array(this.#waitingBytes);
    let place = 0;
    for (const piece of this.#waiting) {
      bytes.set(piece, place);
      place += piece.length;
    }
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#say({ type: "chunk", audio_base64: base64(bytes), sample_rate: this.#sampleRate });
  }

  #say(message) {
    const socket = this.#socket;
    if (socket.readyState === WebSocket.CONNECTING) {
      socket.addEventListener("open", () => socket.send(JSON.stringify(message)), { once: true });
    } else if (socket.bufferedAmount > WAITING_BYTES_MAX) {
      this.#over("The server is too slow for this microphone.");
      socket.close();
    } else if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  #hear(message) {
    if (message.type === "transcript.partial") this.#on.partial(message.text);
    if (message.type === "transcript.final") this.#on.final(message);
    if (message.type === "error") this.#over(message.message);
    if (message.type === "stream.closed") this.#over(null);
  }

  #over(reason) {
    if (this.#isOver) return;
    this.#isOver = true;
    if (reason === null) this.#on.closed();
    else this.#on.broken(reason);
  }
}

function base64(bytes) {
  let text = "";
  for (let place = 0; place < bytes.length; place += 0x80_00)
    text += String.fromCharCode(...bytes.subarray(place, place + 0x80_00));
  return btoa(text);
}
