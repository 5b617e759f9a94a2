/** A scripted model of the AI SDK, which Mastra takes as well. */
import * as mocks from "ai/test";

const Mock = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const parts = (said) => (typeof said === "string" ? [{ type: "text", text: said }] : said);
const finish = (content) => {
  const unified = content.some((part) => part.type === "tool-call") ? "tool-calls" : "stop";
  return { finishReason: { unified, raw: unified }, usage };
};

/** A call of a tool. */
export const calls = (toolName, input) => [
  { type: "tool-call", toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) },
];

/** Say these one after the other: a text, parts, or an error that is thrown; `prompts` is what the model was sent. */
export function model(...script) {
  const prompts = [];
  const next = ({ prompt }) => {
    prompts.push(prompt);
    const said = script.shift();
    if (said instanceof Error) throw said;
    return parts(said);
  };
  const mock = new Mock({
    doGenerate: async (options) => {
      const content = next(options);
      return { content, ...finish(content), warnings: [] };
    },
    doStream: async (options) => {
      const content = next(options);
      const chunks = content.flatMap((part) =>
        part.type === "text"
          ? [
              { type: "text-start", id: "1" },
              ...[...part.text].map((delta) => ({ type: "text-delta", id: "1", delta })),
              { type: "text-end", id: "1" },
            ]
          : [part],
      );
      const stream = [{ type: "stream-start", warnings: [] }, ...chunks, { type: "finish", ...finish(content) }];
      return { stream: mocks.convertArrayToReadableStream(stream) };
    },
  });
  return { mock, prompts };
}

/** What the model was sent as the user's last message, part by part. */
export const lastSaid = (prompt) =>
  prompt.findLast((message) => message.role === "user").content.map((part) => part.text);

/** In two languages: what is told in the first conversation, what is asked in the second, and what must be there. */
export const TOLD = [
  ["The staging server is called Kestrel.", "What is the staging server called?", /Kestrel/],
  ["我们的预发布服务器叫做红隼。", "预发布服务器叫什么名字？", /红隼/],
];
