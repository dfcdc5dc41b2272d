/**
 * A message of the worklet to the page: the peak since the last `level`, from 0 to 1; 16-bit mono samples; or the end.
 */
export type Heard =
  | { readonly type: "level"; readonly peak: number }
  | { readonly type: "samples"; readonly samples: Int16Array }
  | { readonly type: "end" };

export interface Microphone {
  readonly sampleRate: number;
  /** Closes the microphone, after its last samples were posted. Can be called several times. */
  close(): Promise<void>;
}

/** A file of its own, because a worklet runs in its own thread. */
const WORKLET_URL = "/demo/microphone-worklet.js";
const LAST_SAMPLES_MS = 500;

/**
 * Opens the microphone. Rejects if there is none, or if it may not be used. Another page has the worklet at a URL of
 * its own.
 */
export async function openMicrophone(hear: (heard: Heard) => void, workletUrl = WORKLET_URL): Promise<Microphone> {
  if (!("mediaDevices" in navigator)) throw new Error("Browsers allow microphones on https and local pages only.");
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false },
  });
  const context = new AudioContext();
  try {
    await context.audioWorklet.addModule(workletUrl);
    const node = new AudioWorkletNode(context, "microphone", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
    });
    const ended = Promise.withResolvers<void>();
    node.port.addEventListener("message", ({ data: heard }: MessageEvent<Heard>) => {
      hear(heard);
      if (heard.type === "end") ended.resolve();
    });
    node.port.start();
    await context.resume();
    const close = async (): Promise<void> => {
      node.port.postMessage("finish", []);
      await Promise.race([ended.promise, new Promise((resolve) => setTimeout(resolve, LAST_SAMPLES_MS))]);
      await release(stream, context);
    };
    let closing: Promise<void> | null = null;
    context.createMediaStreamSource(stream).connect(node); // Last, so that no sample is posted before the page listens.
    return { sampleRate: context.sampleRate, close: () => (closing ??= close()) };
  } catch (error) {
    await release(stream, context);
    throw error;
  }
}

async function release(stream: MediaStream, context: AudioContext): Promise<void> {
  for (const track of stream.getTracks()) track.stop();
  if (context.state !== "closed") await context.close();
}
