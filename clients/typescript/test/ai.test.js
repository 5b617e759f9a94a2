import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import * as ai from "ai";
import { Mnemark } from "mnemark";
import { memoryMiddleware, tools } from "mnemark/ai";

import { connected, recorded, warmed, whole } from "./servers.js";
import { calls, lastSaid, model, TOLD } from "./models.js";

let memory;
const all = whole();
before(async () => {
  ({ memory } = await connected(all));
  await warmed(memory);
});

const silent = { onError: assert.fail };
const wrapped = (mock, session, more = silent) =>
  ai.wrapLanguageModel({ model: mock, middleware: memoryMiddleware(memory, { session, ...more }) });

describe("the middleware", () => {
  for (const [told, asked, known] of TOLD) {
    test(`what is told in the first run is remembered in the second: ${told}`, async () => {
      const first = model("Noted.");
      await ai.generateText({ model: wrapped(first.mock, `one ${told}`, { deadline: 60 }), prompt: told });
      assert.deepEqual(await recorded(memory, `one ${told}`), [`user: ${told}`, "assistant: Noted."]);

      const second = model("As you said."); // with the deadline that is shipped
      await ai.generateText({ model: wrapped(second.mock, `two ${told}`), prompt: asked });
      const [block, ...words] = lastSaid(second.prompts[0]);
      assert.match(block, known);
      assert.deepEqual(words, [asked]);
      assert.deepEqual(await recorded(memory, `two ${told}`), [`user: ${asked}`, "assistant: As you said."]);
    });
  }

  test("a stream is passed on as it comes, and recorded whole", async () => {
    const { mock, prompts } = model("凯斯特雷尔，Kestrel.");
    const said = ai.streamText({ model: wrapped(mock, "stream", { ...silent, deadline: 60 }), prompt: TOLD[0][1] });
    assert.equal(await said.text, "凯斯特雷尔，Kestrel.");
    assert.match(lastSaid(prompts[0])[0], TOLD[0][2]);
    assert.deepEqual(await recorded(memory, "stream"), [`user: ${TOLD[0][1]}`, "assistant: 凯斯特雷尔，Kestrel."]);
  });

  test("after a call of a tool the model is sent the same again, and each word is recorded once", async () => {
    const { mock, prompts } = model(calls("memory_status", {}), "It is Kestrel.");
    const stopWhen = ai.stepCountIs(3);
    const inTime = wrapped(mock, "steps", { ...silent, deadline: 60 });
    const { text } = await ai.generateText({ model: inTime, prompt: TOLD[0][1], tools: tools(memory), stopWhen });
    assert.equal(text, "It is Kestrel.");
    assert.deepEqual(lastSaid(prompts[1]), lastSaid(prompts[0]));
    assert.equal(lastSaid(prompts[0]).length, 2);
    assert.deepEqual(await recorded(memory, "steps"), [`user: ${TOLD[0][1]}`, "assistant: It is Kestrel."]);
  });

  test("a model that is asked again after an error leaves the question once", async () => {
    const overloaded = new ai.APICallError({ message: "overloaded", url: "x", requestBodyValues: {}, isRetryable: true });
    const { mock, prompts } = model(overloaded, "Here I am.");
    await ai.generateText({ model: wrapped(mock, "again"), prompt: TOLD[0][1] });
    assert.equal(prompts.length, 2);
    assert.deepEqual(await recorded(memory, "again"), [`user: ${TOLD[0][1]}`, "assistant: Here I am."]);
  });

  test("what memory holds nothing about is sent as it is", async () => {
    const { mock, prompts } = model("2");
    await ai.generateText({ model: wrapped(mock, "other"), prompt: "Multiply the roots of x² − 3x + 2 = 0." });
    assert.deepEqual(lastSaid(prompts[0]), ["Multiply the roots of x² − 3x + 2 = 0."]);
  });

  test("without a daemon the model answers all the same, and what failed is told", async () => {
    const errors = [];
    const gone = new Mnemark({ url: "http://127.0.0.1:1", workspace: "/w", retries: 0 });
    const middleware = memoryMiddleware(gone, { session: "s", onError: (error) => errors.push(error.code) });
    const { mock } = model("Yes.");
    const { text } = await ai.generateText({ model: ai.wrapLanguageModel({ model: mock, middleware }), prompt: "Here?" });
    assert.equal(text, "Yes.");
    assert.deepEqual(errors, ["unreachable", "unreachable", "unreachable"]);
  });
});

test("a recall that had no time says so, and the model answers all the same", async () => {
  const errors = [];
  const late = { recall: async () => ({ text: "", on_topic: 0, mode: "none", degraded: ["no answer; allow more"] }) };
  const store = Object.assign(Object.create(memory), late, { turns: async () => {} });
  const middleware = memoryMiddleware(store, { session: "s", onError: (error) => errors.push(error.fix) });
  const { mock } = model("Yes.");
  await ai.generateText({ model: ai.wrapLanguageModel({ model: mock, middleware }), prompt: "Here?" });
  assert.deepEqual(errors, ["allow more"]);
});

describe("the tools", () => {
  const stopWhen = ai.stepCountIs(3);
  for (const [predicate, value, query] of [["ferry", "leaves at nine", "ferry"], ["渡轮", "九点出发", "渡轮"]]) {
    test(`what a model remembers in the first run it finds in the second: ${value}`, async () => {
      const first = model(calls("memory_remember", { predicate, value }), "Noted.");
      await ai.generateText({ model: first.mock, prompt: "Remember it.", tools: tools(memory), stopWhen });
      const second = model(calls("memory_search", { query }), "Found.");
      await ai.generateText({ model: second.mock, prompt: "When?", tools: tools(memory), stopWhen });
      const result = second.prompts[1].at(-1).content[0];
      assert.equal(result.output.type, "json");
      assert.match(JSON.stringify(result.output.value.results), new RegExp(value));
    });
  }

  test("what went wrong is said to the model", async () => {
    const { mock, prompts } = model(calls("memory_correct", { fact: "no such fact", value: "x" }), "I see.");
    await ai.generateText({ model: mock, prompt: "Wrong!", tools: tools(memory), stopWhen });
    const { output } = prompts[1].at(-1).content[0];
    assert.match(JSON.stringify(output), /error.*no such fact/);
  });
});
