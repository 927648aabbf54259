import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { youngGeneration } from '#clients/cli/commands/platform.ts';
import { checkNothingWasDenied } from './denials.ts';
import { runners, send } from './runners.ts';
import { isRoot, sharedFolder } from './shared-folder.ts';
import { reportOutputOf, until } from './waiting.ts';

/** Contents of `local.json`, which `npm start` writes. */
export interface Local {
  url: string;
  httpsUrl: string;
  environmentsUrl: string;
  caFile: string;
  organization: string;
  token: string;
  awsEndpointUrl: string;
  awsCredentials: { accessKeyId: string; secretAccessKey: string };
  stateMachineArn: string;
  tableName: string;
  bucketName: string;
  pid: number;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A separate platform, as a process that can be stopped, killed and started again on the same data. */
export class PlatformProcess {
  readonly dataDir: string;
  /** Code for the next start: this checkout, another one, or a folder with the installed package. */
  checkout = root;
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;

  private constructor(dataDir: string, env: Record<string, string>) {
    this.dataDir = dataDir;
    this.#env = env;
  }

  static async start(env: Record<string, string> = {}, checkout = root, above = tmpdir()): Promise<PlatformProcess> {
    const platform = new PlatformProcess(await mkdtemp(join(above, 'stepform-test-')), env);
    platform.checkout = checkout;
    const { STEPFORM_TEST_TLS: certificate } = process.env;
    // Creating one takes half of the start.
    if (certificate) await cp(certificate, join(platform.dataDir, 'tls'), { recursive: true });
    await platform.start();
    return platform;
  }

  get local(): Local {
    return JSON.parse(readFileSync(join(this.dataDir, 'local.json'), 'utf8')) as Local;
  }

  /** Its output so far. */
  get output(): string {
    return readFileSync(join(this.dataDir, 'output.txt'), 'utf8');
  }

  /** @param args arguments of `npm start` */
  async start(args: string[] = []): Promise<void> {
    const output = openSync(join(this.dataDir, 'output.txt'), 'a');
    const starts = () => this.output.split('ready').length;
    const before = starts();
    const installed = 'node_modules/.bin/stepform';
    const isInstalled = existsSync(join(this.checkout, installed));
    const child = spawn(
      process.execPath,
      isInstalled ? [installed, 'start', ...args] : [youngGeneration, 'infra/local/commands/start.ts', ...args],
      {
        cwd: this.checkout,
        // A restart finds its ports in the data folder.
        env: {
          ...process.env,
          ...(before > 1 ? {} : { PORT: '0', HTTPS_PORT: '0' }),
          // Concurrent tests share one user.
          STEPFORM_REQUESTS_PER_SECOND: '1000',
          STEPFORM_ENVIRONMENT_DEBUG: 'true',
          ...(isRoot ? { STEPFORM_ROOM_FOLDERS: sharedFolder() } : {}),
          ...this.#env,
          STEPFORM_DATA: this.dataDir,
        },
        stdio: ['ignore', output, output],
      },
    );
    this.#child = child;
    await until(
      async () => ({ ready: starts() > before, code: child.exitCode, output: this.output }),
      ({ ready, code, output: text }) => {
        if (code !== null) throw new Error(`the platform ended with ${code}: ${text}`);
        return ready;
      },
      120_000,
    );
    reportOutputOf(this.local.url, join(this.dataDir, 'output.txt'));
  }

  async stop(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill(signal);
    return ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    // Runners are left to the next start of a platform; here there is none.
    for (const runner of runners(this.dataDir)) send(runner, 'SIGKILL');
    try {
      checkNothingWasDenied(this.dataDir);
    } finally {
      // Killed processes may still have been writing there.
      await rm(this.dataDir, { recursive: true, force: true, maxRetries: 10 });
    }
  }
}
