/** The thread that computes vectors: loads the model file with the first text, and answers each with its vector. */
import { readFile } from "node:fs/promises";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { assert } from "@antiphon/base/assert.ts";
import { TextEncoderModel } from "./encoder.ts";
import { readModelFile } from "./model-file.ts";
import type { EncodeAnswer, EncodeRequest, ModelThreadData } from "./model-messages.ts";
import { ModelUnusable } from "./model-unusable.ts";

assert(!isMainThread && parentPort !== null, "this module is the start of a thread");
const port = parentPort;
const { path }: ModelThreadData = workerData;
let encoder: TextEncoderModel | null = null;

async function answerTo({ text }: EncodeRequest): Promise<EncodeAnswer> {
  try {
    encoder ??= new TextEncoderModel(readModelFile(await readFile(path)));
    return { type: "vector", vector: encoder.encode(text) };
  } catch (error) {
    if (!(error instanceof ModelUnusable)) throw error;
    return { type: "unusable", message: error.message };
  }
}

async function postAnswer(request: EncodeRequest): Promise<void> {
  port.postMessage(await answerTo(request));
}

port.on("message", (request: EncodeRequest) => void postAnswer(request));
