/** The package as npm packs it, installed in a folder of its own; and what its pages show. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { daemon, folders } from "./servers.js";
import { model } from "./models.js";

const here = join(import.meta.dirname, "..");
const env = { ...process.env, NODE_TEST_CONTEXT: undefined }; // else tests within would be left out
const run = (command, args, cwd) => execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", 2] });
const blocks = async (page) => [...(await readFile(join(here, page), "utf8")).matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);

let folder;
let packed;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "mnemark-package-"));
  [packed] = JSON.parse(run("npm", ["pack", "--json", "--silent", "--pack-destination", folder], here));
  await writeFile(join(folder, "package.json"), '{"type": "module", "private": true}');
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", `./${packed.filename}`], folder);
});
after(() => rm(folder, { recursive: true, force: true }));

/** Have a package beside it, in the version that the tests have. */
async function beside(name, as = name) {
  const place = join(folder, "node_modules", as);
  await rm(place, { recursive: true, force: true });
  await mkdir(join(place, ".."), { recursive: true });
  await symlink(join(here, "node_modules", name), place, "dir");
}

function check(files, resolution) {
  const module = resolution === "bundler" ? "esnext" : "node16";
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", module, "--moduleResolution", resolution];
  return run(join(here, "node_modules/.bin/tsc"), [...options, ...files], folder);
}

test("it holds what runs, its types and the licence, and needs nothing", async () => {
  const files = packed.files.map(({ path }) => path);
  const modules = ["ai", "api", "conversation", "index", "mastra", "node", "table"];
  const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  assert.deepEqual(files.sort(), ["LICENSE", "README.md", ...built, "package.json"].sort());
  assert.deepEqual(run("ls", ["node_modules"], folder).trim(), "mnemark");
});

test("it is imported, in browsers without anything of Node", async () => {
  const names = run("node", ["-e", "import('mnemark').then(m => console.log(Object.keys(m).join()))"], folder);
  assert.equal(names.trim(), "FLOOR,INSTRUCTIONS,Mnemark,MnemarkError,TOOLS,VERSION");
  const sources = await Promise.all(["index", "table"].map((name) => readFile(join(here, `dist/${name}.js`), "utf8")));
  for (const source of sources) assert.doesNotMatch(source, /node:|process\.|Buffer|require\(/);
});

test("its types pass strict, with both resolutions, as Node alone has them and with both versions of the AI SDK", async () => {
  await beside("@types/node");
  await beside("undici-types");
  const [start] = await blocks("README.md");
  const [first, errors, ai, mastra, page] = await blocks("../../docs/typescript.md");
  const wrong = `import { Mnemark } from "mnemark";
const memory = new Mnemark({ url: "x", workspace: "/w" });
// @ts-expect-error - it needs a query
memory.search({});
// @ts-expect-error - there is no such field
memory.search({ query: "x", limit: 3 });
const text: string = (await memory.read({ ref: "MEMORY.md" })).text;
// @ts-expect-error - it is a text
const count: number = (await memory.read({ ref: "MEMORY.md" })).text;
export { text, count };
`;
  const written = { start, first, errors, page, wrong, ai, mastra };
  for (const [name, code] of Object.entries(written)) await writeFile(join(folder, `${name}.ts`), code);
  for (const resolution of ["node16", "bundler"]) {
    check(["--lib", "es2023", "--types", "node", "start.ts", "first.ts", "errors.ts", "page.ts", "wrong.ts"], resolution);
    await beside("@mastra/core");
    const more = ["--skipLibCheck", "--lib", "es2023,dom,dom.iterable", "--types", "node", "ai.ts"];
    for (const [version, files] of [["ai", ["mastra.ts"]], ["ai-6", []]]) {
      await beside(version, "ai");
      check([...more, ...files], resolution);
    }
  }
});

test("what the pages show works", async (t) => {
  const where = await folders();
  const running = await daemon(t, where);
  process.env.XDG_STATE_HOME = where.state;
  const said = [];
  t.mock.method(console, "log", (...words) => said.push(words.join(" ")));
  t.mock.method(console, "error", (...words) => said.push(words.join(" ")));
  for (const name of ["ai", "@mastra/core", "@types/node", "undici-types"]) await beside(name);
  const codes = [...(await blocks("README.md")), ...(await blocks("../../docs/typescript.md"))].map((code) =>
    code
      .replaceAll("/home/me/agent", where.workspace)
      .replaceAll("http://127.0.0.1:7788", running.url)
      .replaceAll('token: "…"', 'token: "wrong"')
      .replaceAll("deadline: 2", "deadline: 60"), // the machine of a test may be busy
  );
  const files = codes.map((_, number) => `shown-${number}.ts`);
  for (const [number, file] of files.entries()) await writeFile(join(folder, file), codes[number]);
  const options = ["--strict", "--target", "es2022", "--module", "node16", "--skipLibCheck", "--types", "node"];
  run(join(here, "node_modules/.bin/tsc"), [...options, ...files], folder);
  const shown = files.map((file) => () => import(pathToFileURL(join(folder, file.replace(".ts", ".js"))).href));
  const [start, first, errors, ai, mastra, page] = shown;

  await start();
  assert.match(said.pop(), /Kestrel/);
  await first();
  assert.match(said.pop(), /红隼/);
  await errors();
  assert.match(said.pop(), /^token read the token/);

  const { POST } = await page();
  const asked = new Request("http://app.example/search", { method: "POST", body: JSON.stringify({ query: "Kestrel" }) });
  assert.match((await (await POST(asked)).json()).hits[0].text, /Kestrel/);

  const { mock, prompts } = model("Kestrel, as you said.", "Kestrel, still.");
  const { answer } = await ai();
  assert.equal(await answer(mock, "chat:3", "What is the staging server called?"), "Kestrel, as you said.");
  const { helper } = await mastra();
  assert.equal((await helper(mock).generate("What is the staging server called?")).text, "Kestrel, still.");
  for (const prompt of prompts) assert.match(JSON.stringify(prompt.at(-1)), /mnemark-recall.*Kestrel/);
});

test("the tools and the middleware work in version 6 of the AI SDK, too", async () => {
  await beside("ai-6", "ai");
  for (const name of ["ai.test.js", "models.js", "servers.js"]) await cp(join(here, "test", name), join(folder, name));
  assert.match(run("node", ["--test", "--test-reporter=spec", "ai.test.js"], folder), /pass 11\n.*fail 0\n/s);
});
