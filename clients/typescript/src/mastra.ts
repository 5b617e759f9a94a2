/** Memory for Mastra: tools for an agent, and a processor that recalls and records. */
import type { Processor } from "@mastra/core/processors";
import type { PublicSchema } from "@mastra/core/schema";
import { createTool, type Tool } from "@mastra/core/tools";

import { conversation, type ConversationSettings, run, toolsAs } from "./conversation.js";
import type { Mnemark } from "./index.js";

export type { ConversationSettings } from "./conversation.js";

/** Return the memory tools, for `new Agent({ tools })`. */
export function tools(memory: Mnemark): Record<string, Tool<any, any>> {
  return toolsAs(({ name, title, description, parameters }) =>
    createTool({
      id: name,
      title,
      description,
      inputSchema: parameters as unknown as PublicSchema<Record<string, unknown>>,
      execute: (args, context) => run(memory, name, args, { signal: context?.abortSignal }),
    }),
  );
}

/**
 * Return a processor, to be named in both `inputProcessors` and `outputProcessors`: what memory knows about the user's
 * last message is put before it, quoted and within the deadline; the message and the answer are recorded as turns.
 */
export function memoryProcessor(memory: Mnemark, settings: ConversationSettings): Processor<"mnemark"> {
  const { before, after } = conversation(memory, settings);
  return {
    id: "mnemark",
    processLLMRequest: async ({ prompt, state }) => ({ prompt: await before(prompt, state) }),
    async processOutputResult({ messages, result }) {
      await after(result.text);
      return messages;
    },
  };
}
