// Pi: an extension, https://pi.dev/docs (extensions.md), made anew for each session; what `before_agent_start` returns is said in the user's role
const textOf = (content) =>
  (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []))
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n")
    .trim()

export default function (pi) {
  let briefed = false
  let said = ""
  let asked = false
  let answer = ""

  const about = (ctx) => ({ session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd })

  pi.on("input", async ({ source, text, streamingBehavior }, ctx) => {
    if (source === "extension") return
    if (!streamingBehavior) said = text.trim()
    else if (text.trim()) await ask("prompt", { ...about(ctx), prompt: text.trim() })
  })
  pi.on("before_agent_start", async (_, ctx) => {
    const prompt = said
    said = answer = ""
    asked = Boolean(prompt)
    if (!asked) return
    const blocks = [briefed ? "" : await ask("session-start", about(ctx)), await ask("prompt", { ...about(ctx), prompt })]
    briefed = true
    const content = blocks.filter(Boolean).join("\n")
    if (content) return { message: { customType: "mnemark", content, display: false } }
  })
  pi.on("tool_result", async ({ toolName, toolCallId, input, content, isError }, ctx) => {
    const told = textOf(content)
    const result = isError ? { error: told || "failed" } : { tool_response: told }
    await ask("tool", { ...about(ctx), tool_name: toolName, tool_input: input, tool_use_id: toolCallId, ...result })
  })
  pi.on("agent_end", ({ messages }) => {
    answer = textOf(messages.findLast((one) => one.role === "assistant")?.content) || answer
  })
  pi.on("agent_settled", async (_, ctx) => {
    if (asked && answer) await ask("response", { ...about(ctx), text: answer })
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
