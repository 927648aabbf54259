import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { synthesize, type Template } from '#infra/build/synth.ts';
import { serve } from '#test/support/serve.ts';
import { template as usual } from './template.ts';

const image = 'public.ecr.aws/docker/library/node:24-bookworm';
const folder = mkdtempSync(join(tmpdir(), 'runner-image-'));
const { template } = await synthesize({ outdir: folder, context: { runnerImage: image } });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
type Json = any;

const containerOf = ({ Resources }: Template): Json => {
  const definition = Object.values(Resources).find(({ Type }) => Type === 'AWS::ECS::TaskDefinition');
  return (definition as Json).Properties.ContainerDefinitions[0];
};
const policyOf = ({ Resources }: Template, role: string): string =>
  JSON.stringify(Object.entries(Resources).find(([id, { Type }]) => Type === 'AWS::IAM::Role' && id.startsWith(role)));

describe('runners on a public image', () => {
  it('need no image build and no permission to pull one', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'Stepform.assets.json'), 'utf8'));
    expect(manifest.dockerImages).toEqual({});
    expect(containerOf(template).Image).toBe(image);
    expect(policyOf(template, 'RunnersExecutionRole')).not.toContain('ecr:');
    expect(policyOf(usual, 'RunnersExecutionRole')).toContain('ecr:');
  });

  it('start only the deployed program, as root, with a read-only root file system', () => {
    const container = containerOf(template);
    expect(container).toMatchObject({ User: '0', WorkingDirectory: '/tmp', ReadonlyRootFilesystem: true });
    expect(container.EntryPoint.slice(0, 2)).toEqual(['node', '--disable-sigusr1']);
    const { STEPFORM_PROGRAM: name, STEPFORM_PROGRAM_SHA256: sha256 } = Object.fromEntries(
      container.Environment.map(({ Name, Value }: { Name: string; Value: string }) => [Name, Value]),
    );
    const [file = ''] = readdirSync(folder).filter((one) => one.endsWith('.stepform-runner'));
    expect(file).toBe(`asset.${name}.stepform-runner`);
    expect(
      createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex'),
    ).toBe(sha256);
  });

  it('let the runner API read only runner programs in the bucket of assets', () => {
    expect(policyOf(template, 'RunnerRole')).toMatch(/cdk-hnb659fds-assets-[^"]*"[^\]]*\*\.stepform-runner/);
    expect(policyOf(usual, 'RunnerRole')).not.toContain('cdk-hnb659fds-assets');
    const others = JSON.stringify(template.Resources).match(/\/\*\.stepform-runner/g) ?? [];
    // The permission, and the reason for its wildcard.
    expect(others.length).toBeLessThanOrEqual(2);
  });
});

describe('starting a runner without a program', () => {
  const program = gzipSync(
    JSON.stringify({ 'main.mjs': "import './chunks/a.mjs';", 'chunks/a.mjs': "console.log('runs');" }),
  );
  const start = async (sha256: string) => {
    const server = await serve(({ url }, response) => {
      if (url === '/runner/v1/program/name') response.writeHead(302, { location: '/object' }).end();
      else response.end(program);
    });
    const {
      EntryPoint: [, ...args],
    } = containerOf(template);
    const env = {
      TMPDIR: folder,
      STEPFORM_URL: server.url,
      STEPFORM_PROGRAM: 'name',
      STEPFORM_PROGRAM_SHA256: sha256,
    };
    const child = spawn(process.execPath, args, { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const code = await new Promise((resolve) => child.on('close', resolve));
    server.close();
    return { code, output };
  };

  it('runs a program with the right checksum', async () => {
    const ended = await start(createHash('sha256').update(program).digest('hex'));
    expect(ended).toEqual({ code: 0, output: 'runs\n' });
  });

  it('rejects any other', async () => {
    const { code, output } = await start('0'.repeat(64));
    expect(code).toBe(1);
    expect(output).toContain("does not contain the runner's program (wrong checksum). Deploy the platform again.");
    expect(output).not.toContain('runs\n');
  });
});
