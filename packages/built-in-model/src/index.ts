export { createBuiltInEngine } from "./engine.ts";
export { MODEL_NAME } from "./model-name.ts";
export { loadScenarioFile } from "./scenario/scenario-file.ts";
