import { parentPort, workerData } from "node:worker_threads";
import { joinSamples } from "../audio/pcm.ts";
import { AudioError } from "./audio-error.ts";
import { type DecodeAnswer, type DecodeTask, isDecodeTask } from "./decode-message.ts";
import { oggPackets } from "./opus/ogg-packets.ts";
import { webmPackets } from "./opus/webm-packets.ts";

/** Pieces are at least this long, to limit the number of messages. */
const PIECE_SAMPLES = 16_000;

/** Imports only the needed decoder, because loading one takes longer than decoding a short recording. */
async function* decode({ format, bytes }: DecodeTask): AsyncGenerator<Int16Array> {
  if (format === "flac") {
    const { decodeFlac } = await import("./flac/decode-flac.ts");
    return yield* decodeFlac(bytes);
  }
  const { decodeOpus } = await import("./opus/decode-opus.ts");
  yield* decodeOpus(format === "ogg" ? oggPackets(bytes) : webmPackets(bytes));
}

async function* inPieces(task: DecodeTask): AsyncGenerator<Int16Array> {
  let batch: Int16Array[] = [];
  let length = 0;
  for await (const samples of decode(task)) {
    batch.push(samples);
    length += samples.length;
    if (length < PIECE_SAMPLES) continue;
    yield joinSamples(batch);
    [batch, length] = [[], 0];
  }
  if (length > 0) yield joinSamples(batch);
}

async function nextAnswer(source: AsyncIterator<Int16Array>): Promise<DecodeAnswer> {
  try {
    const next = await source.next();
    return next.done === true ? { type: "end" } : { type: "samples", samples: next.value };
  } catch (error) {
    if (error instanceof AudioError) return { type: "error", reason: error.reason, message: error.message };
    return { type: "fault", message: error instanceof Error ? error.message : "unknown" };
  }
}

const task: unknown = workerData;
const port = parentPort;
if (port !== null && isDecodeTask(task)) {
  const source = inPieces(task);
  port.on("message", () => {
    void nextAnswer(source).then((answer) => port.postMessage(answer));
  });
}
