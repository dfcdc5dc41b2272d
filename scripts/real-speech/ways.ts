import { AT_ONCE, streamSound } from "../bench/stt/live-stream.ts";
import { type OurServer, startOurServer } from "../bench/stt/our-server.ts";
import { wavOf } from "../bench/stt/spoken-sound.ts";
import { type StockServer, startStockServer } from "../bench/stt/whisper-programs.ts";

/** A way to transcribe a recording. */
export interface Way {
  readonly name: string;
  readonly isOurs: boolean;
  /** Process id of the server. Its child processes count too. */
  readonly pid: number;
  ask(samples: Int16Array): Promise<{ readonly text: string; readonly ms: number }>;
}

export interface WaysOptions {
  readonly folder: string;
  readonly model: string;
  readonly threads: number;
  /** Path of the `whisper-server` that all ways use. */
  readonly program: string;
}

export interface Ways {
  readonly all: readonly [stock: Way, ...ours: Way[]];
  /** The ways with fitted windows. */
  readonly fitted: readonly [stock: Way, ...ours: Way[]];
  stop(): Promise<void>;
}

const STOCK_PORT = 18_238;

/**
 * Starts whisper.cpp's own server with its default options, and ours twice, with fitted and with full windows. All run
 * at once, but only one transcribes at a time.
 */
export async function startWays({ folder, ...options }: WaysOptions): Promise<Ways> {
  const stock = await startStockServer(options.program, { ...options, port: STOCK_PORT, search: [] });
  const fitted = await startOurServer({ ...options, folder: `${folder}/fitted`, window: "fitted" });
  const full = await startOurServer({ ...options, folder: `${folder}/full`, window: "full" });
  const stop = async (): Promise<void> => {
    stock.stop();
    await Promise.all([fitted.stop(), full.stop()]);
  };
  const fittedWays = [
    stockWay(stock),
    upload("upload, fitted window", fitted),
    live("live, fitted window", fitted),
    spoken("as spoken, fitted window", fitted),
  ] as const;
  const fullWays = [upload("upload, full window", full), live("live, full window", full)];
  return { all: [...fittedWays, ...fullWays], fitted: fittedWays, stop };
}

function stockWay(stock: StockServer): Way {
  return {
    name: "whisper.cpp's own server",
    isOurs: false,
    pid: stock.pid,
    ask: async (samples) => {
      const { text, waitMs } = await stock.ask(wavOf(samples));
      return { text, ms: waitMs };
    },
  };
}

function upload(name: string, { url, pid }: OurServer): Way {
  return {
    name,
    isOurs: true,
    pid,
    ask: async (samples) => {
      const form = new FormData();
      form.set("audio", new Blob([Uint8Array.from(wavOf(samples))]), "sound.wav");
      const startedMs = performance.now();
      const reply = await fetch(`${url}/transcribe`, { method: "POST", body: form });
      const body: unknown = await reply.json();
      const ms = performance.now() - startedMs;
      if (!reply.ok) throw new Error(`the upload failed: ${JSON.stringify(body)}`);
      return { text: textOf(body), ms };
    },
  };
}

/** Streams the whole recording at once, to measure the total time of transcription. */
function live(name: string, { url, pid }: OurServer): Way {
  return {
    name,
    isOurs: true,
    pid,
    ask: async (samples) => {
      const { text, wholeMs } = await streamSound(url, samples, AT_ONCE);
      return { text, ms: wholeMs };
    },
  };
}

/** Streams the recording in real time, to measure a speaker's wait from the end of the sound to the last words. */
function spoken(name: string, { url, pid }: OurServer): Way {
  return {
    name,
    isOurs: true,
    pid,
    ask: async (samples) => {
      const { text, waitMs } = await streamSound(url, samples, 1);
      return { text, ms: waitMs };
    },
  };
}

function textOf(body: unknown): string {
  return typeof body === "object" && body !== null && "text" in body ? String(body.text) : "";
}
