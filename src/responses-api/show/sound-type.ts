/** Enough of a recording for `soundTypeOf`: two of the longest frames of MPEG audio. */
export const SOUND_START_BYTES = 3000;

/**
 * The media type of a spoken answer, by its first bytes: finished responses do not store the requested format. Samples
 * without a header may begin with any bytes, so MPEG audio must have a second frame where the first one ends.
 */
export function soundTypeOf(start: Buffer): string {
  const mark = start.toString("latin1", 0, MARK_BYTES);
  if (mark === "RIFF") return "audio/wav";
  if (mark === "OggS") return "audio/ogg";
  return mark.startsWith("ID3") || isMpegAudio(start) ? "audio/mpeg" : "audio/pcm";
}

const MARK_BYTES = 4;
/** The bits at the beginning of a layer 3 frame, and the bits shared by all frames of a stream. */
const LAYER_3 = { mask: 0xff_e6_00_00, value: 0xff_e2_00_00 };
const SAME_MASK = 0xff_fe_0c_00;
const VERSION_1 = 3;
const RATES_HZ = [44_100, 48_000, 32_000];
const KILOBITS_1 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KILOBITS_2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

function isMpegAudio(start: Buffer): boolean {
  if (start.length < MARK_BYTES) return false;
  const header = start.readUInt32BE(0);
  const next = frameBytes(header);
  if (next === null) return false;
  if (start.length < next + MARK_BYTES) return true; // It has one frame only.
  return ((start.readUInt32BE(next) ^ header) & SAME_MASK) === 0;
}

/** The length of the frame with this header; null if it is not a layer 3 header. */
function frameBytes(header: number): number | null {
  if ((header & LAYER_3.mask) >>> 0 !== LAYER_3.value) return null;
  const version = (header >>> 19) & 3;
  const isFirst = version === VERSION_1;
  const rate = RATES_HZ[(header >>> 10) & 3];
  const kilobits = (isFirst ? KILOBITS_1 : KILOBITS_2)[((header >>> 12) & 15) - 1];
  if (version === 1 || rate === undefined || kilobits === undefined) return null;
  const rateHz = isFirst ? rate : rate / (version === 2 ? 2 : 4);
  return Math.floor(((isFirst ? 144_000 : 72_000) * kilobits) / rateHz) + ((header >>> 9) & 1);
}
