// Asks Ralph's guard before every tool call. Written by `ralph init`;
// `ralph uninstall` removes it.
import { spawnSync } from "node:child_process";

export const RalphGuard = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const asked = spawnSync({program}, ["hook", "--host", "opencode", "pre-tool-use"], {
      cwd: directory,
      input: JSON.stringify({ cwd: directory, input: { tool: input.tool }, output: { args: output.args } }),
      encoding: "utf8",
      timeout: 10000,
    });
    // A guard that can't be asked does not consent.
    if (asked.error || asked.status !== 0) {
      throw new Error((asked.stderr || "").trim() || `BLOCKED: Ralph's guard can't be asked (${asked.error ?? asked.status})`);
    }
  },
});
