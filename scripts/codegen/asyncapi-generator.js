// Runs the AsyncAPI generator in a process of its own: node asyncapi-generator.js <document> <output folder>
import Generator from "@asyncapi/generator";

const [document, output] = process.argv.slice(2);
const template = new URL("./templates/asyncapi", import.meta.url).pathname;
await new Generator(template, output, { forceWrite: true, install: false }).generateFromFile(document);
