import { existsSync, readFileSync } from 'node:fs';
import { type Application, assemble, type Parts } from './assemble.ts';
import { Endpoint } from './endpoint.ts';
import { type FaultRule, Faults } from './faults.ts';
import { Folder, type Local } from './folder.ts';
import type { FunctionSettings } from './function-settings.ts';
import type { Home } from './home.ts';
import { HttpApi } from './http.ts';
import type { Lambda } from './lambda.ts';
import { Logs } from './logs.ts';
import { noteMovedPorts } from './moved-ports.ts';
import { listenOn, portOf } from './ports.ts';
import { recorder } from './recorder.ts';
import { Router } from './routes.ts';
import { writePrivately } from './secrets.ts';
import { Sockets } from './sockets.ts';
import { Stack } from './template.ts';
import { keepTls } from './tls.ts';
import { Usage } from './usage.ts';

export interface HostOptions {
  /** Data folder; made when it is not there. */
  dataDir: string;
  application: Promise<Application>;
  /** 0 = any free port; undefined = as before, else 8080 and 8443. */
  port?: number;
  httpsPort?: number;
  /** Of the environments' API; undefined = as before, else any free one. */
  environmentsPort?: number;
  /** Environment that runners get from this machine. */
  runnerEnvironment: Record<string, string>;
  /** What functions are told otherwise than on AWS. */
  functionSettings?: FunctionSettings;
  /** URL of the mail server; e-mails become files of the data folder unless given. */
  smtp?: string;
  /** What is to go wrong from the start. */
  faults?: FaultRule[];
}

const accountId = '000000000000';
const region = 'us-east-1';

/**
 * The application on one machine. Listeners come up first, because functions must know their ports, and hold what
 * comes in until everything is there; then what a former process left unfinished goes on.
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
  #parts!: Parts;
  /** Set by `start`. */
  local!: Omit<Local, 'organization' | 'token'>;

  /** @throws StartError when another platform runs on the folder */
  constructor(options: HostOptions) {
    this.#options = options;
    this.folder = new Folder(options.dataDir);
    this.#previous = this.folder.previous();
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

  /** What the folder's last platform said of itself: its token is still good. */
  get previous(): Local | undefined {
    return this.#previous;
  }

  /** @throws StartError for what a person must mend */
  async start(): Promise<void> {
    const { port, httpsPort } = this.#options;
    const before = this.#previous;
    // One after the other, lest one of them take the port that another means to keep.
    const awsPort = await listenOn((p) => this.#endpoint.listen(p), 0, {
      before: portOf(before?.awsEndpointUrl),
      fallback: 0,
      variable: '',
    });
    const tls = await keepTls(this.folder.at('tls'));
    const httpPort = await listenOn((p) => this.#http.listen(p), port, {
      before: portOf(before?.url),
      fallback: 8080,
      variable: 'PORT',
    });
    const securePort = await listenOn((p) => this.#http.listen(p, tls), httpsPort, {
      before: portOf(before?.httpsUrl),
      fallback: 8443,
      variable: 'HTTPS_PORT',
    });
    const environmentsPort = await listenOn((p) => this.#environments.listen(p), this.#options.environmentsPort, {
      before: portOf(before?.environmentsUrl),
      fallback: 0,
      variable: 'ENVIRONMENTS_PORT',
    });
    const home: Home = {
      accountId,
      region,
      apiUrl: `http://localhost:${httpPort}`,
      environmentsUrl: `http://localhost:${environmentsPort}`,
      socketUrl: `http://127.0.0.1:${await this.#sockets.listen(0)}`,
    };
    const application = await this.#options.application;
    const stack = new Stack(application.template, home);
    const { folder, log, logs, usage } = this;
    // Objects are on another host name than the API, so that clients send no token along (design: limits).
    const awsEndpointUrl = `http://127.0.0.1:${awsPort}`;
    const httpsUrl = `https://localhost:${securePort}`;
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
    this.#http.serve({ ...parts, home, httpsUrl, apiId: parts.api.ref, usage, onAnswer });
    if (parts.environments) {
      const { api, routes, connectArn } = parts.environments;
      this.#environments.serve({ home, apiId: api.ref, routes, lambda: parts.lambda, usage });
      this.#sockets.serve({ functionArn: connectArn, lambda: parts.lambda });
    }
    this.local = {
      ...describe(stack, parts.machine.arn),
      url: home.apiUrl,
      httpsUrl,
      environmentsUrl: `http://localhost:${environmentsPort}`,
      caFile: tls.caFile,
      awsEndpointUrl,
      pid: process.pid,
    };
    noteMovedPorts(folder, before, this.local);
    // Thousands may go on. Nobody has to wait for them: whoever asks for one has it go on first.
    void parts.states.resume();
    parts.ecs.resume();
    // Runners that are to stand ready need not wait for the next minute.
    parts.events.start(before !== undefined || Boolean(this.#options.functionSettings?.WARM_RUNNERS));
  }

  /** Whether the application has a web page at `/`. */
  get servesPage(): boolean {
    return new Router(this.#parts.routes).find('GET', '/') !== undefined;
  }

  /** How many runners are at work. */
  get runners(): number {
    return this.#parts.ecs.running;
  }

  /**
   * Stops serving; what is on disk is enough for another start to go on from. Invocations under way may end within a
   * moment.
   * @param leaveRunners they go on by themselves, and find the next platform, whichever ports it has
   */
  async close({ leaveRunners = false } = {}): Promise<void> {
    const closing = Promise.all([this.#http.close(), this.#environments.close()]);
    const parts = this.#parts as Parts | undefined;
    parts?.events.close();
    parts?.mail.close();
    if (!leaveRunners) parts?.ecs.killAll();
    parts?.ecs.close();
    await settled(() => !parts || parts.lambda.active === 0, graceMs);
    this.#http.closeAll();
    this.#environments.closeAll();
    await this.#sockets.close();
    await closing;
    await parts?.states.close();
    await this.#endpoint.close();
    parts?.s3.close();
    parts?.dynamodb.close();
    await this.logs.close();
    this.folder.release();
  }
}

/** Terraform in a run talks HTTPS: it needs the port's name, and our authority beside the ones it would know anyway. */
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
