import { useEffect, useState } from "react";

interface BlobAudioProps {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly label: string;
}

/** A player for sound that the page holds. */
export function BlobAudio({ bytes, type, label }: BlobAudioProps) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes.length, type]);
  return url === "" ? null : <audio className="sound" controls src={url} aria-label={label} />;
}
