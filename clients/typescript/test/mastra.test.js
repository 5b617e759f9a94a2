import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { Mnemark } from "mnemark";
import { memoryProcessor, tools } from "mnemark/mastra";

import { connected, recorded, warmed, whole } from "./servers.js";
import { calls, lastSaid, model, TOLD } from "./models.js";

let memory;
const all = whole();
before(async () => {
  ({ memory } = await connected(all));
  await warmed(memory);
});

const agent = (mock, more) =>
  new Agent({ id: "helper", name: "Helper", instructions: "Help.", model: mock, ...more });
function remembering(mock, session, { store = memory, onError = assert.fail, deadline, ...more } = {}) {
  const processor = memoryProcessor(store, { session, onError, deadline });
  return agent(mock, { inputProcessors: [processor], outputProcessors: [processor], ...more });
}

describe("the processor", () => {
  for (const [told, asked, known] of TOLD) {
    test(`what is told in the first run is remembered in the second: ${told}`, async () => {
      await remembering(model("Noted.").mock, `one ${told}`, { deadline: 60 }).generate(told);
      assert.deepEqual(await recorded(memory, `one ${told}`), [`user: ${told}`, "assistant: Noted."]);

      const second = model("As you said."); // with the deadline that is shipped
      const answer = await remembering(second.mock, `two ${told}`).generate(asked);
      assert.equal(answer.text, "As you said.");
      const [block, ...words] = lastSaid(second.prompts[0]);
      assert.match(block, known);
      assert.deepEqual(words, [asked]);
      assert.deepEqual(await recorded(memory, `two ${told}`), [`user: ${asked}`, "assistant: As you said."]);
    });
  }

  test("a stream is recorded whole", async () => {
    const { mock } = model("凯斯特雷尔，Kestrel.");
    const said = await remembering(mock, "stream").stream(TOLD[0][1]);
    assert.equal(await said.text, "凯斯特雷尔，Kestrel.");
    assert.deepEqual(await recorded(memory, "stream"), [`user: ${TOLD[0][1]}`, "assistant: 凯斯特雷尔，Kestrel."]);
  });

  test("after a call of a tool the model is sent the same again, and each word is recorded once", async () => {
    const { mock, prompts } = model(calls("memory_status", {}), "It is Kestrel.");
    await remembering(mock, "steps", { tools: tools(memory), deadline: 60 }).generate(TOLD[0][1]);
    assert.deepEqual(lastSaid(prompts[1]), lastSaid(prompts[0]));
    assert.equal(lastSaid(prompts[0]).length, 2);
    assert.deepEqual(await recorded(memory, "steps"), [`user: ${TOLD[0][1]}`, "assistant: It is Kestrel."]);
  });

  test("an agent of many conversations keeps them apart", async () => {
    const session = (context) => ({ session: `of ${context.get("user")}`, onError: assert.fail });
    const processor = memoryProcessor(memory, session);
    const { mock } = model("Hello Ann.", "Hello Bob.");
    const helper = agent(mock, { inputProcessors: [processor], outputProcessors: [processor] });
    for (const user of ["Ann", "Bob"]) {
      await helper.generate(`I am ${user}.`, { requestContext: new RequestContext([["user", user]]) });
    }
    assert.deepEqual(await recorded(memory, "of Ann"), ["user: I am Ann.", "assistant: Hello Ann."]);
    assert.deepEqual(await recorded(memory, "of Bob"), ["user: I am Bob.", "assistant: Hello Bob."]);
  });

  test("without a daemon the agent answers all the same, and what failed is told", async () => {
    const errors = [];
    const store = new Mnemark({ url: "http://127.0.0.1:1", workspace: "/w", retries: 0 });
    const { mock } = model("Yes.");
    const answer = await remembering(mock, "s", { store, onError: (error) => errors.push(error.code) }).generate("Here?");
    assert.equal(answer.text, "Yes.");
    assert.deepEqual(errors, ["unreachable", "unreachable", "unreachable"]);
  });
});

describe("the tools", () => {
  for (const [predicate, value, query] of [["ferry", "leaves at nine", "ferry"], ["渡轮", "九点出发", "渡轮"]]) {
    test(`what a model remembers in the first run it finds in the second: ${value}`, async () => {
      const first = model(calls("memory_remember", { predicate, value }), "Noted.");
      await agent(first.mock, { tools: tools(memory) }).generate("Remember it.");
      const second = model(calls("memory_search", { query }), "Found.");
      await agent(second.mock, { tools: tools(memory) }).generate("When?");
      assert.match(JSON.stringify(second.prompts[1].at(-1).content[0].output), new RegExp(value));
    });
  }

  test("what went wrong is said to the model", async () => {
    const { mock, prompts } = model(calls("memory_correct", { fact: "no such fact", value: "x" }), "I see.");
    await agent(mock, { tools: tools(memory) }).generate("Wrong!");
    assert.match(JSON.stringify(prompts[1].at(-1).content[0].output), /no such fact/);
  });
});
