import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { allSchemas, type Bundle, bundle, reachedSchemas, type Schemas, withSchemas } from "./bundle.ts";
import { type Contract, header } from "./contracts.ts";
import type { ApiReference } from "./docs.ts";
import { fieldNames } from "./field-names.ts";
import type { JsonObject } from "./json.ts";
import { generateMessages } from "./messages.ts";
import { generateOperations } from "./openapi-generator.ts";
import type { Output } from "./outputs.ts";
import { generateTypes } from "./types.ts";
import { readerDeclarations, validatorDeclarations } from "./validator-declarations.ts";
import { readerCode, validatorCode } from "./validators.ts";

export interface GeneratedContract {
  readonly outputs: readonly Output[];
  /** Paths of files that were not generated, because the OpenAPI generator cannot run here. */
  readonly skipped: readonly string[];
  readonly reference: ApiReference;
}

/** Generates all files of one interface. */
export async function generateContract(
  contract: Contract,
  parentFolder: string,
  withOperations: boolean,
): Promise<GeneratedContract> {
  const workFolder = join(parentFolder, contract.folder);
  await mkdir(workFolder);
  const openapi = bundle(contract.openapi);
  const streams = contract.streams.map(({ spec }) => bundle(spec));
  const schemas = contract.usesSchemasOfOthers
    ? reachedSchemas(openapi, ...streams)
    : allSchemas([openapi, ...streams]);
  const document = withSchemas(openapi.document, schemas);
  const published = withSchemas(openapi.document, reachedSchemas(openapi));
  const texts = await Promise.all([
    typesFile(contract, document, workFolder),
    ...streams.map((stream, index) => messagesFile(stream, schemas, contract.streams[index], workFolder)),
    ...(withOperations ? [operationFiles(contract, document, workFolder)] : []),
  ]);
  const files = [
    ...texts.flat(),
    ...validatorFiles(contract, schemas),
    { path: "openapi.json", text: `${JSON.stringify(published, null, 1)}\n` },
  ];
  if (contract.fieldNames !== null)
    files.push({ path: contract.fieldNames, text: header(contract.openapi) + fieldNames(schemas) });
  return {
    outputs: files.map(({ path, text }) => ({ path: inFolder(contract, path), text })),
    skipped: withOperations ? [] : ["operations.ts", "client.ts"].map((path) => inFolder(contract, path)),
    reference: { folder: contract.folder, document: published, streams },
  };
}

function inFolder(contract: Contract, path: string): string {
  return `generated/${contract.folder}/${path}`;
}

async function typesFile(contract: Contract, document: JsonObject, workFolder: string): Promise<readonly Output[]> {
  return [{ path: "types.ts", text: await generateTypes(document, specsOf(contract), workFolder) }];
}

async function messagesFile(
  stream: Bundle,
  schemas: Schemas,
  spec: Contract["streams"][number] | undefined,
  workFolder: string,
): Promise<readonly Output[]> {
  return spec === undefined ? [] : generateMessages(stream, schemas, spec, workFolder);
}

async function operationFiles(
  contract: Contract,
  document: JsonObject,
  workFolder: string,
): Promise<readonly Output[]> {
  const { operations, client } = await generateOperations(document, contract, workFolder);
  return [
    { path: "operations.ts", text: operations },
    { path: "client.ts", text: client },
  ];
}

function validatorFiles(contract: Contract, schemas: Schemas): readonly Output[] {
  const top = header(...specsOf(contract));
  return [
    { path: "validators.js", text: top + validatorCode(schemas) },
    { path: "validators.d.ts", text: top + validatorDeclarations(schemas) },
    { path: "readers.js", text: top + readerCode(schemas) },
    { path: "readers.d.ts", text: top + readerDeclarations(schemas) },
  ];
}

function specsOf(contract: Contract): readonly string[] {
  return [contract.openapi, ...contract.streams.map(({ spec }) => spec)];
}
