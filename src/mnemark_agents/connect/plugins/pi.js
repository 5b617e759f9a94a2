// Pi: an extension, https://pi.dev/docs (extensions.md); what `before_agent_start` returns is said in the user's role
const textOf = (content) =>
  (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []))
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n")
    .trim()

export default function (pi) {
  let briefed = false
  let asked = false
  let own = false

  const about = (ctx) => ({ session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd })

  pi.on("input", (event) => {
    own = event.source === "extension"
  })
  pi.on("before_agent_start", async ({ prompt }, ctx) => {
    asked = !own && Boolean(prompt?.trim())
    if (!asked) return
    const blocks = [briefed ? "" : await ask("session-start", about(ctx)), await ask("prompt", { ...about(ctx), prompt })]
    briefed = true
    const content = blocks.filter(Boolean).join("\n")
    if (content) return { message: { customType: "mnemark", content, display: false } }
  })
  pi.on("tool_result", async ({ toolName, toolCallId, input, content, isError }, ctx) => {
    const said = textOf(content)
    const result = isError ? { error: said || "failed" } : { tool_response: said }
    await ask("tool", { ...about(ctx), tool_name: toolName, tool_input: input, tool_use_id: toolCallId, ...result })
  })
  pi.on("agent_end", async ({ messages }, ctx) => {
    const text = textOf(messages.findLast((one) => one.role === "assistant")?.content)
    if (asked && text) await ask("response", { ...about(ctx), text })
    asked = false
  })
  pi.on("session_before_compact", async (_, ctx) => {
    briefed = false
    await ask("compact", about(ctx))
  })
  pi.on("session_shutdown", async (_, ctx) => {
    await ask("session-end", about(ctx))
  })
}
