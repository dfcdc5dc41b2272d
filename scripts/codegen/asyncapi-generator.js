// Runs the AsyncAPI generator in a process of its own: node asyncapi-generator.js <template> <document> <output folder>
import Generator from "@asyncapi/generator";

const [template, document, output] = process.argv.slice(2);
await new Generator(template, output, { forceWrite: true, install: false }).generateFromFile(document);
