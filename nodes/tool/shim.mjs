// Calls the default export of the file named by the first argument: the JSON
// document on standard input is its argument, its result is printed as JSON.
// Standard output is kept for that result; what the tool prints goes to standard
// error.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

let done = false;
process.on("exit", (code) => {
  if (!done && code === 0) {
    writeSync(2, "the tool ended without a result (it called process.exit, or waits for a promise that nothing settles)\n");
    process.exitCode = 1;
  }
});

// Open handles (timers, connections) must not keep the process alive once the
// work is done, but the pipes must be empty before it ends.
function end(stream, text, code) {
  done = true;
  stream(text, () => process.exit(code));
}

function explain(error) {
  if (!(error instanceof Error)) return `the tool threw ${String(error)}`;
  const lines = String(error.stack ?? error).split("\n");
  const frames = lines.filter((l) => /^\s+at /.test(l) && !/node:internal|\[eval/.test(l));
  const text = lines.filter((l) => !/^\s+at /.test(l));
  return [...text, ...frames.slice(0, 3)].join("\n");
}

async function work(file) {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const input = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  const module = await import(pathToFileURL(file).href);
  const call = typeof module.default === "function" ? module.default : module.default?.default;
  if (typeof call !== "function") throw new Error(`${file} has no default export that is a function`);
  const result = await call(input);
  if (result === undefined || result === null) return "";
  const text = JSON.stringify(result);
  if (text === undefined) throw new Error(`the tool returned a ${typeof result}, which has no JSON form`);
  return text;
}

try {
  end(print, (await work(process.argv[1])) + "\n", 0);
} catch (error) {
  end(process.stderr.write.bind(process.stderr), explain(error) + "\n", 1);
}
