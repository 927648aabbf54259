import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { bundle } from '#infra/build/bundle.ts';
import { mergeStacks } from '#infra/build/merge-stacks.ts';
import { synthesize, type Template } from '#infra/build/synth.ts';
import { functionIds } from '#infra/stack/functions.ts';

const root = resolve(import.meta.dirname, '../..');
const scratch = await mkdtemp(join(tmpdir(), 'stepform-synth-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('synthesis', () => {
  it("needs neither network nor Docker, and equals the local platform's template", async () => {
    const outdir = join(scratch, 'cdk.out');
    await promisify(execFile)(
      process.execPath,
      ['node_modules/aws-cdk/bin/cdk', 'synth', '--quiet', '--output', outdir],
      {
        cwd: root,
        env: {
          // Only Node: no Docker on the path, no credentials, and every connection is refused.
          PATH: dirname(process.execPath),
          HOME: scratch,
          NODE_OPTIONS: `--require=${join(root, 'test/infra/no-network.cjs')}`,
          CI: 'true',
        },
      },
    );
    const read = async (name: string) => JSON.parse(await readFile(join(outdir, `${name}.template.json`), 'utf8'));
    const template = mergeStacks(await read('Stepform-Data'), await read('Stepform'));
    // The command line adds metadata: the paths of assets.
    const bare = ({ Resources, Outputs }: Template) => ({
      Outputs,
      Resources: Object.fromEntries(Object.entries(Resources).map(([id, { Metadata, ...resource }]) => [id, resource])),
    });
    expect(bare(template)).toEqual(bare((await synthesize()).template));

    const report = JSON.parse(await readFile(join(outdir, 'validation-report.json'), 'utf8'));
    expect(report.pluginReports, 'what CloudFormation would refuse or warn of').toEqual([]);
  }, 120_000);

  it('reuses the output while nothing has changed', async () => {
    const outdir = join(scratch, 'again');
    const told: string[] = [];
    const tell = (text: string) => told.push(text);
    const context = { readySeconds: 7 };
    const first = await synthesize({ outdir, context, tell });
    expect(first.cached).toBe(false);
    expect(JSON.stringify(first.template)).toContain('"READY_SECONDS":"7"');
    expect(told.splice(0).slice(-2)).toEqual([
      'Synthesizing the CloudFormation template …',
      expect.stringMatching(/^Built in \d+\.\d s\.$/),
    ]);
    const second = await synthesize({ outdir, context, tell });
    expect(told).toEqual([]);
    expect(second).toMatchObject({ cached: true, template: first.template, bundles: first.bundles });
    await expect(synthesize({ outdir, context: { readySeconds: -7 } })).rejects.toThrow('readySeconds');
    console.log(`stack ${first.took} ms, cached ${second.took} ms`);
  }, 60_000);
});

/** Commands of this process's children. */
const commandsBelow = async (): Promise<string[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'ppid=,args=']);
  return stdout.split('\n').filter((line) => Number.parseInt(line, 10) === process.pid);
};

describe('bundles', () => {
  const maxBytes = 372 * 1024;
  const larger: { [id: string]: number } = {
    // With every forge's API, and zip files; they start after a push, when no request waits for them.
    FetchCommit: 384 * 1024,
    VersionControlEvent: 384 * 1024,
    // With the pages, compressed, and their pictures.
    Docs: 640 * 1024,
    // With a parser, signatures and encryption of XML, for sign-ins alone.
    Saml: 512 * 1024,
  };

  it('stay within the size limit', async () => {
    const { bundles } = await synthesize();
    const sizes = functionIds.map((id) => [id, bundles.functions[id].bytes] as const).sort(([, a], [, b]) => b - a);
    console.log(sizes.map(([id, bytes]) => `${id} ${Math.round(bytes / 1024)} KB`).join('\n'));
    for (const [id, bytes] of sizes) expect(bytes, id).toBeLessThan(larger[id] ?? maxBytes);
  });

  it.each(functionIds)('%s exports a handler', async (id) => {
    const { bundles } = await synthesize();
    const loaded = createRequire(import.meta.url)(bundles.functions[id].file) as { handler: unknown };
    expect(loaded.handler).toBeTypeOf('function');
  });

  it('are reproducible, and leave no bundler behind', async () => {
    const { bundles } = await synthesize();
    const again = await bundle(root, join(scratch, 'bundles'));
    for (const id of functionIds) {
      const [a, b] = await Promise.all([bundles, again].map((bundled) => readFile(bundled.functions[id].file)));
      expect(a?.equals(b as Buffer), id).toBe(true);
    }
    const [a, b] = await Promise.all([bundles, again].map((bundled) => readFile(bundled.runnerArchive)));
    expect(a?.equals(b as Buffer), 'runner').toBe(true);
    await expect.poll(async () => (await commandsBelow()).filter((line) => line.includes('esbuild'))).toEqual([]);
  }, 180_000);
});
