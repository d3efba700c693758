#!/usr/bin/env node
// Starts the program of the package for this platform. Nothing is downloaded:
// npm has installed that package as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");

const name = `@ralph-loop/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "ralph.exe" : "ralph";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `ralph: ${name} is not installed: either there is no build for this platform, ` +
      "or npm was told to leave optional dependencies out (--omit=optional)",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// The program ends its turn in order when it is asked to; so it has to hear.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    // The terminal has told the child itself.
    if (signal !== "SIGINT") child.kill(signal);
  });
}

child.on("error", (error) => {
  console.error(`ralph: ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
