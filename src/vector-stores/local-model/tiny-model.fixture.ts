import { BLOCK, BLOCK_BYTES } from "./model-file.ts";

const WIDTH = 32;
const POSITIONS = 16;
const BLANK = "\u2581";
const SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"];
/** A 16-bit float: 1/16. */
const SCALE_BITS = 0x2c00;

export interface TinyModelOptions {
  /** Words of one group have the same vector, as if they meant the same. */
  readonly groups: readonly (readonly string[])[];
  readonly seed?: number;
}

/** A model file with two layers of width 32 and random weights. It knows these words, and the letters of others. */
export function tinyModel({ groups, seed = 1 }: TinyModelOptions): Buffer {
  const random = randomNumbers(seed);
  const words = groups.flatMap((group, index) => group.map((word) => ({ piece: `${BLANK}${word}`, group: index })));
  const letters = [BLANK, ..."abcdefghijklmnopqrstuvwxyz".split("")].map((piece) => ({ piece, group: null }));
  const pieces = [...SPECIALS.map((piece) => ({ piece, group: null })), ...words, ...letters];
  const rows = groups.map(() => packedRow(() => random.integer(16)));
  const empty = packedRow(() => 8);
  const wordTable = Buffer.concat(pieces.map(({ group }) => (group === null ? empty : (rows[group] ?? empty))));
  const tensors = new Map<string, Tensor>([["emb.word", { type: 1, bytes: wordTable }]]);
  const floats = (name: string, count: number, make: () => number): void => {
    tensors.set(name, { type: 0, bytes: Buffer.from(Float32Array.from({ length: count }, make).buffer) });
  };
  const noise = (): number => random.integer(1000) / 10_000 - 0.05;
  floats("emb.pos", POSITIONS * WIDTH, () => noise() / 10);
  floats("emb.type", 2 * WIDTH, () => 0);
  for (const name of ["emb.ln", ...[0, 1].flatMap((layer) => [`l${layer}.aln`, `l${layer}.oln`])]) {
    floats(`${name}.w`, WIDTH, () => 1 + noise());
    floats(`${name}.b`, WIDTH, noise);
  }
  for (const layer of [0, 1])
    for (const [name, width, height] of MATRICES) {
      const rowsOf = Array.from({ length: height * (width / BLOCK) }, () => packedRow(() => random.integer(16)));
      tensors.set(`l${layer}.${name}.w`, { type: 1, bytes: Buffer.concat(rowsOf) });
      floats(`l${layer}.${name}.b`, height, noise);
    }
  return fileOf(
    pieces.map(({ piece }) => piece),
    tensors,
  );
}

/** The last two numbers: the widths of what goes in and comes out. */
export const MATRICES = [
  ["q", WIDTH, WIDTH],
  ["k", WIDTH, WIDTH],
  ["v", WIDTH, WIDTH],
  ["ao", WIDTH, WIDTH],
  ["fi", WIDTH, 2 * WIDTH],
  ["fo", 2 * WIDTH, WIDTH],
] as const;

interface Tensor {
  readonly type: number;
  readonly bytes: Buffer;
}

function packedRow(nibble: () => number): Buffer {
  const row = Buffer.alloc(BLOCK_BYTES);
  row.writeUInt16LE(SCALE_BITS);
  for (let byte = 2; byte < BLOCK_BYTES; byte++) row[byte] = nibble() | (nibble() << 4);
  return row;
}

function fileOf(pieces: readonly string[], tensors: ReadonlyMap<string, Tensor>): Buffer {
  const texts = pieces.map((piece) => Buffer.from(piece));
  const ends = texts.map((_, index) => Buffer.concat(texts.slice(0, index + 1)).length);
  const replacement = Buffer.concat([integers("A".charCodeAt(0)), Buffer.from([1]), integers("a".charCodeAt(0))]);
  const head = Buffer.concat([
    Buffer.from("E5S1"),
    integers(1, WIDTH, 2, 1, 2 * WIDTH, pieces.length, POSITIONS, 2),
    Buffer.from(Float32Array.of(1e-5).buffer),
    integers(BLOCK, pieces.length, 0, 2, 1, 3),
    longs(ends.at(-1) ?? 0),
    integers(0, ...ends),
    Buffer.from(Float32Array.from(pieces, (piece) => (piece.length > 1 ? -1 : -8)).buffer),
    ...texts,
    integers(1, replacement.length),
    replacement,
    integers(tensors.size),
  ]);
  const entryBytes = [...tensors.keys()].reduce((sum, name) => sum + 2 + name.length + 1 + 4 + 16, 0);
  let offset = head.length + entryBytes;
  const entries = [...tensors].map(([name, { type, bytes }]) => {
    const length = Buffer.alloc(2);
    length.writeUInt16LE(name.length);
    const entry = [length, Buffer.from(name), Buffer.from([type]), integers(0), longs(offset, bytes.length)];
    offset += bytes.length;
    return Buffer.concat(entry);
  });
  return Buffer.concat([head, ...entries, ...[...tensors.values()].map(({ bytes }) => bytes)]);
}

function integers(...values: readonly number[]): Buffer {
  return Buffer.from(Int32Array.from(values).buffer);
}

function longs(...values: readonly number[]): Buffer {
  return Buffer.from(BigUint64Array.from(values, BigInt).buffer);
}

/** The same numbers for the same seed. */
function randomNumbers(seed: number): { readonly integer: (below: number) => number } {
  let state = seed;
  return {
    integer: (below) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    },
  };
}
