/**
 * What the part that listens tells the page: the peak since the last time, from 0 to 1; samples of 16 bits and one
 * channel; that nothing more comes.
 */
export type Heard =
  | { readonly type: "level"; readonly peak: number }
  | { readonly type: "samples"; readonly samples: Int16Array }
  | { readonly type: "end" };

export interface Microphone {
  readonly sampleRate: number;
  /** Lets go of it, once the last that it heard is given; twice is as good as once. */
  close(): Promise<void>;
}

/** Served beside the page, because it runs in a thread of its own. */
const WORKLET_URL = "/demo/microphone-worklet.js";
const LAST_SAMPLES_MS = 500;

/** Opens the microphone. Rejects where there is none, or where it may not be used. */
export async function openMicrophone(hear: (heard: Heard) => void): Promise<Microphone> {
  if (!("mediaDevices" in navigator)) throw new Error("Browsers give microphones to https and local pages only.");
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false },
  });
  const context = new AudioContext();
  try {
    await context.audioWorklet.addModule(WORKLET_URL);
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
    context.createMediaStreamSource(stream).connect(node); // Now, when whoever is told is ready for it.
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
