/**
 * Writes a published encoder of the BERT family as a GGUF file. `folder` holds it as its authors publish it:
 * config.json, tokenizer.json and model.safetensors.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import { type EncoderSizes, encoderFile, type TensorSource } from "../fixture-model/encoder-writer.ts";

const HEADER_LENGTH_BYTES = 8;

export function convertEncoder(folder: string, name: string): Buffer {
  return encoderFile(name, { sizes: sizesIn(folder), words: wordsIn(folder), tensors: tensorsIn(folder) });
}

function jsonIn(folder: string, file: string): Record<string, unknown> {
  const value: unknown = JSON.parse(readFileSync(join(folder, file), "utf8"));
  if (!isRecord(value)) throw new Error(`${file} is no object`);
  return { ...value };
}

function sizesIn(folder: string): EncoderSizes {
  const config = jsonIn(folder, "config.json");
  const number = (member: string): number => {
    const value = config[member];
    if (typeof value !== "number") throw new Error(`config.json has no ${member}`);
    return value;
  };
  return {
    width: number("hidden_size"),
    innerWidth: number("intermediate_size"),
    layers: number("num_hidden_layers"),
    heads: number("num_attention_heads"),
    positions: number("max_position_embeddings"),
    epsilon: number("layer_norm_eps"),
  };
}

function wordsIn(folder: string): readonly string[] {
  const { model } = jsonIn(folder, "tokenizer.json");
  const vocabulary = isRecord(model) && isRecord(model["vocab"]) ? model["vocab"] : {};
  return Object.entries(vocabulary)
    .toSorted(([, one], [, other]) => Number(one) - Number(other))
    .map(([word]) => word);
}

/** Source: the specification of safetensors. */
function tensorsIn(folder: string): TensorSource {
  const bytes = readFileSync(join(folder, "model.safetensors"));
  const headerEnd = HEADER_LENGTH_BYTES + Number(bytes.readBigUInt64LE(0));
  const header: unknown = JSON.parse(bytes.toString("utf8", HEADER_LENGTH_BYTES, headerEnd));
  return (name, shape) => {
    const entry = isRecord(header) ? header[name] : undefined;
    const offsets = isRecord(entry) ? entry["data_offsets"] : undefined;
    if (!isRecord(entry) || !Array.isArray(offsets) || entry["dtype"] !== "F32") throw new Error(`no tensor ${name}`);
    if (String(entry["shape"]) !== String(shape)) throw new Error(`${name} has another shape`);
    const [start, end] = offsets.map((offset) => headerEnd + Number(offset));
    // A copy, because floats begin at multiples of four.
    return new Float32Array(Uint8Array.prototype.slice.call(bytes, start, end).buffer);
  };
}
