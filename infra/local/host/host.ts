import { existsSync, readFileSync } from 'node:fs';
import { assemble, type Parts } from '#infra/local/assembly/assemble.ts';
import type { Application } from '#infra/local/assembly/site.ts';
import type { FunctionSettings } from '#infra/local/aws/lambda/function-settings.ts';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import { Usage } from '#infra/local/aws/lambda/usage.ts';
import { Logs } from '#infra/local/aws/logs/logs.ts';
import { writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import { Endpoint } from './endpoint.ts';
import { type FaultRule, Faults } from './faults.ts';
import { Folder, type Local } from './folder.ts';
import type { Front } from './front.ts';
import { HealthCheck } from './health.ts';
import type { Home } from './home.ts';
import { HttpApi, type HttpOptions } from './http.ts';
import { Metrics } from './metrics.ts';
import { type KeptPorts, keepPorts, keptPorts, type Ports } from './moved-ports.ts';
import { listenOn } from './ports.ts';
import { recorder } from './recorder.ts';
import { Recovery } from './recovery.ts';
import { Router } from './routes.ts';
import { Sockets } from './sockets.ts';
import { Stack } from './template.ts';
import { keepTls, type Tls } from './tls.ts';

export interface HostOptions {
  /** Data folder; created if missing. */
  dataDir: string;
  application: Promise<Application>;
  /** 0 = any free port; undefined = the previous one, else 8080 and 8443. */
  port?: number;
  httpsPort?: number;
  /** Port of the environments' API; undefined = the previous one, else any free port. */
  environmentsPort?: number;
  /** Variables that runners get from this machine. */
  runnerEnvironment: Record<string, string>;
  /** Settings of functions that differ from AWS. */
  functionSettings?: FunctionSettings;
  front?: Front;
  /** URL of the mail server; by default e-mails become files in the data folder. */
  smtp?: string;
  /** Initial fault rules. */
  faults?: FaultRule[];
  /** The time to which the data was restored: later runs end before anything else happens. UTC, ISO 8601. */
  recoverTo?: string;
}

const accountId = '000000000000';
const region = 'us-east-1';

/**
 * The application on one machine. Listeners start first, because functions need their ports, and hold requests until
 * everything is ready; then unfinished work of the previous process resumes.
 */
export class Host {
  readonly folder: Folder;
  readonly usage = new Usage();
  readonly logs: Logs;
  readonly #options: HostOptions;
  readonly #http: HttpApi;
  readonly #environments: HttpApi;
  readonly #sockets: Sockets;
  readonly #endpoint: Endpoint;
  readonly #previous: Local | undefined;
  readonly #portsBefore: KeptPorts | undefined;
  #parts!: Parts;
  /** Set by `start`. */
  local!: Omit<Local, 'organization' | 'token'>;

  /** @throws StartError if another platform runs on the folder */
  constructor(options: HostOptions) {
    this.#options = options;
    this.folder = new Folder(options.dataDir);
    try {
      this.#previous = this.folder.previous();
      this.#portsBefore = keptPorts(this.folder);
    } catch (error) {
      this.folder.release();
      throw error;
    }
    this.logs = new Logs(this.folder.at('logs'));
    this.#http = new HttpApi(this.log);
    this.#environments = new HttpApi(this.log);
    this.#sockets = new Sockets(this.log);
    this.#endpoint = new Endpoint(this.log);
  }

  readonly log = (line: string): void => this.logs.write('platform', `${new Date().toISOString()} ${line}\n`);

  get lambda(): Lambda {
    return this.#parts.lambda;
  }

  /** Access data of the folder's last platform: its token is still valid. */
  get previous(): Local | undefined {
    return this.#previous;
  }

  /** @throws StartError for problems that the user can fix */
  async start(): Promise<void> {
    const tls = await keepTls(this.folder.at('tls'));
    const ports = await this.#listen(tls);
    keepPorts(this.folder, this.#portsBefore, ports);
    const home: Home = {
      accountId,
      region,
      apiUrl: `http://localhost:${ports.http}`,
      environmentsUrl: `http://localhost:${ports.environments}`,
      socketUrl: `http://127.0.0.1:${await this.#sockets.listen(0)}`,
    };
    const application = await this.#options.application;
    const stack = new Stack(application.template, home);
    const { folder, log, logs, usage } = this;
    // Objects have another host name than the API, so that clients do not send their tokens along.
    const awsEndpointUrl = `http://127.0.0.1:${ports.aws}`;
    const httpsUrl = `https://localhost:${ports.https}`;
    const runnerEnvironment = {
      ...this.#options.runnerEnvironment,
      ...reachedByTerraform(this.folder.at('tls/runners.pem'), tls.caFile, httpsUrl),
    };
    const faults = new Faults(this.#options.faults);
    const site = {
      application,
      awsEndpointUrl,
      endpoint: this.#endpoint,
      faults,
      folder,
      home,
      log,
      logs,
      functionSettings: this.#options.functionSettings ?? {},
      smtp: this.#options.smtp ?? '',
      runnerEnvironment,
      stack,
      usage,
    };
    const parts = await assemble(site);
    this.#parts = parts;
    this.#endpoint.serve({ ...parts, faults, usage, services: { ...parts, sockets: this.#sockets } });
    const onAnswer = recorder(process.env.STEPFORM_RECORD);
    const { front } = this.#options;
    const recovery = new Recovery({
      folder,
      recoverTo: this.#options.recoverTo,
      invoke: (payload) => parts.lambda.invoke('RecoverFunction', payload),
      log,
    });
    const checks = new HealthCheck(folder.path, () => parts.database.checkWrite());
    const health = () => checks.check();
    const refusal = (path: string) => recovery.refusal(path);
    const metrics = new Metrics({
      folder: folder.path,
      health,
      runners: () => parts.ecs.running,
      calls: () => parts.lambda.active,
    });
    const storage: HttpOptions['storage'] = {
      origin: awsEndpointUrl,
      handle: (request, response) => this.#endpoint.handleFromProxy(request, response, new URL(awsEndpointUrl).host),
    };
    this.#http.serve({
      ...{ ...parts, home, apiId: parts.api.ref, usage, onAnswer, front, storage, refusal, health, metrics },
    });
    if (parts.environments) {
      const { api, routes, connectArn } = parts.environments;
      this.#environments.serve({ home, apiId: api.ref, routes, lambda: parts.lambda, usage, front, storage, refusal });
      this.#sockets.serve({ functionArn: connectArn, lambda: parts.lambda });
    }
    this.local = {
      ...describe(stack, parts.machine.arn),
      url: home.apiUrl,
      httpsUrl,
      environmentsUrl: home.environmentsUrl as string,
      caFile: tls.caFile,
      awsEndpointUrl,
      awsCredentials: parts.callers.operatorCredentials,
      pid: process.pid,
    };
    parts.ecs.resume();
    await recovery.run();
    // Thousands may resume, and no request waits for all of them: one about an execution resumes that one first.
    void parts.states.resume();
    // Warm runners need not wait for the next minute.
    parts.events.start(this.#portsBefore !== undefined || Boolean(this.#options.functionSettings?.WARM_RUNNERS));
  }

  /** One after the other, so that none of them takes the previous port of another. */
  async #listen(tls: Tls): Promise<Ports> {
    const { port, httpsPort, environmentsPort } = this.#options;
    const before = this.#portsBefore?.now;
    const aws = await listenOn((p) => this.#endpoint.listen(p), 0, { before: before?.aws, fallback: 0, variable: '' });
    const http = await listenOn((p) => this.#http.listen(p), port, {
      before: before?.http,
      fallback: 8080,
      variable: 'PORT',
    });
    const https = await listenOn((p) => this.#http.listen(p, tls), httpsPort, {
      before: before?.https,
      fallback: 8443,
      variable: 'HTTPS_PORT',
    });
    const environments = await listenOn((p) => this.#environments.listen(p), environmentsPort, {
      before: before?.environments,
      fallback: 0,
      variable: 'ENVIRONMENTS_PORT',
    });
    return { http, https, environments, aws };
  }

  /** Whether the application has a web page at `/`. */
  get servesPage(): boolean {
    return new Router(this.#parts.routes).find('GET', '/') !== undefined;
  }

  /** Number of running runners. */
  get runners(): number {
    return this.#parts.ecs.running;
  }

  /**
   * Stops serving; another start can continue from the data on disk. Running invocations may end within a moment.
   * @param leaveRunners runners continue, and find the next platform on any port
   */
  async close({ leaveRunners = false } = {}): Promise<void> {
    const closing = Promise.all([this.#http.close(), this.#environments.close()]);
    const parts = this.#parts as Parts | undefined;
    parts?.events.close();
    await parts?.mail.close();
    if (!leaveRunners) parts?.ecs.killAll();
    parts?.ecs.close();
    await settled(() => !parts || parts.lambda.active === 0, graceMs);
    this.#http.closeAll();
    this.#environments.closeAll();
    await this.#sockets.close();
    await closing;
    await parts?.states.close();
    await this.#endpoint.close();
    parts?.database.close();
    await this.logs.close();
    this.folder.release();
  }
}

/**
 * Terraform in a run uses HTTPS: it needs a host name with the port, and our authority besides the machine's own ones.
 */
const reachedByTerraform = (file: string, caFile: string, httpsUrl: string): Record<string, string> => {
  const theirs = process.env.SSL_CERT_FILE;
  const files = theirs && existsSync(theirs) ? [caFile, theirs] : [caFile];
  writePrivately(file, files.map((one) => readFileSync(one, 'utf8')).join('\n'));
  return { STEPFORM_HOSTS: new URL(httpsUrl).host, SSL_CERT_FILE: file };
};

const graceMs = 3_000;

const describe = (stack: Stack, stateMachineArn: string) => ({
  stateMachineArn,
  tableName: stack.one('AWS::DynamoDB::Table').ref,
  bucketName: stack.one('AWS::S3::Bucket').ref,
});

const settled = async (condition: () => boolean, patienceMs: number): Promise<void> => {
  const deadline = Date.now() + patienceMs;
  while (!condition() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
};
