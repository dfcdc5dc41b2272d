import { useClient } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { BlobAudio } from "./blob-audio.tsx";
import { VOICE_SAMPLE_RATE } from "./voice-player.ts";
import { wavOf } from "./wav.ts";

/** A player for the sound of a spoken answer, as the server keeps it. Shows nothing if there is none. */
export function ResponseAudio({ id }: { readonly id: string }) {
  const client = useClient();
  const { reply, error } = useCall((signal) => client.getResponseAudio(id, { signal }), [client, id]);
  if (error !== null) return <p className="trouble">{error}</p>;
  if (reply === null) return <p className="hint">Loading the sound…</p>;
  const { bytes, type } = playable(new Uint8Array(reply));
  return <BlobAudio bytes={bytes} type={type} label="Spoken answer" />;
}

/** The first bytes of the files that the server sends. Anything else is samples without a header. */
const SIGNATURES: readonly (readonly [start: string, type: string])[] = [
  ["RIFF", "audio/wav"],
  ["OggS", "audio/ogg"],
  ["ID3", "audio/mpeg"],
  ["ÿû", "audio/mpeg"],
  ["ÿó", "audio/mpeg"],
];

function playable(sound: Uint8Array<ArrayBuffer>): { bytes: Uint8Array<ArrayBuffer>; type: string } {
  const start = String.fromCodePoint(...sound.subarray(0, 4));
  const known = SIGNATURES.find(([signature]) => start.startsWith(signature));
  if (known !== undefined) return { bytes: sound, type: known[1] };
  const samples = new Int16Array(sound.buffer, 0, Math.floor(sound.length / 2));
  return { bytes: wavOf([samples], VOICE_SAMPLE_RATE), type: "audio/wav" };
}
