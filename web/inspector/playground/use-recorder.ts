import { useEffect, useRef, useState } from "react";
import { type Microphone, openMicrophone } from "../../chat-lab/microphone.ts";
import { sentenceOf } from "../api/use-call.ts";
import { wavOf } from "../items/wav.ts";

const WORKLET_URL = "/inspector/microphone-worklet.js";
/** A recording ends by itself after this long. */
const RECORDING_MS_MAX = 300_000;

export interface Recorder {
  readonly isRecording: boolean;
  /** The loudness of the moment, from 0 to 1. */
  readonly level: number;
  readonly trouble: string;
  /** Starts a recording, or ends it and hands it over. */
  readonly toggle: () => void;
}

interface Recording {
  readonly microphone: Microphone;
  readonly pieces: Int16Array[];
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Records the microphone into a WAV file. */
export function useRecorder(onRecorded: (wav: Uint8Array) => void): Recorder {
  const recording = useRef<Recording | null>(null);
  const [isRecording, setIsRecording] = useState(false);
  const [level, setLevel] = useState(0);
  const [trouble, setTrouble] = useState("");

  const finish = async (): Promise<void> => {
    const current = recording.current;
    if (current === null) return;
    recording.current = null;
    clearTimeout(current.timer);
    await current.microphone.close();
    setIsRecording(false);
    setLevel(0);
    if (current.pieces.length > 0) onRecorded(wavOf(current.pieces, current.microphone.sampleRate));
  };
  const start = async (): Promise<void> => {
    const pieces: Int16Array[] = [];
    setTrouble("");
    const microphone = await openMicrophone((heard) => {
      if (heard.type === "level") setLevel(heard.peak);
      if (heard.type === "samples") pieces.push(heard.samples);
    }, WORKLET_URL);
    recording.current = { microphone, pieces, timer: setTimeout(() => void finish(), RECORDING_MS_MAX) };
    setIsRecording(true);
  };
  useEffect(
    () => () => {
      void recording.current?.microphone.close();
    },
    [],
  );
  const toggle = (): void => {
    (recording.current === null ? start() : finish()).catch((error: unknown) => setTrouble(sentenceOf(error)));
  };
  return { isRecording, level, trouble, toggle };
}
