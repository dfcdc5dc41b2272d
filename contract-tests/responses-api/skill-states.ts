import OpenAI, { toFile } from "openai";

const MANIFEST = "---\nname: adding\ndescription: Adds two numbers.\n---\n";

/** The states of a provider that has skills. */
export function skillStates({ url, apiKey }: { readonly url: string; readonly apiKey: string }) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const files = async () => [await toFile(Buffer.from(MANIFEST), "adding/SKILL.md")];
  return {
    "a skill with two versions": async () => {
      const { id: skill_id } = await client.skills.create({ files: await files() });
      await client.skills.versions.create(skill_id, { files: await files() });
      return { skill_id };
    },
  };
}
