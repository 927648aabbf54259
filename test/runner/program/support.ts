import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { synthesize } from '#infra/build/synth.ts';
import type { Job, JobVariable, PhaseName } from '#run/protocols/runner.ts';
import { ControlPlane, type PhaseRecord } from './control-plane.ts';

/** Runs the real runner program with the real terraform against the control plane's test double. */

type Entry = string | Buffer | (Partial<Header> & { content?: string });

/** A gzip tar; entries by name, or with their own header. */
export const archive = async (entries: Record<string, Entry> | [string, Entry][]): Promise<Buffer> => {
  const tar = pack();
  for (const [name, entry] of Array.isArray(entries) ? entries : Object.entries(entries)) {
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) tar.entry({ name }, entry);
    else {
      const { content, ...header } = entry;
      tar.entry({ name, ...header }, content ?? '');
    }
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks));
};

export interface Options {
  phase?: PhaseName;
  variables?: (Partial<JobVariable> & Pick<JobVariable, 'key' | 'value'>)[];
  operation?: Partial<Job['operation']>;
  terraform?: Partial<Job['terraform']>;
  workingDirectory?: string;
  structuredOutput?: boolean;
  heartbeatSeconds?: number;
  limits?: Partial<Job['limits']>;
  state?: string;
  planUrl?: string | null;
  checksums?: Partial<Job['checksums']>;
  environment?: Record<string, string>;
  identity?: Job['identity'];
  sshKey?: string;
}

const mebibyte = 1024 * 1024;

/** Rooms replace the machine's temporary folders, which would hide a test's files from Terraform. */
export const seenByRuns = process.platform === 'linux' && process.getuid?.() === 0 ? '/var/lib' : tmpdir();

export const keptStateKey = { key: randomBytes(32).toString('base64'), sealed: 'as only the platform opens it' };

const checksumOf = (content: Buffer = Buffer.alloc(0)): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** A job like the control plane's. `token` has the form of a real one. */
export const jobFor = (plane: ControlPlane, configuration: Buffer, options: Options = {}): Job => {
  const { phase = 'plan' } = options;
  plane.objects.set('configuration', configuration);
  if (options.state !== undefined) plane.objects.set('state', Buffer.from(options.state));
  return {
    runId: 'run-1234567890abcdef',
    phase,
    token: `run-1234567890abcdef.${phase}.${randomUUID()}${randomUUID().slice(0, 8)}`,
    organization: 'acme',
    workspace: { id: 'ws-1', name: 'network', workingDirectory: options.workingDirectory ?? '' },
    terraform: { engine: 'terraform', version: '1.11.4', ...options.terraform },
    operation: {
      isDestroy: false,
      refresh: true,
      refreshOnly: false,
      targetAddrs: [],
      replaceAddrs: [],
      allowConfigGeneration: false,
      debug: false,
      ...options.operation,
    },
    structuredOutput: options.structuredOutput ?? false,
    stateToken: `sfr_1234567890abcdef.${phase}.${randomUUID()}`,
    configurationUrl: plane.presigned('configuration'),
    stateUrl: plane.objects.has('state') ? plane.presigned('state') : null,
    planUrl: options.planUrl ?? null,
    checksums: {
      configuration: checksumOf(configuration),
      state: plane.objects.has('state') ? checksumOf(plane.objects.get('state')) : undefined,
      plan: options.planUrl ? checksumOf(plane.objects.get('run-1234567890abcdef/plan/plan')) : undefined,
      ...options.checksums,
    },
    erroredStateUrl: phase === 'apply' ? plane.presigned('run-1234567890abcdef/errored-state') : null,
    keptStateKey: phase === 'apply' ? keptStateKey : null,
    variables: (options.variables ?? []).map((one) => ({
      category: 'terraform' as const,
      hcl: false,
      sensitive: false,
      ...one,
    })),
    environment: {
      TFC_RUN_ID: 'run-1234567890abcdef',
      TFC_WORKSPACE_NAME: 'network',
      // The report of a traced run has the times of its steps.
      TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      ...options.environment,
    },
    identity: options.identity,
    sshKey: options.sshKey,
    heartbeatSeconds: options.heartbeatSeconds ?? 5,
    limits: {
      configurationBytes: 10 * mebibyte,
      unpackedBytes: 50 * mebibyte,
      files: 1000,
      logBytes: 5 * mebibyte,
      ...options.limits,
    },
  };
};

export interface RunningRunner {
  process: ChildProcess;
  /** The runner's own log, for operators. */
  said: () => string;
  ended: Promise<number | null>;
}

/** Everything that a test needs, removed after it. */
export class Bench {
  plane!: ControlPlane;
  directory!: string;
  readonly #runners: RunningRunner[] = [];
  /** The command that starts the runner's program. */
  before: string[] = [];
  /** The shipped program. */
  #program = '';

  static use(): Bench {
    const bench = new Bench();
    beforeAll(async () => {
      bench.#program = (await synthesize()).bundles.runner;
    });
    beforeEach(async () => {
      bench.plane = await ControlPlane.start();
      bench.directory = mkdtempSync(join(seenByRuns, 'runner-test-'));
      // Terraform's users must be able to enter it.
      chmodSync(bench.directory, 0o711);
      mkdirSync(join(bench.directory, 'tmp'));
    });
    afterEach(async () => {
      for (const { process, ended } of bench.#runners.splice(0)) {
        process.kill('SIGKILL');
        await ended;
      }
      await bench.plane.stop();
      rmSync(bench.directory, { recursive: true, force: true });
      expect(bench.plane.violations).toEqual([]);
    });
    return bench;
  }

  /** Files that the runner left in its temporary directory. */
  leftovers(): string[] {
    return readdirSync(join(this.directory, 'tmp'));
  }

  start(claim: string, environment: Record<string, string> = {}): RunningRunner {
    const [program = '', ...args] = [...this.before, process.execPath, this.#program];
    const child = spawn(program, args, {
      env: {
        PATH: process.env.PATH,
        HOME: this.directory,
        TMPDIR: join(this.directory, 'tmp'),
        STEPFORM_URL: this.plane.url,
        STEPFORM_CLAIM: claim,
        STEPFORM_CACHE: join(this.directory, 'cache'),
        SECRET_OF_THE_HOST: 'not-for-terraform',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      said += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    const runner = { process: child, said: () => said, ended };
    this.#runners.push(runner);
    return runner;
  }

  /** One phase from claim to end. */
  async run(job: Job, environment: Record<string, string> = {}): Promise<Finished> {
    const { claim, record } = this.plane.offer(job);
    const runner = this.start(claim, environment);
    const code = await runner.ended;
    return { record, code, said: runner.said(), log: textOf(record), report: record.report };
  }

  /** Plans, and applies with the same runner; returns the apply, and its plan. */
  async planAndApply(
    configuration: Buffer,
    options: Options = {},
    environment: Record<string, string> = {},
    applyOptions: Options = options,
  ): Promise<Finished & { plan: PhaseRecord }> {
    const { claim, record: plan } = this.plane.offer(jobFor(this.plane, configuration, options));
    const record = this.plane.reserve(jobFor(this.plane, configuration, { ...applyOptions, phase: 'apply' }));
    const runner = this.start(claim, environment);
    const code = await runner.ended;
    this.plane.ready = { action: 'exit' };
    expect(plan.report).toMatchObject({ outcome: 'finished' });
    return { plan, record, code, said: runner.said(), log: textOf(record), report: record.report };
  }

  applyJob(configuration: Buffer, options: Options = {}): Job {
    const planUrl = this.plane.presigned('run-1234567890abcdef/plan/plan');
    return jobFor(this.plane, configuration, { ...options, phase: 'apply', planUrl });
  }

  artifact(phase: PhaseName, name: string): Buffer | undefined {
    return this.plane.objects.get(`run-1234567890abcdef/${phase}/${name}`);
  }
}

export interface Finished {
  record: PhaseRecord;
  code: number | null;
  said: string;
  log: string;
  report: PhaseRecord['report'];
}

/** The log's text without framing and colours. */
export const textOf = ({ log }: PhaseRecord): string =>
  log
    .toString('utf8')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the framing and colours of a log
    .replace(/\u001B\[[0-9;]*m|[\u0002\u0003]/g, '');
