import { spawn } from "node:child_process"

const COMMAND = []
const SECONDS = 10

/** Tell mnemark of an event; return what it says, empty if it fails or takes too long. */
const ask = (event, data) =>
  new Promise((resolve) => {
    const [program, ...words] = COMMAND.map((word) => (word === "EVENT" ? event : word))
    const run = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], timeout: SECONDS * 1000, windowsHide: true })
    let answer = ""
    run.stdout.setEncoding("utf8").on("data", (text) => (answer += text))
    run.on("error", () => resolve(""))
    run.stdin.on("error", () => {})
    run.on("close", () => {
      try {
        resolve(JSON.parse(answer).additionalContext ?? "")
      } catch {
        resolve("")
      }
    })
    run.stdin.end(JSON.stringify(data))
  })
