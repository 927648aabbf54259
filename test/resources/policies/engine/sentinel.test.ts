import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSentinel } from '#resources/policies/engine/sentinel.ts';

/**
 * Sentinel is proprietary and not available here: a script answers with the exit codes that its command line
 * documents, and prints its input.
 */

const folder = mkdtempSync(join(tmpdir(), 'sentinel-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const binary = join(folder, 'sentinel');
writeFileSync(
  binary,
  `#!/bin/sh
[ "$1" = version ] && echo "Sentinel v0.30.0" && exit 0
read -r wanted < "$4"
case "$wanted" in
  pass) exit 0 ;;
  fail) /bin/cat sentinel.hcl tfrun.json; exit 1 ;;
  quiet) exit 1 ;;
  loop) while :; do :; done ;;
  *) echo "An error occurred: $wanted" >&2; exit 2 ;;
esac
`,
);
chmodSync(binary, 0o755);
const input = join(folder, 'input.json');
writeFileSync(input, JSON.stringify({ plan: { resource_changes: [{ address: 'a.b' }] }, run: { id: 'run-x' } }));

const ask = async (...sources: string[]) => {
  const engine = await openSentinel(binary);
  expect(engine.version).toBe('0.30.0');
  const { answers } = await engine.evaluate({
    files: sources.map((content, i) => ({ path: `lib/${i}.sentinel`, content: `${content}\n` })),
    policies: sources.map((_, i) => ({ name: `p${i}`, query: `lib/${i}.sentinel` })),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: must not become HCL's template
    parameters: { limit: 'a "quoted" ${value}' },
    input: { path: input },
    toolVersion: '',
    limits: { seconds: 1, memoryMiB: 256, outputBytes: 10_000, deadline: Date.now() + 20_000 },
  });
  return answers as { value?: unknown; error?: string }[];
};

describe('Sentinel, if installed', () => {
  it("reports a policy's result by its exit code", async () => {
    const [pass, quiet, error] = await ask('pass', 'quiet', 'undefined rule');
    expect(pass).toEqual({ value: true });
    expect(quiet).toEqual({ value: false });
    expect(error?.error).toBe('An error occurred: undefined rule');
  });

  it('receives the run, the plan and the parameters', async () => {
    const [fail] = await ask('fail');
    const message = [fail?.value].flat().join('\n');
    expect(message).toContain('import "static" "tfplan/v2" {');
    expect(message).toContain('source = "./tfplan.json"');
    expect(message).toContain('value = "a \\"quoted\\" $${value}"');
    expect(message).toContain('{"id":"run-x"}');
  });

  it('is stopped at the time limit', async () => {
    expect((await ask('loop'))[0]?.error).toContain('time');
  });
});
