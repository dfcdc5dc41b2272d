import { useState } from "react";
import { sentenceOf } from "../api/use-call.ts";
import { ATTACHED_BYTES_MAX, type Attachment, attachFile, attachRecording } from "./attachments.ts";

export interface Attachments {
  readonly list: readonly Attachment[];
  readonly trouble: string;
  readonly addFiles: (files: readonly File[]) => void;
  readonly addRecording: (wav: Uint8Array) => void;
  readonly remove: (key: number) => void;
  readonly clear: () => void;
}

/** What is attached to the message that is being written. */
export function useAttachments(): Attachments {
  const [list, setList] = useState<readonly Attachment[]>([]);
  const [trouble, setTrouble] = useState("");
  const addFiles = (files: readonly File[]): void => {
    if (files.reduce((sum, { size }) => sum + size, 0) > ATTACHED_BYTES_MAX) {
      setTrouble("These files are too large for one message.");
      return;
    }
    setTrouble("");
    Promise.all(files.map(attachFile)).then(
      (more) => setList((before) => [...before, ...more]),
      (error: unknown) => setTrouble(sentenceOf(error)),
    );
  };
  return {
    list,
    trouble,
    addFiles,
    addRecording: (wav) => setList((before) => [...before, attachRecording(wav)]),
    remove: (key) => setList((before) => before.filter((other) => other.key !== key)),
    clear: () => setList([]),
  };
}
