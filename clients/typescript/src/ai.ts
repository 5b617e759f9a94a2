/** Memory for the AI SDK: tools for the model, and a middleware that recalls and records. */
import { jsonSchema, type LanguageModelMiddleware, type Tool, tool } from "ai";

import { conversation, type ConversationSettings, run, toolsAs } from "./conversation.js";
import type { Mnemark } from "./index.js";

export type { ConversationSettings } from "./conversation.js";

/** Return the memory tools, for `generateText({ tools })`. */
export function tools(memory: Mnemark): Record<string, Tool> {
  return toolsAs(({ name, description, parameters }) =>
    tool({
      description,
      inputSchema: jsonSchema(parameters as unknown as Parameters<typeof jsonSchema>[0]),
      execute: (args: unknown, { abortSignal }) => run(memory, name, args, { signal: abortSignal }),
    }),
  );
}

/**
 * Return a middleware for `wrapLanguageModel`: what memory knows about the user's last message is put before it, quoted
 * and within the deadline; the message and the answer are recorded as turns of the session.
 */
export function memoryMiddleware(memory: Mnemark, settings: ConversationSettings): LanguageModelMiddleware {
  const { before, after } = conversation(memory, settings);
  return {
    specificationVersion: "v3",
    transformParams: async ({ params }) => ({ ...params, prompt: await before(params.prompt, params.prompt) }),
    async wrapGenerate({ doGenerate }) {
      const result = await doGenerate();
      await after(result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""));
      return result;
    },
    async wrapStream({ doStream }) {
      const { stream, ...rest } = await doStream();
      let reply = "";
      type Part = typeof stream extends ReadableStream<infer T> ? T : never;
      const heard = new TransformStream<Part, Part>({
        transform(part, controller) {
          if (part.type === "text-delta") reply += part.delta;
          controller.enqueue(part);
        },
        flush: async () => void (await after(reply)),
      });
      return { stream: stream.pipeThrough(heard), ...rest };
    },
  };
}
