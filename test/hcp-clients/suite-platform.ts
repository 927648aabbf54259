import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '#clients/client/client.ts';
import { synthesize } from '#infra/build/synth.ts';
import type { Recorded } from '#test/conformance/record.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { startTaskServer, type TaskServer } from '#test/support/task-server.ts';
import { newestClient } from './terraform.ts';

/** Tokens of site administrators; HCP Terraform has one for each role. */
const adminRoles = [
  'SITE_ADMIN',
  'CONFIGURATION',
  'PROVISION_LICENSES',
  'SUBSCRIPTION',
  'SUPPORT',
  'SECURITY_MAINTENANCE',
  'VERSION_MAINTENANCE',
];

const commandLine = resolve(import.meta.dirname, '../../functions/clients/cli/stepform.mjs');

/** Failures that the platform's own output reports: a function that did not answer, or threw. */
const failure = /^.*(Internal Server Error|Service Unavailable|\bat .*\.ts:\d+).*$/gm;

/** A platform for one suite, with a run task that accepts everything. */
export class SuitePlatform {
  readonly #platform: PlatformProcess;
  readonly #tasks: TaskServer;
  readonly #responses: string;
  readonly #agent: string;

  private constructor(platform: PlatformProcess, tasks: TaskServer, responses: string, agent: string) {
    this.#platform = platform;
    this.#tasks = tasks;
    this.#responses = responses;
    this.#agent = agent;
  }

  /** @param folder for the recorded responses */
  static async start(folder: string, name: string): Promise<SuitePlatform> {
    const responses = join(folder, `${name}-responses.jsonl`);
    rmSync(responses, { force: true });
    const agent = join(folder, 'agent');
    writeFileSync(agent, `#!/bin/sh\nexec "${process.execPath}" "${commandLine}" agent\n`, { mode: 0o755 });
    // Its start waits two minutes, which may be too short to build it on a busy machine.
    await synthesize();
    const tasks = await startTaskServer();
    try {
      return new SuitePlatform(await PlatformProcess.start({ STEPFORM_RECORD: responses }), tasks, responses, agent);
    } catch (error) {
      await tasks.close();
      throw error;
    }
  }

  /** A user's token that expires in two years, as HCP Terraform's do: policies on tokens refuse one that never does. */
  async #token(): Promise<string> {
    const { url, token } = this.#platform.local;
    const client = new Client(url, token);
    // The suites give this user's name to members of teams.
    const { data: user } = await client.call('PATCH', '/account/update', {
      data: { type: 'users', attributes: { username: 'admin' } },
    });
    const created = await client.create(`/users/${user.id}/authentication-tokens`, 'authentication-tokens', {
      description: 'test suite',
    });
    return created.attributes.token;
  }

  /** Variables that the suites read. */
  async environment(): Promise<NodeJS.ProcessEnv> {
    const { httpsUrl, caFile, organization } = this.#platform.local;
    const token = await this.#token();
    return {
      ...process.env,
      TFE_ADDRESS: httpsUrl,
      TFE_HOSTNAME: new URL(httpsUrl).host,
      TFE_TOKEN: token,
      ...Object.fromEntries(adminRoles.map((role) => [`TFE_ADMIN_${role}_TOKEN`, token])),
      SSL_CERT_FILE: caFile,
      TFC_RUN_TASK_URL: this.#tasks.url,
      RUN_TASKS_URL: this.#tasks.url,
      STEPFORM_AGENT: this.#agent,
      STEPFORM_ORGANIZATION: organization,
      ENABLE_BETA: '1',
      TF_ACC: '1',
      TF_ACC_TERRAFORM_PATH: newestClient.path,
      CHECKPOINT_DISABLE: '1',
    };
  }

  /** Responses of 5xx: one line for each route. */
  serverErrors(): string[] {
    const responses = existsSync(this.#responses) ? readFileSync(this.#responses, 'utf8').split('\n') : [];
    const errors = responses
      .filter((line) => /"status":5\d\d,/.test(line))
      .map((line) => JSON.parse(line) as Recorded)
      .map(({ method, url, status, body }) => `${method} ${url} was answered with ${status}: ${body}`);
    return [...errors, ...(this.#platform.output.match(failure) ?? [])];
  }

  async remove(): Promise<void> {
    await this.#tasks.close();
    await this.#platform.remove();
  }
}
